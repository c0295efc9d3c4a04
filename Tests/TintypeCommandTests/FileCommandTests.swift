import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

@Suite("tintype info, convert and bench", .timeLimited)
struct FileCommandTests {
    private let folder: TemporaryDirectory
    private let transcript = Transcript()

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ name: String, _ image: Image, _ format: ImageFormat) throws -> String {
        try folder.write(image.encoded(as: format), to: name).path
    }

    // MARK: info

    @Test("info --json has exactly the documented keys")
    func infoKeys() async throws {
        let path = try file("a.png", picture(alpha: true), .png)
        let info = try command(InfoCommand.self, "info", "--json", path)
        #expect(await status { try info.run(transcript.console()) } == 0)
        let line = try object(required(transcript.output.first))
        #expect(
            Set(line.keys) == [
                "path", "format", "width", "height", "displayWidth", "displayHeight", "frames", "loopCount",
                "durations", "pages", "orientation", "hasAlpha", "bitsPerComponent", "colorProfile", "gainMap",
                "metadata", "bytes",
            ])
        #expect(line["path"] as? String == path && line["format"] as? String == "png")
        #expect(line["width"] as? Int == 48 && line["height"] as? Int == 32 && line["frames"] as? Int == 1)
        #expect(
            line["hasAlpha"] as? Bool == true && line["loopCount"] is NSNull && line["colorProfile"] is NSNull
                && line["gainMap"] is NSNull && line["metadata"] is NSNull)
        #expect(line["bytes"] as? Int == (try Data(contentsOf: URL(fileURLWithPath: path)).count))
    }

    @Test("info shows the stored and the upright size, and the durations of frames in milliseconds")
    func infoDetails() async throws {
        let samples = try SampleImages.all(scale: 0.05)
        let turned = try required(samples.first { $0.name == "orientation-6.jpg" })
        let path = try folder.write(turned.data, to: turned.name).path
        let moving = try file("a.gif", animation(), .gif)
        let info = try command(InfoCommand.self, "info", "--json", path, moving)
        try info.run(transcript.console())
        let still = try object(transcript.output[0])
        #expect(still["orientation"] as? Int == 6)
        #expect(still["displayWidth"] as? Int == turned.size.width && still["width"] as? Int == turned.size.height)
        let frames = try object(transcript.output[1])
        #expect(frames["frames"] as? Int == 4 && (frames["durations"] as? [Double])?.count == 4)
    }

    @Test("info shows metadata, and the place only on demand", .capability("MET-31"))
    func infoMetadata() throws {
        let xmp = """
            <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description xmlns:e="http://ns.adobe.com/exif/1.0/"
            xmlns:t="http://ns.adobe.com/tiff/1.0/" e:DateTimeOriginal="2024-05-01T12:30:15.250-05:30" e:ExposureTime="1/250"
            e:FNumber="28/10" e:FocalLength="50" t:Make="Canon" t:Model="Canon \u{1B}[31mR5" e:GPSLatitude="47,30N"
            e:GPSLongitude="8,15W"/></r:RDF>
            """
        var options = EncodeOptions()
        options.keepsMetadata = true
        let image = try picture().with { $0.metadata.xmp = Data(xmp.utf8) }
        let path = try folder.write(image.encoded(as: .png, options: options), to: "photo.png").path
        for flags in [[], ["--json"], ["--place"], ["--json", "--place"]] {
            let info = try required(TintypeTool.parseAsRoot(["info", path] + flags) as? InfoCommand)
            try info.run(transcript.console())
        }
        let output = transcript.output
        #expect(
            output[0].contains("2024-05-01T12:30:15.25-05:30, Canon  [31mR5, 1/250 s, f/2.8, 50 mm, "), "\(output[0])")
        #expect(!output[0].contains("47.5") && output[2].contains("at 47.50000, -8.25000"))
        let metadata = try #require(object(output[1])["metadata"] as? [String: Any])
        #expect(
            Set(metadata.keys) == [
                "captureDate", "exposureTime", "aperture", "focalLength", "cameraMake", "cameraModel",
            ])
        #expect(metadata["captureDate"] as? String == "2024-05-01T12:30:15.25-05:30")
        #expect(metadata["exposureTime"] as? Double == 0.004 && metadata["cameraMake"] as? String == "Canon")
        let place = try #require(object(output[3])["metadata"] as? [String: Any])
        #expect(place["latitude"] as? Double == 47.5 && place["longitude"] as? Double == -8.25)
    }

    @Test("A bad file doesn't affect the others, and the exit status is 1")
    func infoFailure() async throws {
        let good = try file("a.jpg", picture(), .jpeg)
        let bad = try folder.write(Data("<html></html>".utf8), to: "b.jpg").path
        let missing = folder.path + "/none.jpg"
        let info = try command(InfoCommand.self, "info", "--json", bad, missing, good)
        #expect(await status { try info.run(transcript.console()) } == 1)
        #expect(transcript.output.count == 3)
        #expect(Set(try object(transcript.output[0]).keys) == ["path", "error"])
        #expect(try object(transcript.output[2])["format"] as? String == "jpeg")
        #expect(transcript.errors.count == 2)
        #expect(transcript.errors[0].hasPrefix("tintype: \(bad): ") && transcript.errors[1].contains("No such file"))
    }

    @Test("Only the header is read, unless every frame is requested")
    func infoDecode() async throws {
        let whole = try picture(width: 400, height: 400).encoded(as: .jpeg)
        let path = try folder.write(whole.prefix(whole.count / 2), to: "cut.jpg").path
        #expect(await status { try command(InfoCommand.self, "info", path).run(transcript.console()) } == 0)
        #expect(await status { try command(InfoCommand.self, "info", "--decode", path).run(transcript.console()) } == 1)
        #expect(transcript.errors.count == 1 && transcript.errors[0].contains(path))
    }

    @Test("A header after more than 64 KB is found")
    func farHeader() throws {
        var data = try picture().encoded(as: .jpeg)
        // Comments of 60,000 bytes before everything else.
        let comment = Data([0xFF, 0xFE, 0xEA, 0x62]) + Data(repeating: 0x20, count: 60_000)
        for _ in 0..<5 { data.insert(contentsOf: comment, at: 2) }
        let path = try folder.write(data, to: "far.jpg").path
        #expect(try InfoReport(path: path, decoding: false).info.size == PixelSize(width: 48, height: 32))
    }

    @Test("A folder, or an endless file, is an error")
    func strangeFiles() {
        for path in [folder.path, "/dev/zero", "/dev/null"] {
            #expect(throws: ImageError.self) { _ = try InfoReport(path: path, decoding: false) }
        }
    }

    // MARK: convert

    @Test("convert changes the format and the size, and back")
    func convert() async throws {
        let input = try file("a.png", picture(), .png)
        for (name, format) in [("b.webp", ImageFormat.webp), ("c.jpg", .jpeg), ("d.PNG", .png)] {
            let output = "\(folder.path)/\(name)"
            let convert = try command(
                ConvertCommand.self, "convert", input, output, "--resize", "24x", "--quality", "70")
            #expect(await status { try convert.run(transcript.console()) } == 0)
            let report = try InfoReport(path: output, decoding: true)
            #expect(report.info.format == format && report.info.size == PixelSize(width: 24, height: 16))
        }
        #expect(try names(in: folder.path) == ["a.png", "b.webp", "c.jpg", "d.PNG"])
    }

    @Test("convert can enlarge an image, and keeps animations if the format supports them")
    func convertMore() async throws {
        let input = try file("a.gif", animation(), .gif)
        let larger = try command(ConvertCommand.self, "convert", input, folder.path + "/b.webp", "--resize", "x64")
        try larger.run(transcript.console())
        let report = try InfoReport(path: folder.path + "/b.webp", decoding: true)
        #expect(report.info.size == PixelSize(width: 96, height: 64) && report.info.frameCount == 4)
        let still = try command(ConvertCommand.self, "convert", input, folder.path + "/c.jpg")
        try still.run(transcript.console())
        #expect(transcript.errors.contains { $0.contains("warning") && $0.contains("first of 4") })
    }

    @Test("convert tells which pages it leaves out, unless one was asked for")
    func convertPages() async throws {
        var bytes = [UInt8](try picture().encoded(as: .tiff))
        func little(_ place: Int, _ count: Int) -> Int {
            (0..<count).reversed().reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
        }
        // A second page is a second directory, which the first one names.
        let first = little(4, 4)
        let length = 2 + 12 * little(first, 2)
        if bytes.count % 2 == 1 { bytes.append(0) }
        let second = bytes.count
        bytes += bytes[first..<first + length] + [0, 0, 0, 0]
        for index in 0..<4 { bytes[first + length + index] = UInt8(truncatingIfNeeded: second >> (8 * index)) }
        let input = try folder.write(Data(bytes), to: "a.tif").path
        for (flags, count) in [(["--page", "2"], 0), ([], 1)] {
            let convert = try required(
                TintypeTool.parseAsRoot(["convert", input, folder.path + "/b.tif"] + flags) as? ConvertCommand)
            #expect(await status { try convert.run(transcript.console()) } == 0)
            #expect(transcript.errors.filter { $0.contains("first of 2 pages") }.count == count)
        }
    }

    @Test("convert keeps Exif, XMP and the color profile only on request")
    func convertMetadata() async throws {
        // A block that says nothing but that the image is upright.
        let exif = Data([
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        ])
        let source = try picture().with { $0.metadata = ImageMetadata(exif: exif, xmp: Data("<xmp/>".utf8)) }
        var options = EncodeOptions()
        options.keepsMetadata = true
        let input = try folder.write(source.encoded(as: .jpeg, options: options), to: "a.jpg").path
        for (flags, expected) in [([], ImageMetadata()), (["--keep-metadata"], source.metadata)] {
            for name in ["b.webp", "c.png", "d.jpg"] {
                let output = "\(folder.path)/\(name)"
                let convert = try required(
                    TintypeTool.parseAsRoot(["convert", input, output] + flags) as? ConvertCommand)
                #expect(await status { try convert.run(transcript.console()) } == 0)
                #expect(try Image(data: Data(contentsOf: URL(fileURLWithPath: output))).metadata == expected)
            }
        }
    }

    @Test("convert keeps 16 bits only on request", .capability("COD-18", "COD-50"))
    func convertDepth() async throws {
        let size = PixelSize(width: 8, height: 4)
        var pixels = try MutablePixelBuffer(size: size, format: .rgba16)
        pixels.withUnsafeMutableBytes { bytes in
            for index in 0..<bytes.count / 2 {
                let value = UInt16(index % 4 == 3 ? 65_535 : index * 257 + 1)
                bytes.storeBytes(of: value, toByteOffset: index * 2, as: UInt16.self)
            }
        }
        let deep = Image(pixels: pixels.freeze())
        let input = try folder.write(deep.encoded(as: .png), to: "a.png").path
        for (flags, bits) in [([], 8), (["--keep-depth"], 16)] {
            let output = "\(folder.path)/b.png"
            let convert = try required(TintypeTool.parseAsRoot(["convert", input, output] + flags) as? ConvertCommand)
            #expect(await status { try convert.run(transcript.console()) } == 0)
            let data = try Data(contentsOf: URL(fileURLWithPath: output))
            #expect(try ImageInfo(data: data).bitsPerComponent == bits)
            var options = DecodeOptions()
            options.decodeToHDR = true
            if bits == 16 { #expect(try Image(data: data, options: options).pixels == deep.pixels) }
        }
    }

    @Test("convert supports a byte limit, background, thumbnail, first frame, lossless and progressive files")
    func convertOptions() async throws {
        let input = try file("a.png", picture(width: 640, height: 480, alpha: true), .png)
        func convert(_ name: String, _ flags: String...) async throws -> Data {
            let output = "\(folder.path)/\(name)"
            let convert = try required(TintypeTool.parseAsRoot(["convert", input, output] + flags) as? ConvertCommand)
            #expect(await status { try convert.run(transcript.console()) } == 0)
            return try Data(contentsOf: URL(fileURLWithPath: output))
        }
        #expect(try await convert("b.jpg", "--max-bytes", "6k").count <= 6_000)
        let dark = try Image(data: await convert("c.jpg", "--background", "#102030", "--quality", "100")).pixels[20, 20]
        #expect(abs(Int(dark.x) - 0x10) <= 3 && abs(Int(dark.y) - 0x20) <= 3 && abs(Int(dark.z) - 0x30) <= 3)
        #expect(try await convert("d.jpg", "--progressive").firstRange(of: [0xFF, 0xC2]) != nil)
        let thumbnail = try await Image(data: convert("e.jpg", "--embed-thumbnail"))
        #expect(thumbnail.metadata.exif?.firstRange(of: [0xFF, 0xD8]) != nil)
        let exact = try await Image(data: convert("f.webp", "--lossless"))
        #expect(exact.pixels == (try picture(width: 640, height: 480, alpha: true)).pixels)
        let moving = try file("a.gif", animation(), .gif)
        let first = try command(
            ConvertCommand.self, "convert", moving, folder.path + "/g.webp", "--first-frame")
        try first.run(transcript.console())
        #expect(try InfoReport(path: folder.path + "/g.webp", decoding: true).info.frameCount == 1)
        for wrong in [
            ["--max-bytes", "0"], ["--max-bytes", "-5"], ["--max-bytes", "1e9"], ["--background", "#12345"],
        ] {
            #expect(refusal(["convert", input, "x.jpg"] + wrong) == 64)
        }
        let tooSmall = try command(ConvertCommand.self, "convert", input, folder.path + "/h.png", "--max-bytes", "50")
        #expect(await status { try tooSmall.run(transcript.console()) } == 1)
        #expect(transcript.errors.last?.contains("a smaller image may help") == true)
        #expect(ImageFormat.webp == (try ImageInfo(data: await convert("i.jpg", "--format", "webp")).format))
    }

    @Test("A failed conversion leaves the existing file unchanged")
    func convertFailure() async throws {
        let input = try folder.write(Data("no image".utf8), to: "a.png").path
        let output = try folder.write(Data("precious".utf8), to: "b.png").path
        let convert = try command(ConvertCommand.self, "convert", input, output)
        #expect(await status { try convert.run(transcript.console()) } == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: output)) == Data("precious".utf8))
        #expect(transcript.errors.count == 1 && transcript.errors[0].hasPrefix("tintype: \(input): "))
    }

    // MARK: bench

    @Test("bench measures each file, and thumbnails at their size")
    func bench() async throws {
        let path = try file("a.jpg", picture(width: 200, height: 100), .jpeg)
        let bench = try demo(
            BenchCommand.self, "bench", "thumbnail", path, "--size", "50x50", "--seconds", "0", "--json")
        #expect(await status { try bench.run(transcript.console()) } == 0)
        let line = try object(required(transcript.output.first))
        #expect(line["width"] as? Int == 200 && line["outputWidth"] as? Int == 50 && line["outputHeight"] as? Int == 25)
        #expect(line["runs"] as? Int == DecodeMeasurement.fewestRuns && (line["wallMs"] as? Double ?? 0) > 0)
        #expect(
            await status { try demo(BenchCommand.self, "bench", "decode", "/none").run(transcript.console()) } == 1)
    }

    // MARK: Frames of animations

    @Test("convert keeps a part of the frames, plays it backward, and changes its speed")
    func convertedFrames() async throws {
        let source = try file("a.gif", animation(frames: 6), .gif)
        let target = folder.path + "/b.webp"
        func converted(_ arguments: String...) async throws -> Image? {
            let convert = try required(
                TintypeTool.parseAsRoot(["convert", source, target, "--lossless"] + arguments) as? ConvertCommand)
            guard await status({ try convert.run(transcript.console()) }) == 0 else { return nil }
            return try ImageCoders.default.decode(Data(contentsOf: URL(fileURLWithPath: target)))
        }
        let all = try required(await converted())
        let part = try required(await converted("--frames", "2-4", "--reverse", "--speed", "0.5"))
        #expect(part.frames.map(\.pixels) == all.frames[1...3].reversed().map(\.pixels))
        #expect(part.frames.map(\.duration) == all.frames[1...3].reversed().map { $0.duration * 2 })
        #expect(part.loopCount == all.loopCount)
        // Programs show frames of less than 11 ms for 100 ms.
        let fast = try required(await converted("--speed", "5"))
        #expect(fast.frames.map(\.duration) == [.milliseconds(30), .milliseconds(48)])
        #expect(fast.frames.map(\.pixels) == [all.frames[0].pixels, all.frames[3].pixels])
        #expect(try await converted("--speed", "100")?.isAnimated == true)
        #expect(try await converted("--frames", "6")?.isAnimated == false)
        #expect(try await converted("--frames", "5-7") == nil)
        #expect(transcript.errors.last?.contains("--frames 5-7: the image has 6 frames") == true)
        for arguments in [
            ["--frames", "0-2"], ["--frames", "3-2"], ["--frames", "a"], ["--speed", "0"], ["--speed", "nan"],
        ] { #expect(refusal(["convert", source, target] + arguments) == 64) }
    }
}
