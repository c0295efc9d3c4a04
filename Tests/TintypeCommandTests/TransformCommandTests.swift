import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("Transforming and hashing in the command", .timeLimited)
struct TransformCommandTests {
    private let folder: TemporaryDirectory
    private let transcript = Transcript()

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ name: String, _ image: Image, _ format: ImageFormat = .png) throws -> String {
        try folder.write(image.encoded(as: format), to: name).path
    }

    /// Converts a picture of 48 × 32 pixels with some options.
    private func converted(_ options: String..., input: Image? = nil, name: String = "out.png") async throws -> Image {
        let arguments = ["convert", try file("in.png", input ?? picture()), folder.path + "/" + name] + options
        let code = try await CommandLineOrder.$arguments.withValue(arguments) {
            let convert = try required(TintypeTool.parseAsRoot(arguments) as? ConvertCommand)
            return await status { try convert.run(transcript.console()) }
        }
        #expect(code == 0, "\(transcript.errors)")
        return try Image(data: Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name)))
    }

    @Test(
        "A number out of its range is refused, with the range",
        arguments: [
            ("--resize", "0x4", "1 to 100000"), ("--blur", "-1", "0 to 1000000"), ("--blur", "1e9", "0 to 1000000"),
            ("--sharpen", "-1", "0 to 1000"), ("--brightness", "-1", "0 to 1000"), ("--contrast", "1e4", "0 to 1000"),
            ("--saturation", "nan", "0 to 1000"), ("--round", "-5", "from 0"), ("--pad", "-4", "0 to 100000"),
        ])
    func range(_ option: String, _ value: String, _ range: String) {
        let error = #expect(throws: (any Error).self) {
            try TintypeTool.parseAsRoot(["convert", "in.png", "out.png", option, value])
        }
        let message = error.map { TintypeTool.fullMessage(for: $0) } ?? ""
        #expect(message.contains("The value '\(value)' is invalid"), "\(message)")
        #expect(message.contains(range), "\(message)")
    }

    @Test("Each option changes the image")
    func options() async throws {
        func size(_ options: String...) async throws -> String {
            let arguments = options
            switch arguments.count {
            case 1: return try await converted(arguments[0]).size.description
            default: return try await converted(arguments[0], arguments[1]).size.description
            }
        }
        let original = PixelSize(width: 48, height: 32)
        #expect(try await size("--resize", "24x") == PixelSize(width: 24, height: 16).description)
        #expect(try await size("--resize", "24x24:fill") == PixelSize(width: 24, height: 24).description)
        #expect(try await size("--resize", "10x30:stretch") == PixelSize(width: 10, height: 30).description)
        #expect(try await size("--crop", "20x10+5+6") == PixelSize(width: 20, height: 10).description)
        #expect(try await size("--crop", "1:1") == PixelSize(width: 32, height: 32).description)
        #expect(try await size("--crop", "4:1:top") == PixelSize(width: 48, height: 12).description)
        #expect(try await size("--crop", "16x16:smart") == PixelSize(width: 16, height: 16).description)
        #expect(try await size("--crop", "16x16:0.2,0.9") == PixelSize(width: 16, height: 16).description)
        #expect(try await size("--rotate", "-90") == PixelSize(width: 32, height: 48).description)
        #expect(try await size("--pad", "3") == PixelSize(width: 54, height: 38).description)
        #expect(try await size("--circle") == PixelSize(width: 32, height: 32).description)
        let plain = try picture().pixels
        for option in [
            ["--flip", "h"], ["--flip", "v"], ["--flip", "hv"], ["--round", "8"], ["--border", "2:#ff0000"],
            ["--blur", "2"], ["--sharpen", "2"], ["--gray"], ["--sepia"], ["--invert"], ["--brightness", "0.5"],
            ["--contrast", "1.5"], ["--saturation", "0.2"], ["--hue", "-120"], ["--tint", "#00ff00"],
            ["--tint", "#00ff00:multiply"],
        ] {
            let image =
                option.count == 1 ? try await converted(option[0]) : try await converted(option[0], option[1])
            #expect(image.size == original && image.pixels != plain, "\(option)")
        }
        let see = try picture(alpha: true)
        #expect(try await converted("--background", "#102030", input: see).hasAlpha == false)
        #expect(try await converted("--trim", input: see).size.width == 24)
    }

    @Test("Options apply in the order in which they are given, and may be repeated")
    func order() async throws {
        let cropped = try await converted("--resize", "24x16", "--crop", "8x8+0+0")
        let resized = try await converted("--crop", "8x8+0+0", "--resize", "24x16")
        #expect(cropped.size == PixelSize(width: 8, height: 8) && resized.size == PixelSize(width: 16, height: 16))
        let twice = try await converted("--flip", "h", "--rotate", "90", "--flip", "h", "--rotate=90")
        #expect(twice.pixels == (try picture().pixels))
        let gray = try await converted("--gray", "--tint", "#ff0000:multiply")
        let tinted = try await converted("--tint", "#ff0000:multiply", "--gray")
        #expect(gray.color(x: 40, y: 20)?.green == 0 && tinted.color(x: 40, y: 20)?.green != 0)
    }

    @Test("A border follows the shape before it, or else the edges")
    func border() async throws {
        let circle = try await converted("--circle", "--border", "4:#0000ff")
        #expect(circle.color(x: 0, y: 0)?.alpha == 0 && circle.color(x: 16, y: 1)?.hex == "#0000ff")
        let edge = try await converted("--border", "4:#0000ff", "--circle")
        #expect(edge.color(x: 16, y: 1)?.hex == "#0000ff" && edge.color(x: 1, y: 16)?.hex != "#0000ff")
    }

    @Test("An overlay is another file, with a position and an opacity; one that isn't there is named")
    func overlay() async throws {
        let red = try solidPicture(8, red: 1)
        let path = try file("logo: a.png", red)
        let image = try await converted("--overlay", path + ":bottom-right")
        #expect(image.color(x: 47, y: 31)?.hex == "#ff0000" && image.color(x: 39, y: 31)?.hex != "#ff0000")
        let faint = try await converted("--overlay", path + ":top-left:0.5")
        #expect(abs((faint.color(x: 0, y: 0)?.red ?? 0) - 0.5) < 0.01)
        let arguments = ["convert", try file("in.png", picture()), folder.path + "/o.png", "--overlay", "/none.png"]
        let convert = try required(TintypeTool.parseAsRoot(arguments) as? ConvertCommand)
        #expect(await status { try convert.run(transcript.console()) } == 1)
        #expect(transcript.errors.last?.contains("/none.png") == true)
    }

    private func solidPicture(_ side: Int, red: Float) throws -> Image {
        try Image(size: PixelSize(width: side, height: side), isOpaque: true) { surface in
            surface.fill(PixelColor(red: red, green: 0, blue: 0))
        }
    }

    @Test("Every frame of an animation is transformed")
    func frames() async throws {
        let image = try await converted("--resize", "12x12:fill", "--gray", input: animation(), name: "out.webp")
        #expect(image.frames.count == 4 && image.size == PixelSize(width: 12, height: 12))
    }

    @Test(
        "Malformed values are wrong usage",
        arguments: [
            ["--resize", "x"], ["--resize", "10x:fill"], ["--resize", "10x10:cover"], ["--crop", "10x10+5"],
            ["--crop", "10x10+-5+5"], ["--crop", "16"], ["--crop", "16:0"], ["--crop", "1:1:middle"],
            ["--crop", "1:1:2,0"], ["--rotate", "nan"], ["--rotate", "right"], ["--flip", "x"], ["--round", "-1"],
            ["--border", "2"], ["--border", "2:red"], ["--blur", "inf"], ["--tint", "#ff"], ["--tint", "#ff0000:mix"],
            ["--pad", "-3"], ["--pad", "1000000"], ["--brightness", "-1"], ["--overlay", ":center"],
        ])
    func malformed(options: [String]) {
        #expect(refusal(["convert", "a.png", "b.png"] + options) == 64)
    }

    @Test("An impossible transform is an error that names the file, and nothing is written")
    func impossible() async throws {
        let input = try file("in.png", picture())
        let arguments = ["convert", input, folder.path + "/o.png", "--crop", "5x5+100+100"]
        let convert = try required(TintypeTool.parseAsRoot(arguments) as? ConvertCommand)
        #expect(await status { try convert.run(transcript.console()) } == 1)
        #expect(transcript.errors.last?.contains(input) == true)
        #expect(try names(in: folder.path) == ["in.png"])
    }

    // MARK: Hashes

    @Test("Hash prints placeholders and colors, and unhash draws them")
    func hashes() async throws {
        let input = try file("a.png", solidPicture(40, red: 1))
        let hash = try command(HashCommand.self, "hash", "--json", input, folder.path + "/none.png")
        #expect(await status { try hash.run(transcript.console()) } == 1)
        let line = try object(transcript.output[0])
        #expect(
            Set(line.keys)
                == ["path", "width", "height", "blurHash", "thumbHash", "averageColor", "dominantColors"])
        #expect(line["width"] as? Int == 40 && line["averageColor"] as? String == "#ff0000")
        #expect(line["dominantColors"] as? [String] == ["#ff0000"])
        #expect(try object(transcript.output[1])["error"] != nil)
        for (key, name, size) in [("blurHash", "b.png", 32), ("thumbHash", "t.png", 32)] {
            let text = try required(line[key] as? String)
            let output = folder.path + "/" + name
            let unhash = try command(UnhashCommand.self, "unhash", text, output)
            #expect(await status { try unhash.run(transcript.console()) } == 0, "\(transcript.errors)")
            let image = try Image(data: Data(contentsOf: URL(fileURLWithPath: output)))
            #expect(
                image.size.width == size && image.color(x: 9, y: 9).map { $0.red > 0.85 && $0.green < 0.15 } == true)
            let sized = try command(UnhashCommand.self, "unhash", text, output, "--size", "20x10")
            #expect(await status { try sized.run(transcript.console()) } == 0)
            #expect(
                try Image(data: Data(contentsOf: URL(fileURLWithPath: output))).size == PixelSize(width: 20, height: 10)
            )
        }
        let text = try command(HashCommand.self, "hash", input, "--components", "1x1", "--colors", "1")
        try text.run(transcript.console())
        #expect(
            transcript.output.suffix(5).map { $0.prefix(11) }.dropFirst() == [
                "  BlurHash ", "  ThumbHash", "  average  ", "  dominant ",
            ])
        #expect(transcript.output.last?.contains("#ff0000") == true)
    }

    @Test("The kind of a hash that could be both is given")
    func hashKinds() async throws {
        let (blurHash, thumbHash) = ("LEHV6nWB2yk8pyo0adR*.7kCMdnj", "1QcSHQRnh493V4dIh4eXh1h4kJUI")
        for (hash, kind, expected) in [
            (blurHash, "blurhash", 0), (blurHash, "thumbhash", 1), (thumbHash, "thumbhash", 0),
            (thumbHash, "blurhash", 1),
        ] as [(String, String, Int32)] {
            let unhash = try command(UnhashCommand.self, "unhash", hash, folder.path + "/x.png", "--kind", kind)
            #expect(await status { try unhash.run(transcript.console()) } == expected, "\(hash) \(kind)")
        }
    }

    @Test("A string that is no hash is an error, and wrong numbers are wrong usage")
    func malformedHashes() async throws {
        let unhash = try command(UnhashCommand.self, "unhash", "no hash!", folder.path + "/x.png")
        #expect(await status { try unhash.run(transcript.console()) } == 1)
        #expect(transcript.errors.last?.contains("no hash!") == true)
        #expect(try names(in: folder.path).isEmpty)
        #expect(refusal(["unhash", "L00000", "x.png", "--size", "5000x5"]) == 64)
        #expect(refusal(["unhash", "L00000", "x"]) == 64)
        #expect(refusal(["hash", "a.png", "--components", "10x1"]) == 64)
        #expect(refusal(["hash", "a.png", "--colors", "0"]) == 64)
    }
}
