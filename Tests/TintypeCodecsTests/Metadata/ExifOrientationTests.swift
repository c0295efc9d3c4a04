import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Orientation in metadata", .timeLimited)
struct ExifOrientationTests {
    private func orientation(_ exif: [UInt8]) -> Orientation? {
        exif.withUnsafeBytes { Orientation(exif: $0) }
    }

    @Test("Values out of range, and blocks that are cut anywhere, say nothing")
    func hostile() {
        for littleEndian in [true, false] {
            let exif = RasterSamples.exif(6, littleEndian: littleEndian)
            #expect(orientation(exif) == .right)
            for count in 0..<20 { #expect(orientation(Array(exif.prefix(count))) == nil) }
            #expect(orientation(RasterSamples.exif(0, littleEndian: littleEndian)) == nil)
            #expect(orientation(RasterSamples.exif(9, littleEndian: littleEndian)) == nil)
        }
    }

    @Test("A directory beyond the end, or with more entries than there are, says nothing")
    func wrongOffsets() {
        var exif = RasterSamples.exif(6, littleEndian: true)
        exif.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(orientation(exif) == nil)
        exif = RasterSamples.exif(6, littleEndian: true)
        exif[10] = 0x13
        exif[8] = 0xFF
        exif[9] = 0xFF
        #expect(orientation(exif) == nil)
    }

    @Test("Damage to a block changes the orientation only where the bytes that state it are damaged")
    func damage() {
        let exif = RasterSamples.exif(3, littleEndian: false)
        for place in exif.indices {
            for value in UInt8.min...UInt8.max where value != exif[place] {
                var damaged = exif
                damaged[place] = value
                let found = orientation(damaged)
                switch place {
                // The byte order, where the directory is, and the tag.
                case 0...7, 10, 11: #expect(found == nil, "byte \(place) is \(value)")
                // The count of entries: none, or more than there are, of which the first is the orientation.
                case 8, 9: #expect(found == (damaged[8] == 0 && damaged[9] == 0 ? nil : .down), "byte \(place)")
                // A LONG has four bytes, of which the first two are the larger part.
                case 13 where value == 4: #expect(found == nil)
                case 18: #expect(found == nil, "byte \(place) is \(value)")
                case 19: #expect(found == Orientation(rawValue: Int(value)))
                default: #expect(found == .down, "byte \(place) is \(value)")
                }
            }
        }
    }

    @Test(
        "An orientation of any type and count is read, and replaced where pixels are turned",
        .capability("COD-31", "COD-47"), arguments: [true, false])
    func types(isLittleEndian: Bool) {
        func block(_ entries: MadeExif.Value...) -> Data {
            MadeExif(isLittleEndian: isLittleEndian, main: entries.map { (tag: 0x0112, value: $0) }).data
        }
        // A number of two bytes in a field of four.
        func short(type: Int, count: Int) -> MadeExif.Value {
            .raw(type: type, count: count, isLittleEndian ? 6 : 6 << 16)
        }
        var values = [1, 2, 6, 7].map { MadeExif.Value.bytes(type: $0, [6]) }
        values += [(8, 1), (3, 0), (3, 2), (99, 1)].map { short(type: $0.0, count: $0.1) }
        values += [(4, 1), (4, 2), (9, 1), (13, 1), (99, 1)].map {
            MadeExif.Value.raw(type: $0.0, count: $0.1, 6)
        }
        let (upright, size) = (block(.short([1])), PixelSize(width: 1, height: 1))
        for (index, value) in values.enumerated() {
            #expect(orientation([UInt8](block(value))) == .right, "\(index)")
            #expect(block(value).uprightExif(of: size) == upright, "\(index)")
        }
        // The first counts here, and another one elsewhere.
        let twice = block(.short([6]), .short([8]))
        #expect(orientation([UInt8](twice)) == .right)
        #expect(twice.uprightExif(of: size) == block(.short([1]), .short([1])))
        for senseless in [MadeExif.Value.bytes(type: 1, [9]), .long([0x60000]), .raw(type: 99, count: 1, 0)] {
            #expect(orientation([UInt8](block(senseless))) == nil)
            #expect(block(senseless).uprightExif(of: size) == upright)
        }
    }

    @Test(
        "A picture whose orientation has an unusual type is turned once, also if it is written again",
        .capability("COD-31"))
    func turnedOnce() throws {
        var jpeg = HandmadeJPEG(width: 16, height: 8, values: [100])
        let block = MadeExif(main: [(0x0112, .bytes(type: 1, [6]))]).data
        jpeg.segments = [(0xE1, Array("Exif\0\0".utf8) + block)]
        let image = try JPEGCoder().decode(jpeg.data)
        #expect(image.size == PixelSize(width: 8, height: 16))
        let again = try JPEGCoder().encode(image, as: .jpeg, options: EncodeOptions(keepsMetadata: true))
        #expect(try JPEGCoder().info(again).orientation == .up)
        #expect(try JPEGCoder().decode(again).size == image.size)
    }

    @Test("XMP states the orientation with any prefix of the namespace")
    func prefixes() {
        func orientation(_ prefix: String, _ namespace: String) -> Orientation {
            let attributes = "xmlns:\(prefix)='\(namespace)' \(prefix):Orientation='8'"
            return Orientation(exif: nil, xmp: Data("<x \(attributes)/>".utf8))
        }
        #expect(orientation("t", "http://ns.adobe.com/tiff/1.0/") == .left)
        #expect(orientation("tiff", "urn:other") == .up)
    }

    @Test("XMP states the orientation as an attribute or an element")
    func xmp() {
        func orientation(_ text: String) -> Orientation { Orientation(exif: nil, xmp: Data(text.utf8)) }
        #expect(orientation("<rdf tiff:Orientation=\"8\" x=\"1\"/>") == .left)
        #expect(orientation("<tiff:Orientation>6</tiff:Orientation>") == .right)
        #expect(orientation("<tiff:Orientation>x6</tiff:Orientation>") == .up)
        #expect(orientation("<a>8</a>") == .up)
    }

    @Test("Exif counts before XMP")
    func precedence() {
        let exif = Data(RasterSamples.exif(3, littleEndian: true))
        #expect(Orientation(exif: exif, xmp: Data("tiff:Orientation=\"8\"".utf8)) == .down)
    }
}
