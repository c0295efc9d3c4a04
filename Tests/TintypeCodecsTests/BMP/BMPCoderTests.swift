import FoundationEssentials
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages

@Suite("BMP", .timeLimited)
struct BMPCoderTests {
    let coder = BMPCoder()

    static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A bitmap with a header of 40 bytes.
    static func bitmap(
        _ width: Int, _ height: Int, bits: Int, compression: Int = 0, extra: [UInt8] = [], pixels: [UInt8]
    ) -> Data {
        let offset = 54 + extra.count
        var bytes = Array("BM".utf8) + little(offset + pixels.count, 4) + little(0, 4) + little(offset, 4)
        bytes += little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
        bytes += little(compression, 4) + little(pixels.count, 4) + little(0, 16)
        return Data(bytes + extra + pixels)
    }

    /// Black, red, green, blue, then white up to 2^bits.
    static func palette(_ bits: Int) -> [UInt8] {
        let colors: [[UInt8]] = [[0, 0, 0, 0], [0, 0, 255, 0], [0, 255, 0, 0], [255, 0, 0, 0]]
        return (0..<1 << bits).flatMap { $0 < 4 ? colors[$0] : [255, 255, 255, 0] }
    }

    private func row(_ image: Image, _ y: Int) -> [SIMD4<UInt8>] { (0..<image.size.width).map { image.pixels[$0, y] } }

    @Test("A PNG or JPEG file in the place of the pixels is the picture")
    func embedded() throws {
        let picture = try RasterSamples.gradient(12, 7)
        for (format, compression, file) in [
            (ImageFormat.jpeg, 4, try JPEGCoder().encode(picture, as: .jpeg, options: EncodeOptions())),
            (.png, 5, try PNGCoder().encode(picture, as: .png, options: EncodeOptions())),
        ] {
            let data = Self.bitmap(12, 7, bits: 0, compression: compression, pixels: Array(file))
            let image = try coder.decode(data)
            #expect(image.format == .bmp && image.size == picture.size, "\(format)")
            #expect(RasterSamples.psnr(image.pixels, picture.pixels) > 30, "\(format)")
            let info = try coder.info(data)
            #expect(info.format == .bmp && info.size == picture.size)
            #expect(throws: ImageError.self) { try coder.decode(data.prefix(100)) }
        }
    }

    @Test("24 bits with masks, as GIMP writes them, are plain pixels")
    func masksOf24Bits() throws {
        let masks = [0xFF_0000, 0xFF00, 0xFF].flatMap { Self.little($0, 4) }
        let pixels: [UInt8] = [0, 0, 255, 0, 255, 0, 255, 0, 0, 0, 0, 0]
        let image = try coder.decode(Self.bitmap(3, 1, bits: 24, compression: 3, extra: masks, pixels: pixels))
        #expect(row(image, 0) == [red, green, blue] && !image.hasAlpha)
        let none = [UInt8](repeating: 0, count: 12)
        let plain = try coder.decode(Self.bitmap(3, 1, bits: 24, compression: 3, extra: none, pixels: pixels))
        #expect(plain.pixels == image.pixels)
    }

    @Test("24 bits with masks of their own are read with these")
    func unusualMasksOf24Bits() throws {
        let reversed = [0xFF, 0xFF00, 0xFF_0000].flatMap { Self.little($0, 4) }
        let bytes: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0]
        let image = try coder.decode(Self.bitmap(3, 1, bits: 24, compression: 3, extra: reversed, pixels: bytes))
        #expect(row(image, 0) == [red, green, blue] && !image.hasAlpha)
        let scattered = [0xFF, 0xFF00, 0x5_0000].flatMap { Self.little($0, 4) }
        #expect(throws: ImageError.self) {
            try coder.decode(Self.bitmap(3, 1, bits: 24, compression: 3, extra: scattered, pixels: bytes))
        }
    }

    @Test("Palettes of 1, 2, 4 and 8 bits; rows go from the bottom up")
    func palettes() throws {
        let one = try coder.decode(
            Self.bitmap(2, 2, bits: 1, extra: Self.palette(1), pixels: [0b1000_0000, 0, 0, 0, 0b0100_0000, 0, 0, 0]))
        #expect(row(one, 0) == [[0, 0, 0, 255], red] && row(one, 1) == [red, [0, 0, 0, 255]])
        let two = try coder.decode(Self.bitmap(3, 1, bits: 2, extra: Self.palette(2), pixels: [0b0110_1100, 0, 0, 0]))
        #expect(row(two, 0) == [red, green, blue])
        let four = try coder.decode(Self.bitmap(3, 1, bits: 4, extra: Self.palette(4), pixels: [0x12, 0x30, 0, 0]))
        #expect(row(four, 0) == [red, green, blue])
        let eight = try coder.decode(Self.bitmap(3, 1, bits: 8, extra: Self.palette(8), pixels: [1, 2, 3, 0]))
        #expect(row(eight, 0) == [red, green, blue] && !eight.hasAlpha && eight.format == .bmp)
    }

    @Test("A file that states its pixels before the end of its header has a palette in front of them")
    func wrongOffset() throws {
        var file = Self.bitmap(3, 1, bits: 8, extra: Self.palette(8), pixels: [1, 2, 3, 0])
        let right = try coder.decode(file)
        for offset in [0, 14, 54, 57] {
            file.replaceSubrange(10..<14, with: Self.little(offset, 4))
            #expect(try coder.decode(file).pixels == right.pixels, "\(offset)")
        }
        // There is room for two colors; the third is black.
        file.replaceSubrange(10..<14, with: Self.little(62, 4))
        #expect(try coder.decode(file).pixels != right.pixels)
    }

    @Test("A negative height means rows from the top down")
    func topDown() throws {
        let pixels: [UInt8] = [0, 0, 255, 0, 0, 255, 0, 0]
        #expect(try coder.decode(Self.bitmap(1, -2, bits: 24, pixels: pixels)).pixels[0, 0] == red)
        #expect(try coder.decode(Self.bitmap(1, 2, bits: 24, pixels: pixels)).pixels[0, 0] == green)
    }

    @Test("Pixels of 16 bits, with and without bit fields, and of 32 bits with alpha")
    func masks() throws {
        let plain = Self.bitmap(2, 1, bits: 16, pixels: [0x00, 0x7C, 0x1F, 0x00])
        #expect(row(try coder.decode(plain), 0) == [red, blue])
        let fields = Self.little(0xF800, 4) + Self.little(0x07E0, 4) + Self.little(0x001F, 4)
        let wide = Self.bitmap(2, 1, bits: 16, compression: 3, extra: fields, pixels: [0xE0, 0x07, 0x1F, 0x00])
        #expect(row(try coder.decode(wide), 0) == [green, blue])
        let alpha = fields32 + Self.little(0xFF00_0000, 4)
        let image = try coder.decode(
            Self.bitmap(1, 1, bits: 32, compression: 6, extra: alpha, pixels: [0, 0, 255, 128]))
        #expect(image.hasAlpha && image.pixels[0, 0] == [128, 0, 0, 128])
        let opaque = try coder.decode(Self.bitmap(1, 1, bits: 32, pixels: [0, 0, 255, 0]))
        #expect(!opaque.hasAlpha && opaque.pixels[0, 0] == red)
    }

    @Test("An alpha of a bit that is 0 everywhere doesn't count")
    func emptyAlpha() throws {
        let fields = [0x7C00, 0x3E0, 0x1F, 0x8000].flatMap { Self.little($0, 4) }
        // Rows end with two bytes that no pixel has.
        let empty = Self.bitmap(
            1, 2, bits: 16, compression: 6, extra: fields, pixels: [0, 0x7C, 0xFF, 0xFF, 0x1F, 0, 0xFF, 0xFF])
        let opaque = try coder.decode(empty)
        #expect(opaque.pixels[0, 0] == blue && opaque.pixels[0, 1] == red && !opaque.hasAlpha)
        #expect(try !coder.info(empty).hasAlpha && coder.info(empty.dropLast(4)).hasAlpha)
        let other = Self.bitmap(
            1, 2, bits: 16, compression: 6, extra: fields, pixels: [0, 0x7C, 0, 0, 0x1F, 0x80, 0, 0])
        let half = try coder.decode(other)
        #expect(half.pixels[0, 0] == blue && half.pixels[0, 1] == clear && half.hasAlpha)
        #expect(try coder.info(other).hasAlpha)
    }

    @Test("A file that states its pixels within its header has them behind it", arguments: [0, 14, 26, 40, 53])
    func offsetInHeader(offset: Int) throws {
        var file = Self.bitmap(1, 2, bits: 24, pixels: [0, 0, 255, 0, 0, 255, 0, 0])
        file.replaceSubrange(10..<14, with: Self.little(offset, 4))
        let image = try coder.decode(file)
        #expect(image.pixels[0, 0] == green && image.pixels[0, 1] == red)
    }

    private var fields32: [UInt8] { Self.little(0xFF0000, 4) + Self.little(0xFF00, 4) + Self.little(0xFF, 4) }

    @Test("Run lengths of 8 bits: runs, literals, steps over pixels, ends of lines")
    func runLength8() throws {
        let codes: [UInt8] = [2, 1, 1, 2, 0, 0, 0, 3, 3, 2, 1, 0, 0, 0, 0, 2, 1, 0, 1, 3, 0, 1]
        let image = try coder.decode(
            Self.bitmap(3, 3, bits: 8, compression: 1, extra: Self.palette(8), pixels: codes))
        #expect(row(image, 2) == [red, red, green])
        #expect(row(image, 1) == [blue, green, red])
        #expect(row(image, 0) == [clear, blue, clear] && image.hasAlpha)
    }

    @Test("Run lengths of 4 bits")
    func runLength4() throws {
        let codes: [UInt8] = [3, 0x12, 0, 0, 0, 3, 0x32, 0x10, 0, 1]
        let image = try coder.decode(
            Self.bitmap(3, 2, bits: 4, compression: 2, extra: Self.palette(4), pixels: codes))
        #expect(row(image, 1) == [red, green, red] && row(image, 0) == [blue, green, red])
        // Nothing was stepped over.
        #expect(!image.hasAlpha)
    }

    @Test("The OS/2 header has 16-bit sizes and palette entries of three bytes")
    func os2() throws {
        var bytes = Array("BM".utf8) + Self.little(0, 8) + Self.little(32, 4)
        bytes += Self.little(12, 4) + Self.little(1, 2) + Self.little(1, 2) + Self.little(1, 2) + Self.little(1, 2)
        bytes += [0, 0, 0, 0, 0, 255] + [0x80, 0, 0, 0]
        #expect(try coder.decode(Data(bytes)).pixels[0, 0] == red)
    }

    @Test("What is written comes back exactly, with alpha and without", arguments: [1, 2, 3, 4, 37])
    func roundTrip(width: Int) throws {
        let pixels = try RasterSamples.translucentNoise(width, 5, seed: 8)
        let data = try coder.encode(makeImage(pixels), as: .bmp, options: EncodeOptions())
        #expect(ImageFormat(sniffing: data) == .bmp)
        #expect(try coder.decode(data).pixels == pixels)
        let opaque = try RasterSamples.pixels(width, 3) { x, y in SIMD4(UInt8(x * 5), UInt8(y * 9), 77, 255) }
        let plain = try coder.encode(makeImage(opaque, hasAlpha: false), as: .bmp, options: EncodeOptions())
        #expect(try coder.decode(plain).pixels == opaque)
        #expect(try !coder.decode(plain).hasAlpha)
    }

    @Test("A file cut anywhere is truncated, or a partial image where that is allowed")
    func truncation() throws {
        let image = makeImage(try RasterSamples.pixels(20, 20) { _, _ in red }, hasAlpha: false)
        let whole = try coder.encode(image, as: .bmp, options: EncodeOptions())
        for tenth in 1..<10 {
            let cut = whole.prefix(whole.count * tenth / 10)
            #expect { try coder.decode(cut) } throws: { ($0 as? ImageError)?.code == .truncatedImage }
        }
        let half = try coder.decode(whole.prefix(whole.count / 2)) { $0.allowsPartialImage = true }
        #expect(half.isPartial && half.pixels[0, 0] == clear && half.pixels[0, 19] == red)
    }

    @Test("Sizes over the limit and wrong headers are refused")
    func refusals() throws {
        func code(_ data: Data) -> ImageError.Code? {
            do { _ = try coder.decode(data) } catch { return error.code }
            return nil
        }
        #expect(code(Self.bitmap(65_535, 65_535, bits: 24, pixels: [])) == .limitExceeded)
        #expect(code(Self.bitmap(-5, 5, bits: 24, pixels: [])) == .corruptImage)
        #expect(code(Self.bitmap(5, Int(Int32.min), bits: 24, pixels: [])) == .limitExceeded)
        #expect(code(Self.bitmap(5, 5, bits: 7, pixels: [])) == .corruptImage)
        #expect(code(Self.bitmap(5, 5, bits: 24, compression: 9, pixels: [])) == .formatNotEnabled)
    }

    @Test("Damaged files never crash")
    func fuzz() throws {
        let codes: [UInt8] = [2, 1, 1, 2, 0, 0, 0, 3, 3, 2, 1, 0, 0, 0, 0, 2, 1, 0, 1, 3, 0, 1]
        let runs = Self.bitmap(3, 3, bits: 8, compression: 1, extra: Array(Self.palette(8)), pixels: codes)
        try coder.survives(damageTo: runs, cases: 300, seed: 9)
        let image = makeImage(try RasterSamples.translucentNoise(9, 9, seed: 3))
        try coder.survives(
            damageTo: try coder.encode(image, as: .bmp, options: EncodeOptions()), cases: 300, seed: 10)
    }
}
