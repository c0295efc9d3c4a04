import Foundation
import TestSupport
import Testing
import TintypeImages

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

    @Test("Orientation, size and thumbnail change, and nothing else", .capability("COD-47"), arguments: [true, false])
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

    @Test("Beside sRGB pixels, the color space is sRGB by both entries", .capability("COD-47"))
    func colorSpace() throws {
        func block(_ space: UInt8, _ index: String) -> Data {
            // The first directory at 8, Exif at 26 with the color space and the directory of interoperability, which is at 56.
            var bytes: [UInt8] = [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]
            bytes += [1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0]
            bytes += [2, 0, 0x01, 0xA0, 3, 0, 1, 0, 0, 0, space, space == 1 ? 0 : 0xFF, 0, 0]
            bytes += [0x05, 0xA0, 4, 0, 1, 0, 0, 0, 56, 0, 0, 0, 0, 0, 0, 0]
            bytes += [1, 0, 1, 0, 2, 0, 4, 0, 0, 0] + Array(index.utf8) + [0, 0, 0, 0, 0]
            return Data(bytes)
        }
        let size = PixelSize(width: 1, height: 1)
        let adobe = block(0xFF, "R03")
        #expect(adobe.uprightExif(of: size) == adobe)
        #expect(adobe.uprightExif(of: size, isSRGB: true) == block(1, "R98"))
    }

    @Test("A thumbnail in front of what is kept is overwritten, not cut off")
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
        "A thumbnail that is put in can be read back, and takes the place of another", .capability("COD-26"),
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

    @Test("The orientation of XMP becomes upright, and its sizes those of the image, as attributes and as elements")
    func xmp() {
        func upright(_ packet: Data) -> Data? { XMPPacket.upright(packet, size: PixelSize(width: 30, height: 4_000)) }
        #expect(upright(HandmadeExif.xmp(orientation: 8)) == HandmadeExif.xmp())
        let elements = "<tiff:Orientation>3</tiff:Orientation><exif:PixelYDimension>30</exif:PixelYDimension>"
        #expect(
            upright(Data(elements.utf8))
                == Data("<tiff:Orientation>1</tiff:Orientation><exif:PixelYDimension>4000</exif:PixelYDimension>".utf8))
        func sizes(_ width: Int, _ height: Int) -> Data {
            let text = "tiff:ImageWidth=\"\(width)\" tiff:ImageLength='\(height)' exif:PixelXDimension = \"\(width)\""
            return Data("<x \(text) x=\"7\"/>".utf8)
        }
        #expect(upright(sizes(4_000, 30)) == sizes(30, 4_000))
        for other in ["no word of it", "<x ImageWidth=\"9\"/>", "tiff:ImageWidth", "<a/>\0\0", " "] {
            #expect(upright(Data(other.utf8)) == Data(other.utf8))
        }
    }

    @Test("What is no Exif is left out")
    func noExif() {
        for bytes in [
            Data(), Data("II*\0".utf8), Data("hello world, hello".utf8), Data([0x49, 0x49, 0x2A, 0, 255, 255, 0, 0]),
        ] {
            #expect(bytes.uprightExif(of: PixelSize(width: 1, height: 1)) == nil)
        }
    }

    @Test("Damaged blocks never crash", .capability("3.8"))
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

    @Test(
        "Directories with many values beside each other take no time that grows with their product", .capability("3.8"))
    func interleaved() throws {
        // 60,000 values in each of two directories, in turns, with a byte between them.
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let entries = 60_000
        let values = 8 + 2 * (2 + entries * 12 + 4)
        var bytes: [UInt8] = [0x49, 0x49, 0x2A, 0] + number(8, 4)
        for directory in 0..<2 {
            bytes += number(entries, 2)
            for index in 0..<entries {
                bytes +=
                    number(0x9000, 2) + number(7, 2) + number(5, 4) + number(values + index * 12 + directory * 6, 4)
            }
            bytes += number(directory == 0 ? bytes.count + 4 : 0, 4)
        }
        bytes += [UInt8](repeating: 9, count: entries * 12)
        let start = ContinuousClock.now
        let edited = try #require(Data(bytes).uprightExif(of: PixelSize(width: 1, height: 1)))
        // The product is 3.6 billion, which would take minutes.
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect([UInt8](edited[values..<values + 18]) == [9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9])
    }

    @Test("Directories whose values all overlap take no time that grows with their product", .capability("3.8"))
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
