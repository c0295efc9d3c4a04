import ArgumentParser
import TestSupport
import Testing
import Tintype

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

@Suite("Arguments", .timeLimited)
struct ArgumentTests {
    @Test(
        "Wrong usage ends with 64",
        arguments: [
            ["nonsense"], ["fetch"], ["fetch", "--jobs", "0", "http://a/b"], ["fetch", "--jobs", "257", "http://a/b"],
            ["fetch", "--jobs", "many", "http://a/b"], ["fetch", "--timeout", "0", "http://a/b"],
            ["fetch", "--timeout", "-1", "http://a/b"], ["fetch", "--timeout", "nan", "http://a/b"],
            ["fetch", "--thumbnail", "400", "http://a/b"], ["fetch", "--thumbnail", "0x300", "http://a/b"],
            ["fetch", "--format", "svg", "http://a/b"], ["fetch", "--format", "exe", "http://a/b"],
            ["fetch", "--cache", "c", "--no-cache", "http://a/b"], ["fetch", "-o", "", "http://a/b"],
            ["fetch", "--unknown", "http://a/b"], ["prefetch"], ["prefetch", "--jobs", "0", "http://a/b"],
            ["prefetch", "--cache", "", "http://a/b"], ["prefetch", "--timeout", "inf", "http://a/b"], ["info"],
            ["convert", "a.png"], ["convert", "a.png", "b"],
            ["convert", "a.png", "-"], ["convert", "a.png", "b.png", "--format", "xyz"],
            ["unhash", "L00000", "b.png", "--kind", "md5"], ["convert", "a.png", "b.xyz"],
            ["convert", "a.png", "dir.png/b"],
            ["convert", "a.png", "b.jpg", "--quality", "101"], ["convert", "a.png", "b.jpg", "--quality", "1.5"],
            ["convert", "a.png", "b.jpg", "--resize", "x"], ["cache", "burn"],
            ["cache", "clean", "--max-age", "7"], ["cache", "clean", "--max-size", "big"],
            ["cache", "list", "--limit", "-1"],
            ["cache", "clean", "--max-count", "-1"], ["cache", "import"], ["cache", "import", ""],
        ])
    func wrongUsage(arguments: [String]) {
        #expect(refusal(arguments) == 64)
    }

    @Test(
        "Right usage is taken",
        arguments: [
            ["fetch", "http://a/b", "-o", "out", "--thumbnail", "400x300", "--format", "webp"],
            ["fetch", "--from", "urls.txt", "--jobs", "16"], ["fetch", "--from", "-", "--json", "--no-cache"],
            ["fetch", "http://a/b", "--timeout", "0.5", "--cache", "dir", "--format", "JPG"],
            ["fetch", "http://a/b", "-H", "Accept: image/webp", "--header", "-: -"],
            ["prefetch", "http://a/b", "--from", "-", "--json", "--jobs", "256", "-H", "A: b", "--full-urls"],
            ["info", "a.png", "b.png", "--json", "--decode"],
            ["convert", "a.png", "b.webp", "--resize", "1600x", "--quality", "70"],
            ["convert", "a.png", "-", "--format", "webp"], ["convert", "a.png", "b", "--format", "JPG"],
            ["unhash", "L00000", "b.png", "--kind", "thumbhash"], ["cache", "stats"],
            ["cache", "clear", "--cache", "dir", "--json"],
            ["cache", "clean", "--max-age", "7d", "--max-size", "1.5GB", "--max-count", "10"],
            ["cache", "list", "--source", "http://a/b", "--limit", "5", "--json"], ["cache", "verify"],
            ["cache", "import", "dir", "--from", "urls", "--move", "--max-size", "64MB"],
        ])
    func rightUsage(arguments: [String]) {
        #expect(refusal(arguments) == 0)
    }

    @Test("Wrong usage is told on standard error, without control characters of the arguments")
    func controlCharacters() async throws {
        let result = await #expect(
            processExitsWith: .exitCode(64), observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            await TintypeTool.run(arguments: ["convert", "a.png", "b\u{1B}[2J.x\u{9B}yz"])
        }
        let errors = try String(decoding: required(result).standardErrorContent, as: UTF8.self)
        #expect(errors.contains("b [2J.x\u{FFFD}yz") || errors.contains("x\u{FFFD}yz"))
        #expect(!errors.contains("\u{1B}") && errors.split(separator: "\n").count > 1)
        #expect(try !String(decoding: required(result).standardOutputContent, as: UTF8.self).contains("yz"))
    }

    @Test("Help is no error, and a command that fails without a message adds no line")
    func silentEnds() async throws {
        let help = await #expect(processExitsWith: .exitCode(0), observing: [\.standardOutputContent]) {
            await TintypeTool.run(arguments: ["convert", "--help"])
        }
        #expect(
            try String(decoding: required(help).standardOutputContent, as: UTF8.self).contains("USAGE: tintype convert")
        )
        let failed = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            await TintypeTool.run(arguments: ["info", "/none.png"])
        }
        let errors = try String(decoding: required(failed).standardErrorContent, as: UTF8.self)
        #expect(errors.contains("tintype: /none.png: ") && !errors.contains("\n\n"))
    }

    @Test("bench takes files with a size and a time")
    func bench() {
        for arguments in [
            "", "encode a.png", "decode", "decode a.png --size 10x10", "decode a.png --seconds -1",
        ] {
            #expect(refusal(["bench"] + arguments.split(separator: " ").map(String.init), by: DemoTool.self) == 64)
        }
        let arguments = ["bench", "thumbnail", "a.png", "--size", "100x100", "--seconds", "0.1", "--json"]
        #expect(refusal(arguments, by: DemoTool.self) == 0)
    }

    @Test("The error for a format that can't be written lists those that can")
    func formatRefused() {
        do {
            _ = try TintypeTool.parseAsRoot(["convert", "a.png", "b.ico"])
            Issue.record("taken")
        } catch {
            let message = TintypeTool.message(for: error)
            #expect(message.contains("ico can't be written"))
            #expect(message.contains("jpeg") && message.contains("png") && message.contains("webp"))
        }
    }

    @Test("A size has two sides, or one of them left open")
    func sizes() {
        #expect(SizeArgument(argument: "400x300")?.box == .init(width: 400, height: 300))
        #expect(SizeArgument(argument: "1600x")?.box == .init(width: 1600, height: SizeArgument.openSide))
        #expect(SizeArgument(argument: "x900")?.box == .init(width: SizeArgument.openSide, height: 900))
        #expect(SizeArgument(argument: "40X30")?.box == .init(width: 40, height: 30))
        for wrong in [
            "", "x", "400", "400x300x2", "-4x3", "+4x3", "4 x 3", "0x5", "5x0", "999999999x1", "axb", "4.5x3",
        ] {
            #expect(SizeArgument(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test("A quality is a percentage or a fraction")
    func qualities() {
        #expect(QualityArgument(argument: "70")?.fraction == 0.7)
        #expect(QualityArgument(argument: "0.7")?.fraction == 0.7)
        #expect(QualityArgument(argument: "0")?.fraction == 0)
        #expect(QualityArgument(argument: "100")?.fraction == 1)
        #expect(QualityArgument(argument: "1.0")?.fraction == 1)
        for wrong in ["", "-1", "101", "1.01", "nan", "inf", "best"] {
            #expect(QualityArgument(argument: wrong) == nil, "\(wrong)")
        }
    }
}
