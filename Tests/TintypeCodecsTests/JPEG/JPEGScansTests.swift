import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

@Suite("JPEG, scans that a thumbnail does not need", .timeLimited)
struct JPEGScansTests {
    let context = ProcessingContext()

    /// A progressive file: with colors at half the resolution below a quality of 0.95.
    private func file(_ width: Int, _ height: Int, quality: Double = 0.9) throws -> Data {
        var options = EncodeOptions()
        options.progressive = true
        options.quality = quality
        return try JPEGCoder().encode(RasterSamples.gradient(width, height), as: .jpeg, options: options)
    }

    private func thumbnail(
        _ data: Data, _ side: Int, isFast: Bool = false, skips: Bool = true, isPartial: Bool = false
    ) throws(ImageError) -> Image {
        var options = DecodeOptions(thumbnailSize: PixelSize(width: side, height: side))
        options.prefersFastThumbnail = isFast
        options.allowsPartialImage = isPartial
        return try data.withBytes { bytes throws(ImageError) in
            try JPEGDecoder(
                segments: JPEGSegments(bytes), options: options, context: context, skipsScans: skips
            ).run(bytes)
        }
    }

    private func scans(_ data: Data) -> JPEGScans? { data.withUnsafeBytes { JPEGScans($0) } }

    @Test(
        "Without the scans that a thumbnail cannot show it has the same pixels",
        arguments: [0.9, 0.97], [21, 40, 90, 150])
    func exact(quality: Double, side: Int) throws {
        let data = try file(201, 173, quality: quality)
        #expect(try thumbnail(data, side).pixels == thumbnail(data, side, skips: false).pixels)
    }

    @Test("At an eighth of the size, means are all that is decoded, and of smaller colors what they have more")
    func eighth() throws {
        for (quality, keepsColors) in [(0.9, true), (0.97, false)] {
            let data = try file(64, 64, quality: quality)
            let scans = try #require(self.scans(data))
            for (scan, isKept) in zip(scans.scans, scans.keeps(eighths: 1, isFast: false)) {
                #expect(isKept == (scan.isMeans || keepsColors && !scan.components.contains(0)))
            }
            #expect(scans.keeps(eighths: 2, isFast: false).allSatisfy { $0 })
            #expect(scans.keeps(eighths: 8, isFast: true).allSatisfy { $0 })
        }
    }

    @Test("A fast thumbnail leaves most of the file out, and stays above 40 dB")
    func fast() throws {
        let data = try file(400, 300)
        for side in [40, 90] {
            let high = try thumbnail(data, side)
            let fast = try thumbnail(data, side, isFast: true)
            #expect(fast.size == high.size)
            #expect(fast.pixels != high.pixels)
            #expect(!fast.isPartial)
            #expect(RasterSamples.psnr(fast.pixels, high.pixels) > 40)
        }
        let file = data.withUnsafeBytes { JPEGScans($0)?.file(of: $0, eighths: 2, isFast: true) }
        let kept = try #require(file)
        #expect(kept.count < data.count * 2 / 3)
        // At its full size nothing is left out.
        #expect(try thumbnail(data, 400, isFast: true).pixels == thumbnail(data, 400).pixels)
    }

    @Test("A refinement that is needed keeps what it refines, of the same component alone")
    func refinements() throws {
        // Luminance: 1 to 5 to the third bit, 6 to 63 to the third, then all to the second; one color likewise.
        let data = Self.file([
            ([1, 2], 0, 0, 0), ([1], 1, 5, 0x03), ([1], 6, 63, 0x03), ([1], 1, 63, 0x32), ([1], 1, 63, 0x21),
            ([2], 1, 63, 0x01), ([2], 1, 63, 0x10),
        ])
        let scans = try #require(self.scans(data))
        #expect(scans.scans.map(\.isRefinement) == [false, false, false, true, true, false, true])
        #expect(scans.scans.map(\.missingBits) == [0, 3, 3, 2, 1, 1, 0])
        // The refinement to the second bit counts, and with it the band above.
        #expect(scans.keeps(eighths: 2, isFast: true) == [true, true, true, true, false, false, false])
        // Both components have the full resolution.
        #expect(scans.keeps(eighths: 1, isFast: false) == [true] + Array(repeating: false, count: 6))
        let few = try #require(
            self.scans(Self.file([([1, 2], 0, 0, 0), ([1], 1, 5, 2), ([1], 6, 63, 2), ([1], 1, 63, 0x21)])))
        #expect(few.keeps(eighths: 2, isFast: true) == [true, true, false, false])
    }

    @Test("What stands between scans is kept: tables, restarts and the markers of applications")
    func between() throws {
        let data = Self.file(
            [([1], 0, 0, 0), ([1], 1, 63, 0), ([1], 1, 5, 0x10)],
            data: [0x12, 0xFF, 0x00, 0xFF, 0xD0, 0xFF, 0xD7, 0x34])
        let scans = try #require(self.scans(data))
        #expect(scans.scans.count == 3)
        let kept = data.withUnsafeBytes { scans.file(of: $0, eighths: 1, isFast: false) }
        #expect(kept == Self.file([([1], 0, 0, 0)], data: [0x12, 0xFF, 0x00, 0xFF, 0xD0, 0xFF, 0xD7, 0x34], tables: 3))
    }

    @Test("Files that are not progressive, cut off, or out of order are left as they are")
    func refused() throws {
        let whole = Self.file([([1], 0, 0, 0), ([1], 1, 63, 0)])
        #expect(scans(whole) != nil)
        for count in 2..<whole.count { #expect(scans(whole.prefix(count)) == nil, "\(count) bytes") }
        #expect(
            try scans(JPEGCoder().encode(RasterSamples.gradient(20, 20), as: .jpeg, options: EncodeOptions())) == nil)
        let broken: [[Script]] = [
            [([3], 0, 0, 0)], [([1, 1], 0, 0, 0)], [([1], 0, 5, 0)], [([1], 5, 4, 0)], [([1], 1, 64, 0)],
            [([1], 217, 217, 0)], [([1, 2], 1, 5, 0)], [([1], 0, 0, 0x31)], [([1], 0, 0, 0x0E)], [([], 0, 0, 0)], [],
        ]
        for script in broken { #expect(scans(Self.file(script)) == nil, "\(script)") }
    }

    @Test("Damage and a missing end give an image or an error as before, and never crash", .capability("3.8"))
    func damage() throws {
        let data = try file(90, 70)
        var random = SeededRandom(seed: 12)
        for round in 0..<200 {
            let broken =
                round % 3 == 0
                ? Data(data.prefix(Int.random(in: 20..<data.count, using: &random)))
                : data.damaged(1 + round % 5, from: 2, using: &random)
            for isFast in [false, true] {
                _ = try? thumbnail(broken, [8, 20, 40][round % 3], isFast: isFast, isPartial: round % 2 == 0)
            }
            guard round % 3 == 0 else { continue }
            let outcome = Result { () throws(ImageError) -> Image in try thumbnail(broken, 8, isFast: true) }
            let reference = Result { () throws(ImageError) -> Image in try thumbnail(broken, 8, skips: false) }
            guard case .failure(let error) = outcome, case .failure(let other) = reference else {
                Issue.record("an image was made of \(broken.count) of \(data.count) bytes")
                continue
            }
            #expect(error.code == other.code)
        }
    }

    @Test("Coefficients over the limit are refused before memory is taken", .capability("3.1"))
    func limit() throws {
        var context = ProcessingContext()
        context.limits.maximumBytes = 200_000
        let data = try file(400, 300)
        let options = DecodeOptions(thumbnailSize: PixelSize(width: 30, height: 30))
        expectCode(.limitExceeded) { try JPEGCoder().decode(data, options: options, context: context) }
        context.limits.maximumBytes = 1_000_000
        #expect(
            try JPEGCoder().decode(data, options: options, context: context).size == PixelSize(width: 30, height: 23))
    }

    // MARK: Files without pixels

    /// Components, the first and last coefficient, and the bits before and after.
    private typealias Script = (components: [UInt8], first: UInt8, last: UInt8, bits: UInt8)

    /// A progressive file of two components at full resolution, with a table before each scan.
    /// - Parameter tables: how many tables there are, if not one for each scan.
    private static func file(_ scans: [Script], data: [UInt8] = [0x55], tables: Int? = nil) -> Data {
        var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2]
        file += [0xFF, 0xC2, 0, 14, 8, 0, 8, 0, 8, 2, 1, 0x11, 0, 2, 0x11, 0]
        let table: [UInt8] = [0xFF, 0xC4, 0, 3, 0]
        for scan in scans {
            let count = UInt8(scan.components.count)
            file += table + [0xFF, 0xDA, 0, 6 + 2 * count, count] + scan.components.flatMap { [$0, 0] }
            file += [scan.first, scan.last, scan.bits] + data
        }
        for _ in scans.count..<max(scans.count, tables ?? 0) { file += table }
        return Data(file + [0xFF, 0xD9])
    }
}
