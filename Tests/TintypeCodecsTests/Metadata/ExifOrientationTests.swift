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
