import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("The beginnings of Exif blocks", .timeLimited)
struct ExifBlockTests {
    private static let prefix = Data("Exif\0\0".utf8)

    /// A block with a number of bytes more than the shortest.
    private func block(_ extra: Int, isLittleEndian: Bool = true) -> Data {
        let make = "Tintype" + String(repeating: "x", count: extra)
        return MadeExif(isLittleEndian: isLittleEndian, main: [(0x010F, .text(make))]).data
    }

    @Test(
        "A block begins at its TIFF header, whatever a writer or a program has put in front of it",
        .capability("MET-31"), arguments: [true, false])
    func headers(isLittleEndian: Bool) {
        let block = block(0, isLittleEndian: isLittleEndian)
        let fronts = [
            Data(), Self.prefix, Data("Exif\0".utf8), Data(count: 4), Data([0, 0, 0, 6]) + Self.prefix,
            Data(count: 4) + Self.prefix, Data(repeating: 9, count: 64),
        ]
        for front in fronts {
            #expect((front + block).exifBlock == block)
            #expect(ImageMetadata(exif: front + block).fields.cameraMake == "Tintype")
            #expect((front + block).uprightExif(of: PixelSize(width: 1, height: 1)) == block)
        }
        #expect((Data(repeating: 9, count: 65) + block).exifBlock == nil)
        for other in [Data(), Data("II*".utf8), Data("no TIFF header".utf8)] { #expect(other.exifBlock == nil) }
    }

    @Test(
        "Each format's block is read and kept with the prefix of JPEG, without an offset, and with both",
        .capability("MET-31", "COD-47"), arguments: WritableFormats.withMetadata.filter { $0 != .tiff })
    func formats(format: ImageFormat) throws {
        let source = try RasterSamples.gradient(40, 30).with { $0.metadata.exif = block(10) }
        let data = try WritableFormats.encode(source, as: format) { $0.keepsMetadata = true }
        // Boxes have the offset of the TIFF header in front of the block. All variants have as many bytes.
        let hasOffset = [.avif, .heic, .jxl].contains(format)
        let place = try #require(data.range(of: (hasOffset ? Data(count: 4) : Data()) + block(10)))
        let (prefix, six) = (Self.prefix, Data([0, 0, 0, 6]))
        let variants: [(Data, Int)] =
            hasOffset
            ? [(six + prefix, 4), (Data(count: 4) + prefix, 4), (prefix, 8), (Data(), 14)]
            : [(prefix, 4), (Data(count: 4), 6)]
        for (front, extra) in variants {
            var file = data
            file.replaceSubrange(place, with: front + block(extra))
            try #require(file.count == data.count)
            let metadata = try WritableFormats.coders.info(file).metadata
            #expect(metadata.exif == block(extra), "\([UInt8](front))")
            let kept = try WritableFormats.encode(source.with { $0.metadata = metadata }, as: .webp) {
                $0.keepsMetadata = true
            }
            #expect(try WritableFormats.coders.info(kept).metadata.exif == block(extra), "\([UInt8](front))")
        }
    }
}
