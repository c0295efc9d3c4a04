import Foundation
import TestSupport
import Testing
import TintypeCore

@testable import TintypeCodecs
import TintypeTesting

@Suite("Editing Exif", .timeLimited)
struct ExifEditorTests {
    private let thumbnail = [UInt8](repeating: 0xAB, count: 500)

    private func thumbnailBytes(_ block: Data) -> [UInt8]? {
        block.withUnsafeBytes { bytes in
            ExifReader(bytes)?.thumbnail.map { Array(bytes[$0]) }
        }
    }

    @Test("orientation, size and thumbnail change, and nothing else", .capability("COD-47"), arguments: [true, false])
    func upright(isLittleEndian: Bool) {
        let size = PixelSize(width: 123, height: 45)
        var source = HandmadeExif(orientation: 6, thumbnail: thumbnail, isLittleEndian: isLittleEndian)
        let edited = source.data.uprightExif(of: size)
        source.orientation = 1
        source.size = size
        source.thumbnail = nil
        #expect(edited == source.data)
        #expect(source.data.uprightExif(of: size) == source.data)
    }

    @Test("a thumbnail in front of what is kept is overwritten, not cut off")
    func thumbnailInFront() throws {
        // The second directory comes first, and its picture in front of the first one's maker.
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes: [UInt8] = [0x49, 0x49, 0x2A, 0] + number(88, 4)
        bytes += number(2, 2) + number(0x0201, 2) + number(4, 2) + number(1, 4) + number(38, 4)
        bytes += number(0x0202, 2) + number(4, 2) + number(1, 4) + number(50, 4) + number(0, 4)
        bytes += [UInt8](repeating: 0xAB, count: 50)
        bytes += number(1, 2) + number(0x010F, 2) + number(2, 2) + number(4, 4) + Array("abc\0".utf8) + number(8, 4)
        let edited = try #require(Data(bytes).uprightExif(of: PixelSize(width: 1, height: 1)))
        #expect(edited.count == bytes.count && !edited.contains(0xAB))
        #expect(edited.range(of: Data("abc".utf8)) != nil)
        #expect(edited.suffix(4) == Data(count: 4))
    }

    @Test(
        "a thumbnail that is put in can be read back, and takes the place of another", .capability("COD-26"),
        arguments: [true, false])
    func thumbnailReplaced(isLittleEndian: Bool) throws {
        let block = HandmadeExif(thumbnail: thumbnail, isLittleEndian: isLittleEndian).data
        #expect(thumbnailBytes(block) == thumbnail)
        var editor = try #require(ExifEditor(block))
        editor.setThumbnail(Data([1, 2, 3]))
        #expect(thumbnailBytes(editor.data) == [1, 2, 3])
        #expect(!editor.data.contains(0xAB))
        #expect(editor.data.prefix(58) == block.prefix(58))
        var empty = ExifEditor()
        empty.setThumbnail(Data([4, 5]))
        #expect(thumbnailBytes(empty.data) == [4, 5])
        #expect(empty.data.withUnsafeBytes { Orientation(exif: $0) } == .up)
    }

    @Test("the orientation of XMP becomes upright, as an attribute and as an element")
    func xmp() {
        #expect(HandmadeExif.xmp(orientation: 8).uprightXMP == HandmadeExif.xmp())
        let element = Data("<tiff:Orientation>3</tiff:Orientation>".utf8)
        #expect(element.uprightXMP == Data("<tiff:Orientation>1</tiff:Orientation>".utf8))
        #expect(Data("no word of it".utf8).uprightXMP == Data("no word of it".utf8))
    }

    @Test("what is no Exif is left out")
    func noExif() {
        for bytes in [
            Data(), Data("II*\0".utf8), Data("hello world, hello".utf8), Data([0x49, 0x49, 0x2A, 0, 255, 255, 0, 0]),
        ] {
            #expect(bytes.uprightExif(of: PixelSize(width: 1, height: 1)) == nil)
        }
    }

    @Test("damaged blocks never crash", .capability("3.8"))
    func damage() {
        var generator = SeededRandom(seed: 5)
        let block = HandmadeExif(orientation: 6, thumbnail: thumbnail).data
        for count in 0..<3_000 {
            var damaged = block.damaged(1 + count % 6, using: &generator)
            if count % 3 == 0 { damaged = damaged.prefix(Int.random(in: 0..<damaged.count, using: &generator)) }
            guard let edited = damaged.uprightExif(of: PixelSize(width: 70_000, height: 2)) else { continue }
            #expect(edited.count <= damaged.count)
            var editor = ExifEditor(edited)
            editor?.setThumbnail(Data([1, 2, 3]))
            #expect(editor.map { $0.data.count >= edited.count } ?? true)
        }
    }

    @Test("directories whose values all overlap take no time that grows with their product", .capability("3.8"))
    func overlapping() {
        // 60,000 entries in each of two directories, each of which claims the same megabyte.
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let entries = 60_000
        var bytes: [UInt8] = [0x49, 0x49, 0x2A, 0] + number(8, 4)
        for directory in 0..<2 {
            bytes += number(entries, 2)
            for index in 0..<entries {
                bytes += number(0x9000, 2) + number(7, 2) + number(1_000_000, 4) + number(8 + index, 4)
            }
            bytes += number(directory == 0 ? bytes.count + 4 : 0, 4)
        }
        #expect(Data(bytes).uprightExif(of: PixelSize(width: 1, height: 1)) != nil)
    }
}
