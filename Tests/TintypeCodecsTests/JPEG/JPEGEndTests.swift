import FoundationEssentials
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// What becomes of files with bytes that don't belong to them, and without their end.
@Suite("JPEG: beginnings and ends", .timeLimited)
struct JPEGEndTests {
    let coder = JPEGCoder()

    private func arriving(_ data: Data) throws -> Image {
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        for start in stride(from: 0, to: data.count, by: 700) {
            try? decoder.append(Data(data[start..<min(data.count, start + 700)]))
            _ = try? decoder.preview()
        }
        return try decoder.finish()
    }

    /// Bytes that look like segments: of an unknown kind, another frame, another picture, tables that are cut off, a scan of nothing.
    private static let trailers: [[UInt8]] = [
        [], [0xFF, 0x63, 0, 5, 1, 2], [0xFF, 0xC0, 0, 17, 8, 1, 2], [0xFF, 0xD8, 0xFF, 0xE0, 1, 1],
        [0xFF, 0xC4, 0, 9, 1, 2, 3, 4, 5], [0xFF, 0xDB, 0xFF, 0xFF, 1], [0xFF, 0xDA, 0, 2], Array("SEFH0123".utf8),
    ]

    @Test(
        "A picture whose scans are all there is whole, without its end and before bytes of any kind",
        .capability("COD-12"), arguments: trailers)
    func trailer(bytes: [UInt8]) throws {
        for isProgressive in [true, false] {
            let data = try coder.encode(
                RasterSamples.gradient(120, 90), as: .jpeg, options: EncodeOptions(progressive: isProgressive))
            let whole = try coder.decode(data)
            let odd = data.dropLast(2) + bytes
            for image in [try coder.decode(Data(odd)), try arriving(Data(odd))] {
                #expect(image.pixels == whole.pixels && !image.isPartial, "progressive \(isProgressive)")
            }
        }
    }

    @Test("A progressive picture whose last scan is missing is cut, and one that is damaged before it says so")
    func missingScan() throws {
        let data = try coder.encode(
            RasterSamples.gradient(120, 90), as: .jpeg, options: EncodeOptions(progressive: true))
        let last = try #require(data.ranges(of: [0xFF, 0xDA]).last)
        expectCode(.truncatedImage) { try coder.decode(Data(data[..<last.lowerBound])) }
        expectCode(.corruptImage) {
            try coder.decode(Data(data[..<last.lowerBound] + [0xFF, 0x63, 0, 2] + data[last.lowerBound...]))
        }
    }

    @Test("A progressive picture is damaged when a later scan refers to a table that the file lacks")
    func missingTable() throws {
        let data = try coder.encode(
            RasterSamples.gradient(120, 90), as: .jpeg, options: EncodeOptions(progressive: true))
        let scan = try #require(data.ranges(of: [0xFF, 0xDA]).first)
        var rest = Data(data[scan.lowerBound...])
        // Of Huffman tables, those behind the first scan are all for coefficients of higher frequencies.
        for table in rest.ranges(of: [0xFF, 0xC4]).reversed() {
            let length = Int(rest[table.upperBound]) << 8 | Int(rest[table.upperBound + 1])
            rest.removeSubrange(table.lowerBound..<table.upperBound + length)
        }
        let odd = data[..<scan.lowerBound] + rest
        expectCode(.corruptImage) { try coder.decode(odd) }
        expectCode(.corruptImage) { try arriving(odd) }
        expectCode(.corruptImage) { try coder.decode(odd) { $0.allowsPartialImage = true } }
    }

    @Test("Bytes between the beginning and the first segment are skipped", .capability("FMT-01"))
    func junk() throws {
        let data = try coder.encode(RasterSamples.gradient(40, 30), as: .jpeg)
        for junk in [[0x00, 0x09], Array("junk".utf8), [0xFF, 0xFF]] as [[UInt8]] {
            let odd = data.prefix(2) + junk + data.dropFirst(2)
            #expect(ImageFormat(sniffing: Data(odd)) == .jpeg)
            let image = try ImageCoders([coder]).decode(
                Data(odd), options: DecodeOptions(), context: ProcessingContext())
            #expect(try image.pixels == coder.decode(data).pixels)
        }
        let error = #expect(throws: ImageError.self) { try coder.decode(Data([0xFF, 0xD8, 1, 2, 3])) }
        #expect(error?.code == .truncatedImage)
    }
}
