#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

@Suite("tintype-demo", .timeLimited)
struct DemoCommandTests {
    @Test("A folder is loaded without caches, from disk and from memory, and shown on a sheet")
    func folder() async throws {
        let folder = try TemporaryDirectory()
        for sample in try SampleImages.all(scale: 0.04) {
            try folder.write(sample.data, to: "images/ä #1?/\(sample.name)")
        }
        try folder.write(Data("hello".utf8), to: "images/readme.txt")
        let count = try SampleImages.all(scale: 0.04).count
        let transcript = Transcript()
        let show = try demo(
            DemoCommand.self, folder.path + "/images", "--out", folder.path + "/out", "--thumbnail", "64x64")
        #expect(await status { try await show.run(transcript.console()) } == 0)
        func row(_ pass: String) throws -> [Substring] {
            try required(transcript.output.first { $0.hasPrefix("\(pass) ") }).split(separator: " ")
        }
        // pass, images, read (number, unit), network, disk, memory, failed
        #expect(try Array(row("cold")[4...7]) == ["\(count)", "0", "0", "0"])
        #expect(try Array(row("warm")[4...7]) == ["0", "\(count)", "0", "0"])
        #expect(try Array(row("hot")[4...7]) == ["0", "0", "\(count)", "0"])
        #expect(transcript.errors.contains { $0.contains("skipped 1 file") })
        #expect(try names(in: folder.path + "/out") == ["contact-sheet.html", "contact-sheet.png"])
        #expect(try InfoReport(path: folder.path + "/out/contact-sheet.png", decoding: true).info.format == .png)
    }

    @Test("The demo serves only the images that it found, and follows no links", arguments: ["", "sub/"])
    func servedFiles(_ prefix: String) async throws {
        let folder = try TemporaryDirectory()
        let png = try picture().encoded(as: .png)
        try folder.write(png, to: "images/\(prefix)a.png")
        try folder.write(png, to: "images/\(prefix)swapped.png")
        try folder.write(Data("key".utf8), to: "images/.ssh/id_rsa")
        try folder.write(Data("key".utf8), to: "secret/swapped.png")
        try folder.write(Data("key".utf8), to: "secret/a.png")
        let source = try await DemoSource.folder(folder.path + "/images")
        let server = try required(source.server)
        #expect(source.items.map(\.name) == ["\(prefix)a.png", "\(prefix)swapped.png"])
        try folder.write(png, to: "images/\(prefix)later.png")
        // The server answers on the threads of the other tests, which may be busy.
        let downloader = ImageDownloader(.init(timeout: .seconds(120)))
        func status(_ url: URL) async -> Int? {
            do throws(ImageError) {
                return try await downloader.load(LoadRequest(url: url)).statusCode
            } catch {
                return error.statusCode
            }
        }
        let url = source.items[0].url
        #expect(await status(url) == 200)
        // A path that can be guessed is not served, so that other users cannot read the images either.
        for path in ["/\(prefix)a.png", "/.ssh/id_rsa", "/", "/images/\(prefix)a.png"] {
            #expect(await status(server.url(path)) == 404, "\(path)")
        }
        let root = url.path.dropLast(prefix.utf8.count + 5)
        for path in [".ssh/id_rsa", "\(prefix)later.png", "", "..%2fsecret/a.png", "%2e%2e/secret/a.png"] {
            #expect(await status(server.url("\(root)\(path)")) == 404, "\(path)")
        }
        // Links that take the place of what was found lead nowhere.
        try FileManager.default.removeItem(atPath: folder.path + "/images/\(prefix)swapped.png")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/images/\(prefix)swapped.png",
            withDestinationPath: folder.path + "/secret/swapped.png")
        #expect(await status(source.items[1].url) == 404)
        if !prefix.isEmpty {
            try FileManager.default.removeItem(atPath: folder.path + "/images/sub")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/images/sub", withDestinationPath: folder.path + "/secret")
            #expect(await status(url) == 404)
        }
        await server.stop()
    }

    @Test("A failed image is listed, and the exit status is 1")
    func failure() async throws {
        let folder = try TemporaryDirectory()
        let png = try picture(width: 200, height: 200).encoded(as: .png)
        try folder.write(png, to: "images/a.png")
        try folder.write(png.prefix(png.count / 2), to: "images/cut.png")
        let transcript = Transcript()
        let show = try demo(DemoCommand.self, folder.path + "/images", "--out", folder.path + "/out")
        #expect(await status { try await show.run(transcript.console()) } == 1)
        #expect(transcript.errors.contains { $0.hasPrefix("tintype: ") && $0.contains("cut.png") })
        #expect(try names(in: folder.path + "/out").count == 2)
    }

    @Test("An argument that is neither a folder nor a URL is an error")
    func nothing() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        for path in [folder.path + "/none", folder.path] {
            let show = try demo(DemoCommand.self, path, "--out", folder.path + "/out")
            #expect(await status { try await show.run(transcript.console()) } == 1)
        }
        #expect(refusal(["a", "b"], by: DemoTool.self) == 64)
        #expect(refusal(["show", "a", "http://b/c"], by: DemoTool.self) == 64)
    }
}
#endif
