import CZlib
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("XMP in the text of PNG", .timeLimited)
struct PNGTextTests {
    private let keyword = Data("XML:com.adobe.xmp\0".utf8)

    private func compressed(_ data: Data) throws -> Data {
        var count = compressBound(uLong(data.count))
        var result = [UInt8](repeating: 0, count: Int(count))
        try #require(compress2(&result, &count, [UInt8](data), uLong(data.count), 9) == Z_OK)
        return Data(result.prefix(Int(count)))
    }

    /// A PNG with chunks of text behind its header.
    private func file(_ chunks: [(PNGChunks.ChunkType, Data)]) throws -> Data {
        var file = try PNGCoder().encode(RasterSamples.gradient(4, 4), as: .png, options: EncodeOptions())
        var inserted = Data()
        for (type, contents) in chunks { PNGChunk.append(type, contents, to: &inserted) }
        file.insert(contentsOf: inserted, at: 33)
        return file
    }

    private func xmp(_ chunks: (PNGChunks.ChunkType, Data)...) throws -> Data? {
        try PNGCoder().decode(try file(chunks)).metadata.xmp
    }

    @Test("XMP is read from international text, plain and compressed, and from the two other kinds")
    func kinds() throws {
        let packet = HandmadeExif.xmp(orientation: 6)
        let international = Data("de\0Titel\0".utf8)
        #expect(try xmp((.itxt, keyword + [0, 0] + international + packet)) == packet)
        #expect(try xmp((.itxt, keyword + [1, 0] + international + compressed(packet))) == packet)
        #expect(try xmp((.ztxt, keyword + [0] + compressed(packet))) == packet)
        #expect(try xmp((.text, keyword + packet)) == packet)
        #expect(try xmp((.text, Data("Title\0a".utf8)), (.text, keyword + packet)) == packet)
        let turned = try PNGCoder().info(file([(.ztxt, keyword + [0] + compressed(packet))]))
        #expect(turned.orientation == .right)
    }

    @Test("Text that is broken, or too large when inflated, is passed over", .capability("3.8"))
    func broken() throws {
        let packet = HandmadeExif.xmp()
        let stream = try compressed(packet)
        #expect(try xmp((.ztxt, keyword)) == nil)
        #expect(try xmp((.ztxt, keyword + [0])) == nil)
        #expect(try xmp((.ztxt, keyword + [1] + stream)) == nil)
        #expect(try xmp((.ztxt, keyword + [0] + stream.dropLast(6))) == nil)
        #expect(try xmp((.itxt, keyword)) == nil)
        #expect(try xmp((.itxt, keyword + [2, 0, 0, 0] + packet)) == nil)
        #expect(try xmp((.itxt, keyword + [0, 0] + Data("de".utf8))) == nil)
        let bomb = try compressed(Data(count: 64 << 20))
        #expect(bomb.count < 100_000)
        #expect(try xmp((.ztxt, keyword + [0] + bomb)) == nil)
        // The first counts, and no other is inflated.
        #expect(try xmp((.ztxt, keyword + [0] + bomb), (.text, keyword + packet)) == nil)
    }
}
