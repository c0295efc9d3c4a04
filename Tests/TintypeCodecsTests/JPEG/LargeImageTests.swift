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
