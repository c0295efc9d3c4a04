import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

extension WebPCoderTests {
    @Test("A thumbnail of odd sides isn't shifted", arguments: [(321, 241), (320, 241), (321, 240)])
    func oddThumbnails(width: Int, height: Int) throws {
        let picture = try RasterSamples.image(width, height) { x, y in
            [UInt8(x * 3 & 255), UInt8((y * 5 + x) & 255), (x / 20 + y / 20) & 1 == 0 ? 40 : 220, 255]
        }
        let data = try coder.encode(picture, as: .webp, options: EncodeOptions(quality: 0.9))
        let whole = try coder.decode(data)
        let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 40, height: 40) }
        #expect(RasterSamples.psnr(small.pixels, try whole.pixels.resized(to: small.size)) > 45)
    }

    @Test("A thumbnail of a seventh is what shrinking the whole picture gives, nearly")
    func seventh() throws {
        let data = try encode(try photo(400, 300), lossless: false)
        let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 57, height: 57) }
        let whole = try coder.decode(data).pixels.resized(to: small.size)
        #expect(small.size == PixelSize(width: 57, height: 43))
        #expect(RasterSamples.psnr(small.pixels, whole) > 50)
    }

    @Test("Thumbnails have the size that was asked for, moving or not", .capability("COD-13", "PLG-01"))
    func thumbnails() throws {
        let small = try coder.decode(try encode(try animation())) {
            $0.thumbnailSize = PixelSize(width: 10, height: 10)
        }
        #expect(small.frames.map(\.pixels.size) == [PixelSize](repeating: PixelSize(width: 10, height: 5), count: 3))
        let image = try photo(400, 300)
        let data = try encode(image)
        let thumbnail = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 40, height: 40) }
        #expect(thumbnail.size == PixelSize(width: 40, height: 30))
        // Scaling while decoding gives what shrinking the whole picture does, nearly.
        let reference = try image.pixels.resized(to: thumbnail.size)
        var worst = 0
        for y in 0..<30 {
            for x in 0..<40 { worst = max(worst, abs(Int(reference[x, y].x) - Int(thumbnail.pixels[x, y].x))) }
        }
        #expect(worst <= 6)
    }

    @Test("A thumbnail of a seventh is made of blocks whose edges aren't smoothed")
    func skipsFilter() throws {
        let data = try coder.encode(try photo(400, 300), as: .webp, options: EncodeOptions(quality: 0.2))
        let whole = try coder.decode(data).pixels
        /// Returns the likeness of a thumbnail to the whole picture, made smaller.
        func likeness(width: Int) throws -> Double {
            let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: width, height: width) }
            return RasterSamples.psnr(small.pixels, try whole.resized(to: small.size))
        }
        #expect(try likeness(width: 250) == .infinity)
        let unsmoothed = try likeness(width: 60)
        #expect(unsmoothed > 45 && unsmoothed < .infinity)
    }
}
