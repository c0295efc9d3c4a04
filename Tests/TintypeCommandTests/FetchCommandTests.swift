#if HTTP
import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("tintype fetch", .timeLimited)
struct FetchCommandTests {
    private let folder: TemporaryDirectory
    private let transcript = Transcript()

    init() throws { folder = try TemporaryDirectory() }

    private var output: String { folder.path + "/out" }

    private func fetch(_ arguments: String..., cache: [String]? = nil) async throws -> Int32 {
        let cache = cache ?? ["--cache", folder.path + "/cache"]
        let fetch = try required(
            TintypeTool.parseAsRoot(["fetch", "-o", output] + cache + arguments) as? FetchCommand)
        return await status { try await fetch.run(transcript.console()) }
    }

    @Test("A missing image is one line and exit status 1, and the others are saved unchanged")
    func missing() async throws {
        let jpeg = try picture().encoded(as: .jpeg)
        let png = try picture(alpha: true).encoded(as: .png)
        let server = try await OriginServer.start([
            "/a.jpg": OriginResponse(jpeg, type: "image/jpeg"), "/b.png": OriginResponse(png, type: "image/png"),
        ])
        let urls = ["/a.jpg", "/missing.jpg", "/b.png"].map { server.url($0).absoluteString }
        #expect(try await fetch(urls[0], urls[1], urls[2]) == 1)
        #expect(try names(in: output) == ["a.jpg", "b.png"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: output + "/a.jpg")) == jpeg)
        #expect(try Data(contentsOf: URL(fileURLWithPath: output + "/b.png")) == png)
        #expect(transcript.output.count == 2)
        let complaints = transcript.errors.filter { $0.hasPrefix("tintype: ") }
        #expect(
            complaints.count == 1 && complaints[0].hasPrefix("tintype: \(urls[1]): ") && complaints[0].contains("404"))
        #expect(transcript.errors.last?.hasPrefix("2 images, ") == true)
        await server.stop()
    }

    @Test("--retry repeats a transfer that failed, and --proxy asks the proxy for every server")
    func retryAndProxy() async throws {
        let png = try picture().encoded(as: .png)
        let requests = Watched(0)
        let server = try await OriginServer.start { request in
            if request.method == "CONNECT" { return .status(403) }
            return requests.update {
                $0 += 1
                return $0 == 1 ? .status(503) : OriginResponse(png)
            }
        }
        #expect(try await fetch("--retry", "2", server.url("/a.png").absoluteString) == 0)
        #expect(server.requestCount() == 2)
        let proxy = "http://127.0.0.1:\(server.port)"
        #expect(try await fetch("--proxy", proxy, "http://images.example/b.png") == 1)
        #expect(server.requests.last?.target == "images.example:80")
        #expect(transcript.errors.contains { $0.contains("proxy") })
        await server.stop()
    }

    @Test("--cache-policy decides whether the server is asked again", .capability("HTC-07"))
    func cachePolicy() async throws {
        let png = try picture().encoded(as: .png)
        let server = try await OriginServer.start([
            "/a.png": OriginResponse(png, headers: ["Cache-Control": "no-cache"])
        ])
        let url = server.url("/a.png").absoluteString
        #expect(try await fetch(url) == 0)
        for (policy, requests) in [
            ("cache-first", 1), ("cache-only", 1), ("http", 2), ("revalidate", 3), ("reload", 4),
            ("stale-while-revalidate", 5),
        ] {
            #expect(try await fetch("--cache-policy", policy, url) == 0)
            #expect(server.requestCount() == requests)
        }
        #expect(throws: (any Error).self) { try TintypeTool.parseAsRoot(["fetch", "--cache-policy", "never", url]) }
        #expect(throws: (any Error).self) {
            try TintypeTool.parseAsRoot(["fetch", "--cache-policy", "http", "--no-cache", url])
        }
        await server.stop()
    }

    @Test("--json has the documented keys, and a second run reads the disk cache")
    func json() async throws {
        let server = try await OriginServer.start(["/a.png": OriginResponse(try picture().encoded(as: .png))])
        let url = server.url("/a.png").absoluteString
        let bad = server.url("/none").absoluteString
        #expect(try await fetch("--json", url) == 0)
        #expect(try await fetch("--json", url, bad) == 1)
        let lines = try transcript.output.map(object)
        let good = lines.filter { $0["error"] == nil }
        #expect(good.count == 2)
        #expect(Set(good[0].keys) == ["url", "path", "format", "width", "height", "bytes", "source", "ms"])
        #expect(good[0]["url"] as? String == url && good[0]["path"] as? String == output + "/a.png")
        #expect(good[0]["width"] as? Int == 48 && good[0]["format"] as? String == "png")
        #expect(good[0]["source"] as? String == "network" && good[1]["source"] as? String == "disk")
        let failure = try required(lines.first { $0["error"] != nil })
        #expect(Set(failure.keys) == ["url", "error"] && failure["url"] as? String == bad)
        #expect(Set((failure["error"] as? [String: Any] ?? [:]).keys) == ["code", "stage", "reason"])
        #expect(server.requestCount("/a.png") == 1)
        await server.stop()
    }

    @Test("Data that can't be decoded isn't saved: HTML, an empty body, half an image")
    func notDecodable() async throws {
        let png = try picture(width: 100, height: 100).encoded(as: .png)
        let server = try await OriginServer.start([
            "/page.jpg": OriginResponse(Data("<!doctype html><p>Hello".utf8), type: "image/jpeg"),
            "/empty.jpg": OriginResponse(Data(), type: "image/jpeg"),
            "/half.png": OriginResponse(png.prefix(png.count / 2), type: "image/png"),
        ])
        let urls = ["/page.jpg", "/empty.jpg", "/half.png"].map { server.url($0).absoluteString }
        #expect(try await fetch(urls[0], urls[1], urls[2]) == 1)
        #expect(try names(in: output).isEmpty)
        let complaints = transcript.errors.filter { $0.hasPrefix("tintype: ") }
        #expect(complaints.count == 3)
        for url in urls { #expect(complaints.contains { $0.contains(url) }) }
        await server.stop()
    }

    @Test("Thumbnails are saved in the selected format, or in that of the source")
    func thumbnails() async throws {
        let server = try await OriginServer.start([
            "/a.jpg": OriginResponse(try picture(width: 400, height: 200).encoded(as: .jpeg)),
            "/b.bmp": OriginResponse(try animation().encoded(as: .gif)),
        ])
        let urls = ["/a.jpg", "/b.bmp"].map { server.url($0).absoluteString }
        #expect(try await fetch("--thumbnail", "100x100", urls[0], urls[1]) == 0)
        #expect(try await fetch("--thumbnail", "x20", "--format", "webp", urls[0]) == 0)
        #expect(try names(in: output) == ["a.jpg", "a.webp", "b.gif"])
        #expect(try InfoReport(path: output + "/a.jpg", decoding: true).info.size == PixelSize(width: 100, height: 50))
        #expect(try InfoReport(path: output + "/a.webp", decoding: true).info.size == PixelSize(width: 40, height: 20))
        #expect(try InfoReport(path: output + "/b.gif", decoding: true).info.frameCount == 4)
        await server.stop()
    }

    @Test("--jobs limits the number of images that are fetched at once")
    func jobs() async throws {
        let data = try picture().encoded(as: .png)
        let gate = OriginGate()
        let running = Watched((now: 0, most: 0))
        let server = try await OriginServer.start { _ in
            running.update {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            try? await gate.pass()
            running.update { $0.now -= 1 }
            return OriginResponse(data)
        }
        let lines = (0..<12).map { server.url("/\($0).png").absoluteString }
        let list = try folder.write(Data(lines.joined(separator: "\n").utf8), to: "urls.txt").path
        async let result = fetch("--from", list, "--jobs", "4", cache: ["--no-cache"])
        // One at a time ends, and the next one takes its place: a fifth would be seen in one of the turns.
        for arrivals in 4...12 {
            try await gate.waitForArrivals(arrivals)
            gate.open()
        }
        gate.openForGood()
        #expect(try await result == 0)
        #expect(running.value.most == 4)
        await server.stop()
    }

    @Test("Results and errors show no credentials, unless --full-urls is given")
    func credentials() async throws {
        let data = try picture().encoded(as: .png)
        let server = try await OriginServer.start(["/a.png": OriginResponse(data)])
        let urls = ["/a.png", "/none.png"].map { server.url($0, user: "me:secret").absoluteString }
        let broken = ["http://me:secret@h h:x/a", "ftp://me:secret@host/a", "http://me:secret@/a"]
        for arguments in [[], ["--json"]] {
            let fetch = try required(
                TintypeTool.parseAsRoot(["fetch", "-o", output, "--no-cache"] + arguments + urls + broken)
                    as? FetchCommand)
            #expect(await status { try await fetch.run(transcript.console()) } == 1)
        }
        let all = (transcript.output + transcript.errors).joined(separator: "\n")
        #expect(all.contains(server.url("/none.png").absoluteString) && !all.contains("secret"), "\(all)")
        #expect(try await fetch("--json", "--full-urls", urls[0], cache: ["--no-cache"]) == 0)
        #expect(try object(required(transcript.output.last))["url"] as? String == urls[0])
    }

    @Test("A line of the list that is too long is reported, and the exit status is 1")
    func longLine() async throws {
        let png = try picture().encoded(as: .png)
        let file = try folder.write(png, to: "in.png")
        let text = String(repeating: "x", count: 2 << 20) + "\n" + file.absoluteString
        let list = try folder.write(Data(text.utf8), to: "urls.txt").path
        #expect(try await fetch("--from", list, cache: ["--no-cache"]) == 1)
        #expect(try names(in: output) == ["in.png"])
        #expect(transcript.errors.contains { $0.contains("skipped 1 line") })
    }

    @Test("URLs with the same file name are all saved, and without a cache each one is requested")
    func list() async throws {
        let data = try picture().encoded(as: .png)
        let server = try await OriginServer.start { _ in OriginResponse(data) }
        let lines = (0..<20).map { server.url("/\($0)/photo.png").absoluteString }
        let list = try folder.write(Data(lines.joined(separator: "\n").utf8), to: "urls.txt").path
        #expect(try await fetch("--from", list, "--jobs", "4", cache: ["--no-cache"]) == 0)
        #expect(try names(in: output).count == 20)
        #expect(try names(in: output).contains("photo-20.png"))
        #expect(try names(in: folder.path) == ["out", "urls.txt"])
        await server.stop()
    }

    @Test("An unusable cache causes one warning, and the images are still saved")
    func unusableCache() async throws {
        let data = try picture().encoded(as: .png)
        let server = try await OriginServer.start { _ in OriginResponse(data) }
        let file = try folder.write(Data("x".utf8), to: "file").path
        let urls = (0..<5).map { server.url("/\($0).png").absoluteString }
        #expect(try await fetch(urls[0], urls[1], urls[2], urls[3], urls[4], cache: ["--cache", file]) == 0)
        #expect(try names(in: output).count == 5)
        let warnings = transcript.errors.filter { $0.contains("warning") }
        #expect(warnings.count == 1 && warnings[0].contains(file))
        await server.stop()
    }

    @Test("An invalid URL or an unreachable server doesn't affect other images")
    func wrongURLs() async throws {
        // A port that isn't given out, so that no server of another test has it.
        let unreachable = "http://127.0.0.1:1/a.png"
        #expect(try await fetch("photo.jpg", "", "ftp://a/b.png", unreachable, "--timeout", "5") == 1)
        #expect(transcript.errors.filter { $0.hasPrefix("tintype: ") }.count == 4)
        #expect(transcript.errors.contains { $0.hasPrefix("tintype: photo.jpg: ") })
        #expect(transcript.errors.contains("tintype: '': it isn't a URL"))
    }

    @Test("data: and file: URLs are fetched too")
    func otherSchemes() async throws {
        let png = try picture().encoded(as: .png)
        let file = try folder.write(png, to: "in.png")
        #expect(try await fetch(file.absoluteString, "data:image/png;base64,\(png.base64EncodedString())") == 0)
        #expect(try names(in: output) == ["image.png", "in.png"])
    }

    @Test("Cancellation leaves no incomplete files")
    func cancellation() async throws {
        let gate = OriginGate()
        let data = try picture().encoded(as: .png)
        let server = try await OriginServer.start([
            "/a.png": OriginResponse(chunks: [data.prefix(50), data.dropFirst(50)], gate: gate)
        ])
        let url = server.url("/a.png").absoluteString
        let fetch = try required(
            TintypeTool.parseAsRoot(["fetch", "-o", output, "--no-cache", url]) as? FetchCommand)
        let task = Task { try await fetch.run(transcript.console()) }
        try await server.waitForRequests(1)
        task.cancel()
        try await task.value
        #expect(try names(in: output).isEmpty && transcript.output.isEmpty)
        await server.stop()
    }
}
#endif
