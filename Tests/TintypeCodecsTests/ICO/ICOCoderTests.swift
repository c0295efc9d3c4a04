import FoundationEssentials
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages

@Suite("ICO and CUR", .timeLimited)
struct ICOCoderTests {
    /// Stands in for the coder of PNG: answers every image with one blue pixel.
    struct BluePixel: ImageCoder {
        var decodableFormats: Set<ImageFormat> { [.png] }
        func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
            ImageInfo(format: .png, size: PixelSize(width: 1, height: 1), hasAlpha: true)
        }
        func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
            let buffer = try MutablePixelBuffer(size: PixelSize(width: 1, height: 1))
            buffer.row(0).storeBytes(of: blue, as: SIMD4<UInt8>.self)
            return Image(pixels: buffer.freeze())
        }
    }

    let coder = ICOCoder(png: BluePixel())

    private func little(_ value: Int, _ count: Int) -> [UInt8] { BMPCoderTests.little(value, count) }

    private func bitmap(_ width: Int, _ height: Int, bits: Int, _ rest: [UInt8]) -> [UInt8] {
        little(40, 4) + little(width, 4) + little(height * 2, 4) + little(1, 2) + little(bits, 2) + little(0, 24) + rest
    }

    private func icon(type: Int = 1, _ images: [(side: Int, bits: Int, bytes: [UInt8])]) -> Data {
        var directory = little(0, 2) + little(type, 2) + little(images.count, 2)
        var body: [UInt8] = []
        for image in images {
            let offset = 6 + 16 * images.count + body.count
            directory += [UInt8(image.side & 0xFF), UInt8(image.side & 0xFF), 0, 0] + little(1, 2)
            directory += little(image.bits, 2) + little(image.bytes.count, 4) + little(offset, 4)
            body += image.bytes
        }
        return Data(directory + body)
    }

    /// A green pixel and a red one in 24 bits; the mask hides the second.
    private var masked: [UInt8] {
        bitmap(2, 1, bits: 24, [0, 255, 0, 0, 0, 255, 0, 0] + [0b0100_0000, 0, 0, 0])
    }

    @Test("The mask makes pixels transparent, in icons and in cursors", arguments: [1, 2])
    func mask(type: Int) throws {
        let image = try coder.decode(icon(type: type, [(2, 24, masked)]))
        #expect(image.size == PixelSize(width: 2, height: 1) && image.format == .ico && image.hasAlpha)
        #expect(image.pixels[0, 0] == green && image.pixels[1, 0] == clear)
    }

    @Test("An icon without a mask is opaque, also before another image; half a mask is missing the rest")
    func noMask() throws {
        let bare = bitmap(2, 1, bits: 24, [0, 255, 0, 0, 0, 255, 0, 0])
        let small = bitmap(1, 1, bits: 24, [255, 0, 0, 0] + [0xFF, 0xFF, 0xFF, 0xFF])
        for images in [[(2, 24, bare)], [(2, 24, bare), (1, 24, small)]] as [[(side: Int, bits: Int, bytes: [UInt8])]] {
            let image = try coder.decode(icon(images))
            #expect(image.pixels[0, 0] == green && image.pixels[1, 0] == red && !image.isPartial)
        }
        let wide = icon([(40, 24, bitmap(40, 1, bits: 24, [UInt8](repeating: 9, count: 120) + [0, 0, 0]))])
        expectCode(.truncatedImage) { try coder.decode(wide) }
    }

    @Test("The rows of a mask have whole words, or whole bytes if the stated length says so, as Pillow writes them")
    func packedMask() throws {
        let pixels = [UInt8](repeating: 0, count: 9 * 3 + 1)
        // The mask hides the last of nine pixels in the upper row.
        let packed = bitmap(9, 2, bits: 24, pixels + pixels + [0, 0, 0, 0x80])
        let padded = bitmap(9, 2, bits: 24, pixels + pixels + [0, 0, 0, 0, 0, 0x80, 0, 0])
        for bytes in [packed, padded] {
            let image = try coder.decode(
                icon([(9, 24, bytes), (1, 24, bitmap(1, 1, bits: 24, [0, 0, 0, 0, 0, 0, 0, 0]))]))
            #expect(image.pixels[8, 0] == clear && image.pixels[7, 0].w == 255 && image.pixels[8, 1].w == 255)
        }
    }

    @Test("32 bits bring their own alpha, unless it is zero everywhere")
    func alpha() throws {
        let translucent = bitmap(2, 1, bits: 32, [0, 0, 255, 128, 0, 255, 0, 255] + [0xFF, 0, 0, 0])
        let image = try coder.decode(icon([(2, 32, translucent)]))
        #expect(image.pixels[0, 0] == [128, 0, 0, 128] && image.pixels[1, 0] == green)
        let none = bitmap(2, 1, bits: 32, [0, 0, 255, 0, 0, 255, 0, 0] + [0b0100_0000, 0, 0, 0])
        let opaque = try coder.decode(icon([(2, 32, none)]))
        #expect(opaque.pixels[0, 0] == red && opaque.pixels[1, 0] == clear)
    }

    @Test("The largest image is taken, and of equal ones the one with most bits")
    func choice() throws {
        func single(_ color: [UInt8]) -> [UInt8] { bitmap(1, 1, bits: 32, color + [0, 0, 0, 0]) }
        let data = icon([
            (16, 32, single([0, 0, 255, 255])), (32, 8, single([0, 0, 255, 255])), (32, 32, single([0, 255, 0, 255])),
        ])
        #expect(try coder.decode(data).pixels[0, 0] == green)
    }

    @Test("Where the directory states no bits, the images do", arguments: [1, 2])
    func unstatedBits(type: Int) throws {
        func image(_ bits: Int, _ color: [UInt8]) -> (Int, Int, [UInt8]) {
            (1, 0, bitmap(1, 1, bits: bits, color + [0, 0, 0, 0, 0]))
        }
        let images = [image(24, [0, 0, 255]), image(32, [0, 255, 0, 255]), image(24, [255, 0, 0])]
        #expect(try coder.decode(icon(type: type, images)).pixels[0, 0] == green)
    }

    @Test("An image in the PNG format goes to the coder for it")
    func png() throws {
        let data = icon([(2, 24, masked), (256, 32, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A])])
        let image = try coder.decode(data)
        #expect(image.pixels[0, 0] == blue && image.format == .ico)
        #expect(try coder.info(data).format == .ico)
    }

    @Test("Thumbnails, cut files and damage")
    func hostile() throws {
        let data = icon([(2, 24, masked)])
        let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 1, height: 1) }
        #expect(small.size == PixelSize(width: 1, height: 1))
        for count in 0..<(data.count - 4) {
            #expect { try coder.decode(data.prefix(count)) } throws: { ($0 as? ImageError)?.code == .truncatedImage }
        }
        try coder.survives(damageTo: data, cases: 300, seed: 11)
    }
}
