import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// Sequential files that no encoder writes. The decoder of thumbnails either has the coefficients of libjpeg, which has no warning, or leaves
/// the file to it.
@Suite("JPEG, crafted files as thumbnails", .timeLimited)
struct JPEGThumbnailCraftedTests {
    typealias Files = JPEGThumbnailCoefficientsTests

    /// A Huffman code: the number of codes by length, and the symbols.
    private struct Code {
        var counts: [UInt8]
        var symbols: [UInt8]

        func segment(_ kind: UInt8) -> [UInt8] {
            let counts = counts + [UInt8](repeating: 0, count: 16 - counts.count)
            let length = 19 + symbols.count
            return [0xFF, 0xC4, UInt8(length >> 8), UInt8(length & 255), kind] + counts + symbols
        }

        /// A single code of one bit, 0, for a symbol that has no bits: no difference, or the end of the block.
        static let single = Code(counts: [1], symbols: [0])
    }

    private func file(
        side: Int = 64, isGray: Bool = true, differences: Code = .single, coefficients: Code = .single, scan: [UInt8]
    ) -> Data {
        var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
        let size = [UInt8(side >> 8), UInt8(side & 255)]
        let components: [UInt8] = isGray ? [1, 0x11, 0] : [1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]
        let count = UInt8(components.count / 3)
        file += [0xFF, 0xC0, 0, 8 + 3 * count, 8] + size + size + [count] + components
        file += differences.segment(0) + coefficients.segment(0x10)
        file += [0xFF, 0xDA, 0, 6 + 2 * count, count] + (1...count).flatMap { [$0, 0] } + [0, 63, 0]
        return Data(file + scan + [0xFF, 0xD9])
    }

    /// Compares with libjpeg, and says if the file was accepted.
    private func isAccepted(_ data: Data, _ name: String = "") throws -> Bool {
        guard let decoded = try ThumbnailCoefficients.decode(data, last: 14, warmUp: 16) else { return false }
        #expect(decoded.values == ThumbnailCoefficients.reference(data, last: 14), "\(name)")
        return true
    }

    @Test("Huffman codes with a single code, and with fewer codes than there is room for, are decoded")
    func codes() throws {
        // 64 blocks of two bits each.
        #expect(try isAccepted(file(scan: [UInt8](repeating: 0, count: 16))))
        // Code 000 for no difference and 001 for one of a bit, and 00 for the end of the block: 320 bits.
        let (three, two) = (Code(counts: [0, 0, 2], symbols: [0, 1]), Code(counts: [0, 1], symbols: [0]))
        let scan = [UInt8](repeating: 0, count: 40)
        #expect(try isAccepted(file(differences: three, coefficients: two, scan: scan)))
        // A code of 16 bits, which no table holds: 64 blocks of 17.
        let long = Code(counts: [UInt8](repeating: 0, count: 15) + [1], symbols: [0])
        #expect(try isAccepted(file(differences: long, scan: [UInt8](repeating: 0, count: 136))))
        // Bits that no code has.
        for place in [0, 7, 39] {
            var scan = scan
            scan[place] = 0xF0
            #expect(try !isAccepted(file(differences: three, coefficients: two, scan: scan)), "\(place)")
        }
        #expect(try !isAccepted(file(scan: [UInt8](repeating: 0xAA, count: 16))))
    }

    @Test("Huffman codes that don't fit are refused, also with all bits set, and so are too many symbols")
    func overfull() throws {
        let scan = [UInt8](repeating: 0, count: 16)
        for counts in [[2], [3], [1, 2], [1, 1, 1, 5], [UInt8](repeating: 17, count: 16)] as [[UInt8]] {
            let code = Code(counts: counts, symbols: [UInt8](repeating: 0, count: counts.reduce(0) { $0 + Int($1) }))
            #expect(try !isAccepted(file(differences: code, scan: scan)), "\(counts)")
            #expect(try !isAccepted(file(coefficients: code, scan: scan)), "\(counts)")
        }
        // Differences have eleven bits at most.
        #expect(try !isAccepted(file(differences: Code(counts: [1, 1], symbols: [0, 12]), scan: scan)))
        #expect(try isAccepted(file(differences: Code(counts: [1, 1], symbols: [0, 11]), scan: scan)))
    }

    @Test("Restart markers that are missing, doubled, or out of order are left to libjpeg")
    func restarts() throws {
        let data = try Files.file(Files.picture(128, 128, noise: 40), quality: 0.8, restartRows: 1)
        let markers = try (0..<7).map { try #require(data.firstRange(of: Data([0xFF, 0xD0 + UInt8($0)]))) }
        #expect(try isAccepted(data))
        var damaged: [(String, Data)] = []
        for (number, marker) in markers.enumerated() {
            var other = data
            other.removeSubrange(marker)
            damaged.append(("missing \(number)", other))
            other = data
            other.insert(contentsOf: data[marker], at: marker.upperBound)
            damaged.append(("doubled \(number)", other))
            other = data
            other[marker.lowerBound + 1] = 0xD0 | UInt8(number + 1) & 7
            damaged.append(("out of order \(number)", other))
        }
        var swapped = data
        swapped[markers[2].lowerBound + 1] = 0xD3
        swapped[markers[3].lowerBound + 1] = 0xD2
        damaged.append(("swapped", swapped))
        damaged.append(("an interval missing", data[..<markers[1].lowerBound] + data[markers[2].lowerBound...]))
        for (name, data) in damaged { #expect(try !isAccepted(data, name), "\(name)") }
    }

    @Test("Other markers in a scan are left to libjpeg")
    func markers() throws {
        for restartRows in [0, 1] {
            let data = try Files.file(Files.picture(96, 96, noise: 40), quality: 0.8, restartRows: restartRows)
            let scan = try #require(data.firstRange(of: Data([0xFF, 0xDA])))
            let place = try #require(
                (scan.lowerBound + 400..<data.count).first { data[$0] != 0 && data[$0 - 1] != 0xFF })
            for segment in [
                [0xFF, 0xD9], [0xFF, 0xD8], [0xFF, 0x01], [0xFF, 0xD5], [0xFF, 0xFE, 0, 2], [0xFF, 0xC4, 0, 2],
                [0xFF, 0xDC, 0, 4, 0, 96], [0xFF, 0xDD, 0, 4, 0, 6], [0xFF, 0xFF], [0xFF],
            ] as [[UInt8]] {
                var marked = data
                marked.insert(contentsOf: segment, at: place)
                #expect(try !isAccepted(marked, "\(segment)"), "\(segment)")
            }
        }
    }

    @Test("A scan whose streams never find the start of an MCU is decoded by the first of them")
    func unsynchronized() throws {
        // All codes have one bit, so that a stream that begins in the middle of the 12 bits of an MCU stays there.
        let data = file(side: 640, isGray: false, scan: [UInt8](repeating: 0, count: 1_600 * 12 / 8))
        #expect(try isAccepted(data))
        #expect(try ThumbnailCoefficients.decode(data, last: 14, warmUp: 16)?.takeovers == 1)
        #expect(try !isAccepted(file(side: 640, isGray: false, scan: [UInt8](repeating: 0, count: 2_390))))
    }

    @Test("The largest size with a short scan is not for this decoder, and takes no memory", arguments: [false, true])
    func largest(progressive: Bool) throws {
        var data = try Files.file(Files.picture(96, 96, noise: 40), quality: 0.8, progressive: progressive)
        let frame = try #require(data.firstRange(of: Data([0xFF, progressive ? 0xC2 : 0xC0, 0, 17, 8])))
        data.replaceSubrange(frame.upperBound..<frame.upperBound + 4, with: [0xFF, 0xDC, 0xFF, 0xDC])
        #expect(try !isAccepted(data))
        let bytes = Array(data)
        var context = ProcessingContext(pool: PixelBufferPool(limit: 0))
        context.limits.maximumBytes = .gigabytes(1)
        let thumbnail = JPEGThumbnail(
            segments: data.withUnsafeBytes { JPEGSegments($0) },
            options: DecodeOptions(thumbnailSize: PixelSize(width: 60, height: 60)), context: context, shortestScan: 0)
        var color: DecodedColor?
        #expect(try thumbnail.decode(bytes.span, color: &color) == nil)
        #expect(context.pool.statistics.peakBytes == 0)
    }
}
