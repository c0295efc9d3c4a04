#if HTTP
import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("tintype prefetch", .timeLimited)
struct PrefetchCommandTests {
    private let folder: TemporaryDirectory
    private let transcript = Transcript()

    init() throws { folder = try TemporaryDirectory() }

    private var cache: String { folder.path + "/cache" }

    private func prefetch(_ arguments: [String], console: Console? = nil) async throws -> Int32 {
        let command = try required(
            TintypeTool.parseAsRoot(["prefetch", "--cache", cache] + arguments) as? PrefetchCommand)
        return await status { try await command.run(console ?? transcript.console()) }
    }

    @Test("Images come to the disk cache, from arguments and a list; a second run skips them")
    func loadedThenSkipped() async throws {
        let png = try picture().encoded(as: .png)
        let server = try await OriginServer.start { _ in OriginResponse(png) }
        let urls = (0..<7).map { server.url("/\($0).png").absoluteString }
        let lines = "# images\n\n" + urls.dropFirst(2).joined(separator: "\n")
        let list = try folder.write(Data(lines.utf8), to: "urls.txt").path
        let arguments = [urls[0], urls[1], "--from", list, "--jobs", "3"]
        #expect(try await prefetch(arguments) == 0)
        #expect(transcript.output.count == 1 && transcript.errors.isEmpty)
        #expect(transcript.output[0].hasPrefix("7 images loaded, 0 skipped, 0 failed, "))
        #expect(try await prefetch(arguments) == 0)
        #expect(try required(transcript.output.last).hasPrefix("0 images loaded, 7 skipped, 0 failed, "))
        #expect(urls.indices.allSatisfy { server.requestCount("/\($0).png") == 1 })
        let disk = DiskCache(.init(directory: cache))
        for url in urls { #expect(await disk.entry(forKey: ImageKey(source: url))?.data == png) }
        await disk.close()
        await server.stop()
    }

    @Test("Failures are one line each and exit status 1, and the other images are stored")
    func failures() async throws {
        let png = try picture().encoded(as: .png)
        let server = try await OriginServer.start([
            "/a.png": OriginResponse(png), "/page.png": OriginResponse(Data("<!doctype html><p>Hello".utf8)),
        ])
        let urls = ["/a.png", "/none.png", "/page.png"].map { server.url($0, user: "me:secret").absoluteString }
        #expect(try await prefetch(["--json"] + urls + ["photo.png"]) == 1)
        let lines = try transcript.output.map(object)
        #expect(lines.count == 4)
        let stored = lines.filter { $0["error"] == nil }
        #expect(stored.count == 1 && Set(stored[0].keys) == ["url", "outcome"])
        #expect(stored[0]["outcome"] as? String == "loaded")
        for line in lines where line["error"] != nil {
            #expect(Set((line["error"] as? [String: Any] ?? [:]).keys) == ["code", "stage", "reason"])
        }
        #expect(transcript.errors.filter { $0.hasPrefix("tintype: ") }.count == 3)
        #expect(transcript.errors.contains { $0.contains("404") })
        #expect(transcript.errors.last?.hasPrefix("1 image loaded, 0 skipped, 3 failed, ") == true)
        #expect(!(transcript.output + transcript.errors).joined().contains("secret"))
        await server.stop()
    }

    @Test("A terminal shows the progress")
    func progress() async throws {
        let png = try picture().encoded(as: .png)
        let server = try await OriginServer.start { _ in OriginResponse(png) }
        let console = transcript.console(isInteractive: true)
        let urls = ["/a.png", "/b.png"].map { server.url($0).absoluteString }
        #expect(try await prefetch(urls, console: console) == 0)
        #expect(transcript.rawErrors.contains("░ 0/2") && transcript.rawErrors.contains("█ 2/2"))
        await server.stop()
    }

    @Test("Cancellation ends running downloads, and begins no others")
    func cancellation() async throws {
        let gate = OriginGate()
        let png = try picture().encoded(as: .png)
        let server = try await OriginServer.start { _ in
            OriginResponse(chunks: [png.prefix(50), png.dropFirst(50)], gate: gate)
        }
        let urls = (0..<5).map { server.url("/\($0).png").absoluteString }
        let arguments = ["prefetch", "--cache", cache, "--jobs", "1"] + urls
        let command = try required(TintypeTool.parseAsRoot(arguments) as? PrefetchCommand)
        let task = Task { try await command.run(transcript.console()) }
        try await server.waitForRequests(1)
        task.cancel()
        try await task.value
        #expect(transcript.output.isEmpty && transcript.errors.isEmpty)
        #expect(urls.indices.map { server.requestCount("/\($0).png") }.reduce(0, +) == 1)
        await server.stop()
    }

    @Test("Prefetch and fetch send header fields, and never print them")
    func headers() async throws {
        let png = try picture().encoded(as: .png)
        let seen = Watched([[String?]]())
        let server = try await OriginServer.start { request in
            seen.update { fields in
                fields.append(["Authorization", "Cookie", "X-Two", "Accept"].map { request.header($0) })
            }
            return request.path == "/a.png" ? OriginResponse(png) : .status(403)
        }
        let fields = [
            "-H", "Authorization: Bearer secret", "--header", "Cookie: a=secret", "-H", "cookie:b=2 ",
            "-H", "X-Two: 1", "-H", "x-two: 2", "-H", "Accept:",
        ]
        let urls = ["/a.png", "/forbidden.png"].map { server.url($0).absoluteString }
        #expect(try await prefetch(fields + urls + ["--jobs", "1"]) == 1)
        let arguments = ["fetch", "--no-cache", "-o", folder.path + "/out", "--jobs", "1"] + fields + urls
        let fetch = try required(TintypeTool.parseAsRoot(arguments) as? FetchCommand)
        #expect(await status { try await fetch.run(transcript.console()) } == 1)
        #expect(seen.value == Array(repeating: ["Bearer secret", "a=secret; b=2", "1, 2", nil], count: 4))
        #expect(!(transcript.output + transcript.errors).joined().contains("secret"))
        await server.stop()
    }
}
#endif
