#if TIFF
import Foundation
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages

@Suite("TIFF", .timeLimited)
struct TIFFCoderTests {
    let coder = TIFFCoder()

    /// A page of one strip without compression.
    private func page(
        _ width: Int, _ height: Int, bits: Int, samples: Int, photometric: Int, orientation: Int = 1, format: Int = 1,
        extra: Int? = nil, bigEndian: Bool = false, _ pixels: [UInt8]
    ) -> Data {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return bigEndian ? bytes.reversed() : bytes
        }
        func entry(_ tag: Int, _ value: Int, long: Bool = false) -> [UInt8] {
            number(tag, 2) + number(long ? 4 : 3, 2) + number(1, 4)
                + (long ? number(value, 4) : number(value, 2) + [0, 0])
        }
        // The bits of each sample, behind the header, before the pixels.
        let bitsOffset = 8
        let pixelOffset = bitsOffset + 2 * samples
        var entries = [entry(256, width, long: true), entry(257, height, long: true)]
        entries.append(
            samples == 1
                ? entry(258, bits)
                : number(258, 2) + number(3, 2) + number(samples, 4)
                    + (samples == 2 ? number(bits, 2) + number(bits, 2) : number(bitsOffset, 4)))
        entries += [entry(259, 1), entry(262, photometric), entry(273, pixelOffset, long: true)]
        entries += [entry(274, orientation), entry(277, samples), entry(278, height, long: true)]
        entries.append(entry(279, pixels.count, long: true))
        if let extra { entries.append(entry(338, extra)) }
        if format != 1 { entries.append(entry(339, format)) }
        let directory = (pixelOffset + pixels.count + 1) & ~1
        var file: [UInt8] = bigEndian ? [0x4D, 0x4D, 0, 0x2A] : [0x49, 0x49, 0x2A, 0]
        file += number(directory, 4)
        for _ in 0..<samples { file += number(bits, 2) }
        file += pixels + [UInt8](repeating: 0, count: directory - pixelOffset - pixels.count)
        return Data(file + number(entries.count, 2) + entries.flatMap { $0 } + number(0, 4))
    }

    @Test("Every pixel comes back, also the translucent ones")
    func lossless() throws {
        let pixels = try RasterSamples.translucentNoise(67, 41, seed: 1)
        let image = try coder.decode(try coder.encode(makeImage(pixels), as: .tiff, options: EncodeOptions()))
        #expect(image.pixels == pixels && image.hasAlpha && image.format == .tiff)
        let opaque = try RasterSamples.gradient(330, 200)
        let data = try coder.encode(opaque, as: .tiff, options: EncodeOptions())
        let decoded = try coder.decode(data)
        #expect(decoded.pixels == opaque.pixels && !decoded.hasAlpha)
        expectCode(.encodeFailed) { try coder.encode(opaque, as: .tiff, options: EncodeOptions(maximumBytes: 100)) }
    }

    @Test("All eight orientations are applied once, in thumbnails too", arguments: Orientation.allCases)
    func orientation(_ orientation: Orientation) throws {
        let stored = try RasterSamples.quarters(24, 16).pixels
        var samples: [UInt8] = []
        for y in 0..<16 { for x in 0..<24 { for c in 0..<3 { samples.append(stored[x, y][c]) } } }
        let data = page(24, 16, bits: 8, samples: 3, photometric: 2, orientation: orientation.rawValue, samples)
        let image = try coder.decode(data)
        #expect(image.size == orientation.display(stored.size))
        #expect(RasterSamples.corners(image.pixels) == RasterSamples.upright[orientation])
        let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 8, height: 8) }
        #expect(RasterSamples.corners(small.pixels) == RasterSamples.upright[orientation])
        #expect(try coder.info(data).orientation == orientation)
    }

    @Test("16 bits are rounded to 8, in both byte orders", arguments: [false, true])
    func sixteenBits(bigEndian: Bool) throws {
        let values: [UInt16] = [0, 0x0080, 0x0081, 0x7FFF, 0xFFFF, 0x1234]
        let bytes = values.flatMap { [UInt8(bigEndian ? $0 >> 8 : $0 & 255), UInt8(bigEndian ? $0 & 255 : $0 >> 8)] }
        let gray = page(6, 1, bits: 16, samples: 1, photometric: 1, bigEndian: bigEndian, bytes)
        let pixels = try coder.decode(gray).pixels
        let expected = values.map { UInt8((Double($0) / 257).rounded()) }
        #expect((0..<6).map { pixels[$0, 0].x } == expected)
        let inverted = page(6, 1, bits: 16, samples: 1, photometric: 0, bigEndian: bigEndian, bytes)
        let other = try coder.decode(inverted).pixels
        #expect((0..<6).map { other[$0, 0].y } == expected.map { 255 - $0 })
        let color = page(2, 1, bits: 16, samples: 3, photometric: 2, bigEndian: bigEndian, bytes)
        #expect(try coder.decode(color).pixels[1, 0] == [expected[3], expected[4], expected[5], 255])
    }

    @Test("12 bits, floating point, and inks")
    func oddSamples() throws {
        let twelve = page(3, 1, bits: 12, samples: 1, photometric: 1, [0x00, 0x0F, 0xFF, 0x80, 0x00])
        let pixels = try coder.decode(twelve).pixels
        #expect(pixels[0, 0].x == 0 && pixels[1, 0].x == 255 && pixels[2, 0].x == 128)
        let floats: [Float] = [-5, 0, 99.5, 255, 1_000, .nan]
        let bytes = floats.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) }
        let scalars = try coder.decode(page(6, 1, bits: 32, samples: 1, photometric: 1, format: 3, bytes)).pixels
        #expect((0..<6).map { scalars[$0, 0].x } == [0, 0, 99, 255, 255, 0])
        let ink = page(2, 1, bits: 8, samples: 4, photometric: 5, [0, 255, 255, 0, 0, 0, 0, 255])
        let inked = try coder.decode(ink).pixels
        #expect(inked[0, 0] == red && inked[1, 0] == [0, 0, 0, 255])
        let lab = page(2, 1, bits: 8, samples: 3, photometric: 8, [255, 0, 0, 0, 0, 0])
        let shown = try coder.decode(lab).pixels
        #expect(
            RasterSamples.distance(shown[0, 0], RasterSamples.white) <= 1
                && RasterSamples.distance(shown[1, 0], [0, 0, 0, 255]) <= 2)
    }

    @Test(
        "The range of floating point and of 32 bits is that of colors, or what the file states", .capability("COD-62"))
    func ranges() throws {
        func bytes<Number>(_ numbers: [Number]) -> [UInt8] {
            numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
        }
        func shown(_ bits: Int, _ format: Int, samples: Int = 3, _ pixels: [UInt8]) throws -> SIMD4<UInt8> {
            try coder.decode(
                page(1, 1, bits: bits, samples: samples, photometric: samples == 1 ? 1 : 2, format: format, pixels)
            ).pixels[0, 0]
        }
        #expect(try shown(32, 3, bytes([Float(0.5), 1, -1])) == [128, 255, 0, 255])
        #expect(try shown(64, 3, bytes([100 / 255.0, .nan, .infinity])) == [100, 0, 255, 255])
        let halves: [UInt16] = [0x3800, 0x3C00, 0x7E00]
        #expect(try shown(16, 3, bytes(halves)) == [128, 255, 0, 255])
        #expect(try shown(16, 3, samples: 1, bytes([UInt16(0x3800)])) == [128, 128, 128, 255])
        #expect(try shown(32, 1, bytes([UInt32.max / 2, .max, 0])) == [127, 255, 0, 255])
        #expect(try shown(32, 2, bytes([Int32.max, -1, Int32.max / 4])) == [255, 0, 64, 255])
        var file = HandmadeTIFF(3, 1)
        file.bits = 32
        file.sampleFormat = 3
        let numbers: [Float] = [-1, 0, 3]
        let pixels = numbers.map { [Int($0.bitPattern)] }
        #expect(try coder.decode(file.data(pixels)).pixels[2, 0].x == 3)
        file.extremes = [-1, 3]
        let image = try coder.decode(file.data(pixels))
        #expect((0..<3).map { image.pixels[$0, 0].x } == [0, 64, 255])
        file.extremes = [3, 3]
        #expect(try coder.decode(file.data(pixels)).pixels[2, 0].x == 3)
        file.sampleFormat = 1
        file.extremes = [0, 100_000]
        let integers = try coder.decode(file.data([[0], [50_000], [100_000]]))
        #expect((0..<3).map { integers.pixels[$0, 0].x } == [0, 128, 255])
    }

    @Test("Straight and premultiplied alpha", arguments: [8, 16])
    func alpha(bits: Int) throws {
        let values: [UInt8] = [200, 100, 0, 128]
        let samples = bits == 8 ? values : values.flatMap { [$0, $0] }
        let straight = page(1, 1, bits: bits, samples: 4, photometric: 2, extra: 2, samples)
        #expect(try coder.decode(straight).pixels[0, 0] == [100, 50, 0, 128])
        let associated = page(1, 1, bits: bits, samples: 4, photometric: 2, extra: 1, samples)
        // Colour above alpha is cut down to it.
        #expect(try coder.decode(associated).pixels[0, 0] == [128, 100, 0, 128])
        #expect(try coder.info(straight).hasAlpha)
        // Nothing is said of a fourth sample of RGB: colors are beside it.
        let unnamed = page(1, 1, bits: bits, samples: 4, photometric: 2, samples)
        #expect(try coder.info(unnamed).hasAlpha && coder.decode(unnamed).pixels[0, 0] == [100, 50, 0, 128])
    }

    @Test("Thumbnails fit the box")
    func thumbnails() throws {
        let data = try coder.encode(try RasterSamples.gradient(150, 280), as: .tiff, options: EncodeOptions())
        try TraitCoderChecks.expectThumbnails(coder, data)
    }

    @Test("Limits and cancellation are kept, and a file that is cut says so")
    func refusals() throws {
        let data = try coder.encode(try RasterSamples.gradient(64, 64), as: .tiff, options: EncodeOptions())
        TraitCoderChecks.expectLimits(coder, data)
        TraitCoderChecks.expectTruncation(coder, data)
    }

    @Test("A directory of thousands of fields is refused, and one of hundreds is read")
    func fields() throws {
        var file = HandmadeTIFF(2, 1)
        file.unknownFields = 900
        #expect(try coder.decode(file.data([[7], [9]])).pixels[1, 0].x == 9)
        file.unknownFields = 1_020
        expectCode(.limitExceeded) { try coder.info(file.data([[7], [9]])) }
        expectCode(.limitExceeded) { try coder.decode(file.data([[7], [9]])) }
    }

    @Test("Rows that are there of a file whose end is missing are given where that is allowed")
    func partial() throws {
        // The directory before the pixels, two strips, of which the second is missing.
        var file: [UInt8] = [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 9, 0]
        func entry(_ tag: Int, _ type: UInt8, _ count: UInt8, _ value: Int) {
            file += [UInt8(tag & 255), UInt8(tag >> 8), type, 0, count, 0, 0, 0]
            file += (0..<4).map { UInt8(value >> (8 * $0) & 255) }
        }
        for (tag, value) in [(256, 4), (257, 2), (258, 8), (259, 1), (262, 1)] { entry(tag, 3, 1, value) }
        entry(273, 4, 2, 122)
        entry(277, 3, 1, 1)
        entry(278, 3, 1, 1)
        entry(279, 4, 2, 130)
        file += [0, 0, 0, 0]
        file += [138, 0, 0, 0, 142, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]
        file += [9, 9, 9, 9]
        expectCode(.truncatedImage) { try coder.decode(Data(file)) }
        let image = try coder.decode(Data(file)) { $0.allowsPartialImage = true }
        #expect(image.isPartial && image.pixels[0, 0] == [9, 9, 9, 255] && image.pixels[0, 1] == clear)
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        let data = try coder.encode(try RasterSamples.translucent(40, 30), as: .tiff, options: EncodeOptions())
        try coder.survives(damageTo: data, cases: 400, seed: 41)
        let deep = page(4, 4, bits: 16, samples: 3, photometric: 2, [UInt8](repeating: 7, count: 96))
        try coder.survives(damageTo: deep, cases: 600, seed: 42)
        let inks = page(4, 4, bits: 8, samples: 4, photometric: 5, [UInt8](repeating: 7, count: 64))
        try coder.survives(damageTo: inks, cases: 400, seed: 43)
    }
}
#endif
