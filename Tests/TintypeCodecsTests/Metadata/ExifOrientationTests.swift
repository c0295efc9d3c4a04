import Foundation
import TestSupport
import Testing
import TintypeCore

@testable import TintypeCodecs
import TintypeTesting

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

    @Test("Damaged blocks never crash")
    func damage() {
        var generator = SeededRandom(seed: 1)
        let exif = Data(RasterSamples.exif(3, littleEndian: false))
        for _ in 0..<500 { _ = orientation([UInt8](exif.damaged(2, using: &generator))) }
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
