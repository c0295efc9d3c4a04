import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("tintype convert --output-folder", .timeLimited)
struct ConvertListTests {
    private let folder: TemporaryDirectory
    private let transcript = Transcript()
    private var out: String { folder.path + "/out" }

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ name: String, _ image: Image, _ format: ImageFormat) throws -> String {
        try folder.write(image.encoded(as: format), to: name).path
    }

    private func convert(_ arguments: [String]) throws -> ConvertCommand {
        try required(
            TintypeTool.parseAsRoot(["convert"] + arguments + ["--output-folder", out]) as? ConvertCommand)
    }

    /// Runs the command, and returns its exit status.
    private func run(_ arguments: [String]) async throws -> Int32 {
        let convert = try convert(arguments)
        return await status { try await convert.run(into: out, transcript.console()) }
    }

    @Test("Each image is written into the folder, with its name and the extension of its new format")
    func all() async throws {
        let inputs = try [
            file("a.png", picture(), .png), file("sub/b.v2.JPG", picture(), .jpeg), file("-c", picture(), .png),
            file("d.v2", picture(), .png), file("e.WebP", picture(), .webp),
        ]
        #expect(try await run(["--format", "webp", "--resize", "24x"] + inputs) == 0)
        #expect(try names(in: out) == ["-c.webp", "a.webp", "b.v2.webp", "d.v2.webp", "e.WebP"])
        for name in try names(in: out) {
            let info = try InfoReport(path: "\(out)/\(name)", decoding: true).info
            #expect(info.format == .webp && info.size == PixelSize(width: 24, height: 16))
        }
        #expect(transcript.output.count == 5 && transcript.output.allSatisfy { $0.hasPrefix(out) })
        #expect(transcript.errors.count == 1 && transcript.errors[0].hasPrefix("5 images, "))
    }

    @Test("Without a format, the extension of each image selects it")
    func ownFormats() async throws {
        let inputs = try [file("a.png", picture(), .jpeg), file("b.jpeg", picture(), .png)]
        #expect(try await run(inputs) == 0)
        #expect(try InfoReport(path: out + "/a.png", decoding: true).info.format == .png)
        #expect(try InfoReport(path: out + "/b.jpeg", decoding: true).info.format == .jpeg)
    }

    @Test("An image that fails is reported by its name, the others are written, and the exit status is 1")
    func failures() async throws {
        let bad = try folder.write(Data("<html></html>".utf8), to: "bad.png").path
        let missing = folder.path + "/none.png"
        let inputs = try [bad, file("a.png", picture(), .png), missing, file("b.png", picture(), .png)]
        #expect(try await run(["--format", "jpeg"] + inputs) == 1)
        #expect(try names(in: out) == ["a.jpg", "b.jpg"])
        for name in [bad, missing] {
            #expect(transcript.errors.filter { $0.hasPrefix("tintype: \(name): ") }.count == 1)
        }
        #expect(transcript.errors.last?.hasPrefix("2 images, ") == true)
        #expect(transcript.errors.last?.contains("2 failed") == true)
    }

    @Test("Two images that would be written to the same file are refused before anything is written")
    func sameNames() throws {
        let png = try file("a.png", picture(), .png)
        for other in ["sub/a.png", "a.jpg"] {
            let input = try file(other, picture(), .png)
            #expect(refusal(["convert", png, input, "--format", "webp", "--output-folder", out]) == 64)
        }
        #expect(refusal(["convert", png, png, "--output-folder", out]) == 64)
        #expect(!FileManager.default.fileExists(atPath: out))
        do {
            _ = try convert(["x/a.png", "y/a.jpg", "--format", "webp"])
            Issue.record("taken")
        } catch {
            let message = TintypeTool.message(for: error)
            #expect(message.contains("x/a.png") && message.contains("y/a.jpg") && message.contains("\(out)/a.webp"))
        }
    }

    @Test(
        "Images without a name or a format, and several images without a folder, are wrong usage",
        arguments: [
            ["a.png", "b.png", "c.png"], ["a.png", "--output-folder", ""], ["a.png", "-", "--output-folder", "out"],
            ["-", "--format", "png", "--output-folder", "out"], ["a.png", "b", "--output-folder", "out"],
            ["a.ico", "--output-folder", "out"], ["--output-folder", "out"],
        ])
    func wrongUsage(_ arguments: [String]) {
        #expect(refusal(["convert"] + arguments) == 64)
    }

    @Test("Two links to a file are the same file")
    func links() async throws {
        let inputs = try [file("out/a.png", picture(), .png), folder.path + "/out/b.png"]
        #expect(symlink("a.png", inputs[1]) == 0)
        let old = try Data(contentsOf: URL(fileURLWithPath: inputs[0]))
        #expect(throws: (any Error).self) { try convert(inputs + ["--rotate", "90"]) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: inputs[0])) == old)
    }

    @Test("Names that differ only in the form of a letter are two files")
    func forms() throws {
        #expect(try Conversion.list(["x/\u{E9}.png", "x/e\u{301}.png"], into: "out", as: nil).count == 2)
    }

    @Test("An existing file is replaced and keeps its permissions; an image can be converted in its place")
    func existing() async throws {
        let input = try file("out/a.png", picture(), .png)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: input)
        #expect(try await run([input, "--resize", "12x"]) == 0)
        #expect(try names(in: out) == ["a.png"])
        #expect(try InfoReport(path: input, decoding: true).info.size == PixelSize(width: 12, height: 8))
        #expect(try FileManager.default.attributesOfItem(atPath: input)[.posixPermissions] as? Int == 0o640)
    }

    @Test("A folder that can't be created is an error, and no image is read")
    func noFolder() async throws {
        let input = try file("a.png", picture(), .png)
        try folder.write(Data(), to: "out")
        #expect(try await run([input]) == 1)
        #expect(transcript.errors.count == 1 && transcript.errors[0].contains("is a file"))
    }

    @Test("A canceled command writes no file")
    func canceled() async throws {
        let inputs = try ["a.png", "b.png", "c.png"].map { try file($0, picture(), .png) }
        let convert = try convert(inputs)
        let task = Task { [out, transcript] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await status { try await convert.run(into: out, transcript.console()) }
        }
        #expect(await task.value == 0)
        #expect(try names(in: out).isEmpty && transcript.errors.isEmpty)
    }

    @Test("Decoded images share a budget until they are encoded")
    func memory() async throws {
        func peak(_ count: Int) async throws -> Int {
            let inputs = try (0..<count).map { try file("\($0).png", picture(width: 300, height: 200), .png) }
            var converter = try convert(inputs).converter(transcript.console())
            // No two images fit.
            converter.budget = DecodeBudget(limit: ByteCount(1))
            try OutputFile.makeDirectory(out)
            let list = try Conversion.list(inputs, into: out, as: .webp)
            #expect(await converter.convert(list).images == count)
            return converter.budget.statistics.peakBytes
        }
        let single = try await peak(1)
        #expect(try await peak(8) == single && single > 0)
    }

    @Test("A folder has its slash once, and the present one none")
    func paths() throws {
        for (folder, output) in [("out", "out/a.webp"), ("out/", "out/a.webp"), (".", "a.webp"), ("/", "/a.webp")] {
            let list = try Conversion.list(["x/a.png"], into: folder, as: .webp)
            #expect(list == [Conversion(input: "x/a.png", output: output, format: .webp)])
        }
    }
}
