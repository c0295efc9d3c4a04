import FoundationEssentials
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

extension WebPCoderTests {
    @Test(
        "A damaged frame loses no other frame where a part is allowed: the picture before it stays",
        .capability("COD-44"))
    func damagedFrame() throws {
        let replace: UInt8 = 2
        let pictures = try [red, green, blue].map { color in try RasterSamples.pixels(4, 4) { _, _ in color } }
        let whole = try container(pictures.map { (0, 0, replace, $0) })
        let chunks = whole.ranges(of: Array("VP8L".utf8))
        try #require(chunks.count == 3)
        for (index, shown) in [[clear, green, blue], [red, red, blue], [red, green, green]].enumerated() {
            var data = whole
            // What follows the size of the chunk, the signature, and the size of the picture.
            let end = index < 2 ? chunks[index + 1].lowerBound - 28 : data.count
            for place in chunks[index].upperBound + 9..<end { data[place] = 0xFF }
            #expect(throws: ImageError.self) { try coder.decode(data).decodingAllFrames() }
            let image = try coder.decode(data) { $0.allowsPartialImage = true }
            #expect(image.frames.map { $0.pixels[1, 1] } == shown)
        }
    }
    @Test(
        "A frame whose picture has another size than the frame states is an error, and shows no memory"
    )
    func lyingFrame() throws {
        let dot = try RasterSamples.pixels(1, 1) { _, _ in red }
        let data = try container([(0, 0, 0, dot), (0, 0, 0, dot)], stating: PixelSize(width: 4, height: 4))
        let error = #expect(throws: ImageError.self) { try coder.decode(data) }
        #expect(error?.code == .corruptImage)
        #expect(throws: ImageError.self) {
            try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 2, height: 2) }
        }
        // The first frame is whole, and the second is passed over.
        let full = try RasterSamples.pixels(4, 4) { _, _ in green }
        var partlyDamaged = try container([(0, 0, 0, full), (0, 0, 0, full)])
        let place = try #require(partlyDamaged.ranges(of: Array("ANMF".utf8)).last).upperBound + 10
        partlyDamaged[place] = 1
        let image = try coder.decode(partlyDamaged) { $0.allowsPartialImage = true }
        #expect(image.frames.map { $0.pixels[3, 3] } == [green, green])
    }

    @Test(
        "A lossless header of megabytes is read again after twice the bytes, not after each eighth", .capability("3.1"))
    func longHeader() throws {
        // 4,096 × 2,048 pixels with a predictor for each block of four, given in codes of 32 bits, of which the last are missing.
        let start: [UInt8] = [
            0x2F, 0xFF, 0xCF, 0xFF, 0x01, 0x01, 0x08, 0x00, 0x00, 0x00, 0x20, 0xE7, 0x0F, 0x01, 0x00, 0x00, 0x00, 0xE4,
            0xFC, 0x21, 0x00, 0x00, 0x00, 0x80, 0x9C, 0x3F, 0x04, 0x00, 0x00, 0x00, 0x90, 0xF3, 0x0F,
        ]
        let picture = ByteBuilder.riff("VP8L", Data(start) + Data(count: (2 << 20) - start.count))
        let data = ByteBuilder.riff("RIFF", Data("WEBP".utf8) + picture)
        let checks = Lock(0)
        let context = ProcessingContext {
            checks.withLock { $0 += 1 }
            return false
        }
        expectCode(.corruptImage) { try WebPCoder().decode(data, options: DecodeOptions(), context: context) }
        // Of 256 KB, 512 KB, 1 MB and 2 MB, and two before.
        #expect((4...7).contains(checks.withLock { $0 }))
    }
}
