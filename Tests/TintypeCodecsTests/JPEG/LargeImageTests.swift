import FoundationEssentials
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Large images", .timeLimited)
struct LargeImageTests {
    /// A gray JPEG of any size: each block is its mean alone, and equals the one before, which takes five zero bits.
    private func gray(_ side: Int) throws -> Data {
        var data = HandmadeJPEG(values: [128]).data
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0]))
        let sides = [UInt8(side >> 8), UInt8(side & 0xFF)]
        data.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: sides + sides)
        let scan = try #require(data.firstRange(of: [0xFF, 0xDA]))
        let blocks = ((side + 7) / 8) * ((side + 7) / 8)
        return data[..<(scan.lowerBound + 10)] + Data(count: (blocks * 5 + 7) / 8) + [0xFF, 0xD9]
    }

    /// A progressive JPEG of any size, whose scans behind the first, of all frequencies, have no data.
    /// - Parameter precision: The bits before and after each scan, in four bits each.
    private func progressive(_ side: Int, scans: Int, precision: UInt8) throws -> Data {
        var data = try gray(side)
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0]))
        data[frame.lowerBound + 1] = 0xC2
        let scan = try #require(data.firstRange(of: [0xFF, 0xDA]))
        var header = data[scan.lowerBound..<scan.lowerBound + 10]
        header.replaceSubrange(header.endIndex - 3..<header.endIndex, with: [1, 63, precision])
        data.replaceSubrange(scan.lowerBound + 7..<scan.lowerBound + 10, with: [0, 0, 0])
        return data.dropLast(2) + (0..<scans).reduce(into: Data()) { file, _ in file += header } + [0xFF, 0xD9]
    }

    @Test("More scans than a picture of its size may have are over a limit", .capability("3.1"))
    func scans() throws {
        let data = try progressive(4_096, scans: 300, precision: 0)
        expectCode(.limitExceeded) { try JPEGCoder().decode(data) }
        #expect(JPEGPlan.maximumScans(PixelSize(width: 16_384, height: 16_384)) == 20)
        #expect(JPEGPlan.maximumScans(PixelSize(width: 100, height: 100)) == 500)
    }

    @Test("Scans that refine what isn't there end a decode after the first of them", .capability("3.1"))
    func refinements() throws {
        let data = try progressive(512, scans: 400, precision: 0x10)
        let checks = Lock(0)
        let context = ProcessingContext {
            checks.withLock { $0 += 1 }
            return false
        }
        expectCode(.corruptImage) { try JPEGCoder().decode(data, options: DecodeOptions(), context: context) }
        // There is a check for each scan at least.
        #expect(checks.withLock { $0 } < 60)
    }

    @Test(
        "A thumbnail of 10,000×10,000 pixels takes a small part of a budget of 64 MB, on every way",
        .capability("3.1", "COD-35"))
    func budget() throws {
        let data = try gray(10_000)
        var options = DecodeOptions()
        options.thumbnailSize = PixelSize(width: 400, height: 400)
        for (shortestScan, coder) in [(JPEGThumbnail.shortestScan, "direct"), (nil, "libjpeg")] as [(Int?, String)] {
            let (pool, budget) = (PixelBufferPool(limit: .megabytes(64)), DecodeBudget(limit: .megabytes(64)))
            let context = ProcessingContext(pool: pool, budget: budget)
            let image = try data.withBytes { bytes throws(ImageError) in
                var decoder = JPEGDecoder(segments: JPEGSegments(bytes), options: options, context: context)
                decoder.shortestScan = shortestScan
                return try decoder.run(bytes)
            }
            #expect(image.size == PixelSize(width: 400, height: 400) && image.pixels[200, 200] == [128, 128, 128, 255])
            let (reserved, taken) = (budget.statistics.peakBytes, pool.statistics.peakBytes)
            #expect(reserved > 0 && reserved < 16 << 20 && taken <= reserved, "\(coder): \(reserved), \(taken)")
        }
        // The whole image doesn't fit: it waits until it is alone, and is 400 MB.
        let budget = DecodeBudget(limit: .megabytes(64))
        let cost = try JPEGCoder().info(of: data, context: ProcessingContext()).size.pixelCount * 4
        #expect(cost > budget.limit.bytes * 5)
    }
}
