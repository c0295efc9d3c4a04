import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

/// What becomes of files whose data ends too early, too late, or in an odd way.
@Suite("PNG: ends of data", .timeLimited)
struct PNGEndTests {
    let coder = PNGCoder()

    private func arriving(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws -> Image {
        let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
        // Bytes that make no sense to libpng may still be an image.
        try? decoder.append(data)
        return try decoder.finish()
    }

    private static let rows: [[UInt8]] = (0..<6).map { y in (0..<24).map { UInt8($0 * 9 ^ y * 31) } }

    private func file(_ parts: [[UInt8]], isInterlaced: Bool = false) -> HandmadePNG {
        HandmadePNG(width: 8, height: 6, colorType: 2, isInterlaced: isInterlaced, rows: [], parts: parts)
    }

    @Test("Pixels that are all there are an image, though the end of their data is missing", arguments: 1...4)
    func missingEndOfData(missing: Int) throws {
        let stream = HandmadePNG.compressed(Self.rows)
        let whole = try coder.decode(file([stream]).data)
        let short = file([Array(stream.dropLast(missing))]).data
        let cut = file([stream]).data.dropLast(12 + 4 + missing)
        for data in [short, Data(cut)] {
            let image = try coder.decode(data)
            #expect(image.pixels == whole.pixels && !image.isPartial && !image.hasAlpha)
            #expect(try arriving(data).pixels == whole.pixels)
        }
        let tooShort = file([Array(stream.dropLast(5))]).data
        expectCode(.corruptImage) { try coder.decode(tooShort) }
        expectCode(.corruptImage) { try arriving(tooShort) }
    }

    @Test("Bytes that are appended after the end are ignored, also of a file that was cut")
    func bytesAfterFinish() throws {
        let data = file([HandmadePNG.compressed(Self.rows)]).data
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        try decoder.append(data.prefix(data.count / 2))
        #expect(try decoder.preview() != nil)
        expectCode(.truncatedImage) { try decoder.finish() }
        try decoder.append(data.suffix(data.count - data.count / 2))
        #expect(try decoder.preview() == nil)
    }

    @Test("A wrong checksum of the data is damage, whole and while it arrives", arguments: 0...5)
    func wrongSum(split: Int) throws {
        var stream = HandmadePNG.compressed(Self.rows)
        stream[stream.count - 1] ^= 1
        let data = file([Array(stream.dropLast(split)), Array(stream.suffix(split))]).data
        expectCode(.corruptImage) { try coder.decode(data) }
        expectCode(.corruptImage) { try arriving(data) }
    }

    @Test(
        "A palette that only suggests colors may have any length", arguments: [0, 1, 4, 769], [UInt8(8), 16])
    func suggestedPalette(length: Int, bits: UInt8) throws {
        let row = (0..<12).map { UInt8($0 * 20) }
        let file = HandmadePNG(
            width: bits == 8 ? 4 : 2, height: 1, bitDepth: bits, colorType: 2,
            chunks: [("PLTE", [UInt8](repeating: 7, count: length))], rows: [row])
        var plain = file
        plain.chunks = []
        #expect(try coder.decode(file.data).pixels == coder.decode(plain.data).pixels)
        #expect(try arriving(file.data).pixels == coder.decode(plain.data).pixels)
    }

    @Test("An interlaced image whose data ends within its passes is damaged, also while it arrives", arguments: 1...6)
    func missingPasses(passes: Int) throws {
        // The bytes of each pass of 8×6 pixels (PNG, third edition, section 8.1).
        let sizes = [(1, 1), (1, 1), (2, 1), (2, 2), (4, 1), (4, 3), (8, 3)]
        func stream(_ count: Int) -> [UInt8] {
            HandmadePNG.deflated(
                sizes.prefix(count).enumerated().flatMap { pass, size in
                    (0..<size.1).flatMap { _ in [0] + [UInt8](repeating: UInt8(30 * pass), count: size.0 * 3) }
                })
        }
        let whole = file([stream(7)], isInterlaced: true).data
        #expect(try arriving(whole).pixels == coder.decode(whole).pixels)
        #expect(try !coder.decode(whole).isPartial)
        let short = file([stream(passes)], isInterlaced: true).data
        expectCode(.corruptImage) { try coder.decode(short) }
        expectCode(.corruptImage) { try arriving(short) }
    }

    @Test("Interlaced images of every small size are whole when their last pass is")
    func smallInterlaced() throws {
        var options = EncodeOptions()
        options.progressive = true
        for width in 1...9 {
            for height in 1...9 {
                let image = try RasterSamples.gradient(width, height)
                let decoder = PNGPushedRows(try coder.encode(image, as: .png, options: options))
                #expect(try decoder.hasAllRows(), "\(width)×\(height)")
            }
        }
    }

    @Test("A part of an interlaced image says that pixels are transparent just where some are")
    func partialInterlaced() throws {
        var generator = SeededRandom(seed: 4)
        let image = try RasterSamples.image(64, 200) { _, _ in
            SIMD4(
                UInt8.random(in: 0...255, using: &generator), UInt8.random(in: 0...255, using: &generator), 9, 255)
        }
        var encoding = EncodeOptions()
        encoding.progressive = true
        let data = try coder.encode(image, as: .png, options: encoding)
        var seen: Set<Bool> = []
        for count in stride(from: 100, to: data.count / 4, by: 60) {
            let cut = Data(data.prefix(count))
            guard let part = try? coder.decode(cut, { $0.allowsPartialImage = true }) else { continue }
            let isTransparent = (0..<200).contains { part.pixels[63, $0].w < 255 }
            #expect(part.isPartial && part.hasAlpha == isTransparent, "\(count) bytes")
            seen.insert(isTransparent)
            let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
            try decoder.append(cut)
            guard let preview = try decoder.preview() else { continue }
            #expect(preview.hasAlpha == (0..<200).contains { preview.pixels[63, $0].w < 255 }, "\(count) bytes")
        }
        #expect(seen == [false, true])
    }

    @Test(
        "A damaged frame loses no other frame where a part is allowed: the picture before it stays",
        .capability("COD-44"))
    func damagedFrame() throws {
        let frames = [RasterSamples.red, RasterSamples.blue, RasterSamples.green].map {
            HandmadeAnimation.Frame(color: $0, width: 4, height: 4)
        }
        let whole = HandmadeAnimation(frames: frames).data
        let chunks = whole.ranges(of: Array("fdAT".utf8))
        try #require(chunks.count == 2)
        for (index, chunk) in chunks.enumerated() {
            try expectSkipped(whole, chunk, shown: index == 0 ? [0, 0, 2] : [0, 1, 1])
        }
    }

    private func expectSkipped(_ whole: Data, _ chunk: Range<Int>, shown: [Int]) throws {
        var data = whole
        // The first byte of the zlib stream, behind the sequence number.
        data[chunk.upperBound + 4] = 0xFF
        expectCode(.corruptImage) { try coder.decode(data).decodingAllFrames() }
        let image = try coder.decode(data) { $0.allowsPartialImage = true }
        let colors = [RasterSamples.red, RasterSamples.blue, RasterSamples.green]
        #expect(image.frames.map { $0.pixels[1, 1] } == shown.map { colors[$0] })
    }

    @Test("An animation whose chunks turn out to contradict each other ends as the default image")
    func contradiction() throws {
        typealias Frame = HandmadeAnimation.Frame
        var animation = HandmadeAnimation(frames: [
            Frame(color: RasterSamples.red, width: 4, height: 4), Frame(color: RasterSamples.blue, width: 2, height: 2),
        ])
        animation.hiddenDefault = RasterSamples.green
        animation.number = { $0 == 3 ? 7 : $0 }
        let data = animation.data
        for isFirstOnly in [false, true] {
            var options = DecodeOptions()
            options.firstFrameOnly = isFirstOnly
            let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
            var shown: Image?
            for byte in data {
                try decoder.append(Data([byte]))
                shown = try decoder.preview() ?? shown
            }
            #expect(shown?.pixels[0, 0] == RasterSamples.red, "the first frame is shown as long as it makes sense")
            let image = try decoder.finish()
            #expect(image.pixels[0, 0] == RasterSamples.green && image.frames.count == 1)
        }
    }
}

/// Pushes a file through libpng and forgets its rows.
private struct PNGPushedRows {
    let data: Data

    init(_ data: Data) { self.data = data }

    func hasAllRows() throws -> Bool {
        let reader = try PNGPushReader()
        try data.withBytes { bytes throws(ImageError) in
            var offset = 0
            var hasStarted = false
            while offset < bytes.count, !reader.hasEnded {
                offset += try reader.push(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                if reader.hasHeader, !hasStarted {
                    hasStarted = true
                    try reader.start()
                }
            }
        }
        return reader.hasEnded && reader.hasAllRows
    }
}
