import CTestProcess
import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

/// Every coder of the build, in workers as programs have them.
@Suite("Isolated decoding: formats", .timeLimited)
struct IsolatedFormatTests {
    private let coders = ImageCoders.inProcess
    private let isolated = ImageCoders.default.isolated(.all, by: .patient())

    /// A picture with alpha, and several frames where the format may have them.
    private static func picture(frames: Int) throws -> Image {
        let images = try (0..<frames).map { frame in
            try Image(size: PixelSize(width: 61, height: 43)) { surface in
                surface.fill(PixelColor(red: Float(frame) / 4, green: 0.4, blue: 0.8, alpha: 0.5))
            }
        }
        return try #require(Image(frames: images.map { ImageFrame($0, duration: .milliseconds(100)) }))
    }

    /// Files by name, with the hint that they need.
    private static func samples() throws -> [(name: String, data: Data, hint: ImageFormat?)] {
        var samples: [(name: String, data: Data, hint: ImageFormat?)] = []
        for format in ImageCoders.default.encodableFormats.sorted(by: { $0.rawValue < $1.rawValue }) {
            let frames = [.gif, .png, .webp, .avif, .jxl].contains(format) ? [1, 3] : [1]
            for count in frames {
                let data = try ImageCoders.default.encode(
                    picture(frames: count), as: format, options: EncodeOptions(), context: ProcessingContext())
                samples.append((name: "\(format), \(count) frames", data: data, hint: nil))
            }
        }
        #if SVG
        samples.append((name: "svg", data: svg("sans-serif"), hint: nil))
        #endif
        #if PDF
        samples.append((name: "pdf", data: pdf("Times-Roman"), hint: nil))
        #endif
        #if RAW
        samples.append((name: "raw", data: SampleDNG(picture: try picture(frames: 1).pixels).data, hint: .raw))
        #endif
        return samples
    }

    private static func svg(_ family: String, _ words: String = "Häuser 直 ١٢٣ 😀") -> Data {
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="300" height="60">
            <text y="40" font-size="24" font-family="\(family)">\(words)</text></svg>
            """
        return Data(text.utf8)
    }

    private static func pdf(_ font: String) -> Data {
        let resources = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /\(font) >> >> >>"
        return SamplePDF(
            "/MediaBox [0 0 200 40] \(resources)", "BT /F 24 Tf 5 10 Td (Houses 123) Tj ET"
        ).data
    }

    private func expectSame(_ data: Data, _ options: DecodeOptions, _ name: String) throws {
        let context = ProcessingContext()
        let expected = try coders.decode(data, options: options, context: context)
        let image = try isolated.decode(data, options: options, context: context)
        #expect(image.properties == expected.properties, "\(name)")
        #expect(image.frames == expected.frames, "\(name)")
    }

    #if SVG
    @Test("A drawing with data that isn't base64 is damaged, here and there", .capability("ISO-01"))
    func invalidData() throws {
        let image = #"<image width="9" height="9" href="data:image/png;base64,-_-_"/>"#
        let data = Data(#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">\#(image)</svg>"#.utf8)
        var failures: [ImageError] = []
        for coders in [coders, isolated] {
            do throws(ImageError) {
                _ = try coders.decode(data, options: DecodeOptions(), context: ProcessingContext())
            } catch {
                failures.append(error)
            }
        }
        #expect(failures.map(\.code) == [.corruptImage, .corruptImage] && failures.first == failures.last)
        #expect(failures.first?.stage == .decode)
    }

    @Test("A drawing that ends its process is an error", .capability("COD-63"))
    func tiles() throws {
        func drawing(_ place: String) -> Data {
            Data(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><filter id="f" x="\(place)" y="0" width="1" height="1">
                <feFlood flood-color="red" width="2" height="2"/><feTile/></filter>
                <rect width="20" height="10" filter="url(#f)"/></svg>
                """.utf8)
        }
        let context = ProcessingContext()
        let image = try isolated.decode(drawing("0"), options: DecodeOptions(), context: context)
        #expect(image.pixels[18, 8] == [255, 0, 0, 255])
        do throws(ImageError) {
            _ = try isolated.decode(drawing("9"), options: DecodeOptions(), context: context)
            Issue.record("it was drawn")
        } catch {
            #expect(error.code == .decoderCrashed)
        }
    }
    #endif

    @Test("Every format is decoded as in the program, whole, as a thumbnail, and its header", .capability("ISO-01"))
    func formats() throws {
        for sample in try Self.samples() {
            var options = DecodeOptions()
            options.formatHint = sample.hint
            try expectSame(sample.data, options, sample.name)
            let context = ProcessingContext()
            let info = try coders.info(of: sample.data, hint: sample.hint, context: context)
            #expect(try isolated.info(of: sample.data, hint: sample.hint, context: context) == info, "\(sample.name)")
            options.thumbnailSize = PixelSize(width: 20, height: 20)
            options.keepsColorSpace = true
            options.decodeToHDR = true
            options.scale = 2
            try expectSame(sample.data, options, sample.name)
            // The file breaks off.
            let part = sample.data.prefix(sample.data.count / 2)
            var failures: [ImageError?] = []
            for coders in [coders, isolated] {
                do throws(ImageError) {
                    _ = try coders.decode(part, options: options, context: context)
                    failures.append(nil)
                } catch {
                    failures.append(error)
                }
            }
            #expect(failures[0] == failures[1], "\(sample.name)")
        }
    }

    #if JXL
    @Test("The start of a large JPEG XL file tells what the whole file does", .capability("ISO-01"), arguments: [1, 2])
    func largeHeader(frames: Int) throws {
        var random = SeededRandom(seed: 5)
        let images = try (0..<frames).map { _ in
            let buffer = try MutablePixelBuffer(size: PixelSize(width: 700, height: 500))
            for y in 0..<500 {
                for x in 0..<700 {
                    let pixel = UInt32.random(in: 0...0xFF_FFFF, using: &random) | 0xFF00_0000
                    buffer.row(y).storeBytes(of: pixel.littleEndian, toByteOffset: x * 4, as: UInt32.self)
                }
            }
            return Image(pixels: buffer.freeze())
        }
        let image = try #require(Image(frames: images.map { ImageFrame($0, duration: .milliseconds(100)) }))
        var options = EncodeOptions()
        options.lossless = true
        let data = try image.encoded(as: .jxl, options: options)
        let start = try #require(IsolatedCoder<JXLCoder>.headerStart(of: data))
        #expect(start.count == 64 << 10)
        let context = ProcessingContext()
        for file in [data, data.dropLast(data.count / 3)] {
            let info = try coders.info(of: file, context: context)
            #expect(try isolated.info(of: file, context: context) == info, "\(file.count)")
        }
        #expect(try isolated.info(of: data, context: context).frameCount == frames)
        #expect(IsolatedCoder<JXLCoder>.headerStart(of: data.prefix(100_000)) == nil)
    }
    #endif

    @Test("The frames of an animation come one by one, in any order", .capability("ISO-04"))
    func frames() throws {
        for sample in try Self.samples() where sample.hint == nil {
            let context = ProcessingContext()
            let expected = try coders.decode(sample.data, options: DecodeOptions(), context: context).frames
            guard expected.count > 1 else { continue }
            let decoder = try #require(try isolated.frameDecoder(for: sample.data))
            #expect(decoder.info.frameCount == 3 && decoder.outputSize == PixelSize(width: 61, height: 43))
            var frames: [ImageFrame] = []
            while let frame = try decoder.nextFrame() { frames.append(frame) }
            #expect(frames == expected, "\(sample.name)")
            decoder.keepSeekPoints(every: 2)
            #expect(try decoder.frame(at: 1) == expected[1] && decoder.nextFrame() == expected[2])
            try decoder.rewind()
            #expect(try decoder.nextFrame() == expected[0])
            // Another load meanwhile has another process.
            #expect(try isolated.decode(sample.data, options: DecodeOptions(), context: context).frames == expected)
        }
        // A still image of a format that may be animated is none.
        #expect(try isolated.frameDecoder(for: Self.picture(frames: 1).encoded(as: .bmp)) == nil)
    }

    @Test("Text has the same shapes as in the program", .capability("ISO-01"))
    func text() throws {
        #if SVG
        for family in ["sans-serif", "serif", "monospace", "cursive", "DejaVu Sans", "No Such Font"] {
            try expectSame(Self.svg(family), DecodeOptions(), family)
        }
        #endif
        #if PDF
        for font in ["Times-Roman", "Helvetica", "Courier-Bold", "ZapfDingbats"] {
            try expectSame(Self.pdf(font), DecodeOptions(), font)
        }
        #endif
    }

    @Test("Without Landlock, every format and all text is decoded as in the program", .capability("ISO-01"))
    func oldKernel() async {
        await #expect(processExitsWith: .success) {
            guard become_old_kernel() == 0 else { _exit(1) }
            let tests = IsolatedFormatTests()
            try tests.text()
            for sample in try Self.samples() {
                var options = DecodeOptions()
                options.formatHint = sample.hint
                try tests.expectSame(sample.data, options, sample.name)
                options.thumbnailSize = PixelSize(width: 20, height: 20)
                try tests.expectSame(sample.data, options, sample.name)
            }
        }
    }

    @Test("Workers decode many images at a time")
    func concurrency() async throws {
        let samples = try Self.samples().filter { $0.hint == nil }
        let queue = WorkQueue(label: "isolation", width: 4)
        let (coders, isolated) = (coders, isolated)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (_, data, _) in samples + samples {
                group.addTask {
                    let images = try await queue.perform { _ throws(ImageError) in
                        (
                            try coders.decode(data, options: DecodeOptions(), context: ProcessingContext()),
                            try isolated.decode(data, options: DecodeOptions(), context: ProcessingContext())
                        )
                    }
                    #expect(images.0.frames == images.1.frames)
                }
            }
            try await group.waitForAll()
        }
    }
}
