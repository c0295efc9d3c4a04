#if JXL
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Metadata of JPEG XL, compressed", .timeLimited)
struct JXLMetadataTests {
    /// A stream of Brotli (RFC 7932, section 9.2) with a window of 64 KB, and of blocks that aren't compressed.
    private func stored(_ bytes: Data) -> Data {
        var stream = Data()
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(65_536)
            rest = rest.dropFirst(part.count)
            // The window only stands at the beginning. Then: not the last block, a length of 16 bits less one, not compressed.
            stream +=
                stream.isEmpty
                ? ByteBuilder.little((part.count - 1) << 4 | 1 << 20, 3)
                : ByteBuilder.little((part.count - 1) << 3 | 1 << 19, 3)
            stream += part
        }
        // The last block, which is empty.
        return stream + [3]
    }

    /// 8 MB of zeros, as libbrotli packs them.
    private static let bomb = Data([0x9B, 0xFF, 0xFF, 0x7F, 0xF8, 0x27, 0x00, 0xE2, 0xB1, 0x40, 0x20, 0xF7, 0xFE, 0x0F])

    /// The metadata of an image in a file with boxes before it.
    private func metadata(_ boxes: (String, Data)...) throws -> ImageMetadata {
        let stream = try JXLCoder().encode(try RasterSamples.gradient(16, 16), as: .jxl, options: EncodeOptions())
        try #require(stream.starts(with: [0xFF, 0x0A]))
        var file = ByteBuilder.box("JXL ", Data([0x0D, 0x0A, 0x87, 0x0A]))
        file += ByteBuilder.box("ftyp", Data("jxl \0\0\0\0jxl ".utf8))
        for (type, contents) in boxes { file += ByteBuilder.box(type, contents) }
        return try JXLCoder().info(file + ByteBuilder.box("jxlc", stream)).metadata
    }

    private func exif(_ block: Data) -> Data { Data("Exif".utf8) + stored(Data(count: 4) + block) }

    @Test("Exif and XMP are read from compressed boxes, of which plain ones come first", .capability("MET-31"))
    func compressed() throws {
        let (block, packet) = (HandmadeExif().data, HandmadeExif.xmp())
        let read = try metadata(("brob", exif(block)), ("brob", Data("xml ".utf8) + stored(packet)))
        #expect(read == ImageMetadata(exif: block, xmp: packet))
        let large = packet + Data(repeating: 0x20, count: 200_000)
        #expect(try metadata(("brob", Data("xml ".utf8) + stored(large))).xmp == large)
        let plain = try metadata(("brob", Data("xml ".utf8) + stored(large)), ("xml ", packet))
        #expect(plain.xmp == packet)
    }

    @Test(
        "Boxes that are damaged, cut off, or too large when they are unpacked are left out",
        .capability("MET-29", "3.8"))
    func damaged() throws {
        let block = HandmadeExif().data
        for data in [Data(), Data("Exi".utf8), Data("Exif".utf8), Data("Exif".utf8) + Data([0xFF, 0xFF])] {
            #expect(try metadata(("brob", data)) == ImageMetadata())
        }
        let stream = stored(block)
        for count in 0..<stream.count {
            let unpacked = stream.prefix(count).withUnsafeBytes { BrotliStream.unpack($0, maximumBytes: 1 << 20) }
            #expect(unpacked == nil, "\(count)")
        }
        func unpack(_ stream: Data, _ most: Int) -> Int? {
            stream.withUnsafeBytes { BrotliStream.unpack($0, maximumBytes: most)?.count }
        }
        #expect(unpack(Self.bomb, 8 << 20) == 8 << 20)
        #expect(unpack(Self.bomb, 8 << 20 - 1) == nil)
        #expect(unpack(stream, block.count) == block.count && unpack(stream, block.count - 1) == nil)
        #expect(try metadata(("brob", Data("xml ".utf8) + Self.bomb)) == ImageMetadata())
        // The first of a type counts, and no other is unpacked.
        #expect(try metadata(("brob", Data("Exif".utf8) + Self.bomb), ("brob", exif(block))) == ImageMetadata())
    }
}
#endif
