import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("What every coder does", .timeLimited)
struct CoderMatrixTests {
    private let coders = FormatSample.coders

    private func decode(
        _ data: Data, context: ProcessingContext = ProcessingContext(),
        _ change: (inout DecodeOptions) -> Void = { _ in }
    ) throws -> Image {
        var options = DecodeOptions()
        change(&options)
        return try coders.decode(data, options: options, context: context)
    }

    @Test(
        "A limit of bytes makes the image smaller, all frames together", .capability("COD-17", "D12"),
        arguments: FormatSample.allCases)
    func maximumBytes(sample: FormatSample) throws {
        let data = try sample.data()
        let full = try decode(data)
        for limit in [40_000, 4_000, 1] {
            let image = try decode(data) { $0.maximumBytes = .bytes(limit) }
            let pixels = image.size.pixelCount * 4 * image.frames.count
            #expect(pixels <= limit || image.size == PixelSize(width: 1, height: 1))
            #expect(image.frames.count == full.frames.count)
            #expect(image.size == full.size.scaled(toBytes: limit, frames: full.frames.count))
            #expect(image.isThumbnail && image.properties.sourceSize == full.size)
        }
        let whole = try decode(data) { $0.maximumBytes = .bytes(full.size.pixelCount * 4 * full.frames.count) }
        #expect(whole.frames == full.frames)
        // The first frame alone has all the bytes.
        let first = try decode(data) {
            $0.maximumBytes = .bytes(full.size.pixelCount * 4)
            $0.firstFrameOnly = true
        }
        #expect(first.size == full.size)
    }

    @Test("A thumbnail is enlarged only where that is allowed", .capability("CTX-12"), arguments: FormatSample.allCases)
    func upscaling(sample: FormatSample) throws {
        let data = try sample.data()
        let full = try decode(data)
        let box = PixelSize(width: 400, height: 400)
        #expect(try decode(data) { $0.thumbnailSize = box }.size == full.size)
        let large = try decode(data) {
            $0.thumbnailSize = box
            $0.allowsUpscaling = true
        }
        #expect(
            large.size == full.size.scaled(into: box, upscaling: true)
                && max(large.size.width, large.size.height) == 400)
        #expect(large.frames.count == full.frames.count)
        #expect(RasterSamples.psnr(large.pixels, try full.pixels.resized(to: large.size)) > 45)
        let stretched = try decode(data) {
            $0.thumbnailSize = PixelSize(width: 300, height: 50)
            $0.preservesAspectRatio = false
            $0.allowsUpscaling = true
        }
        #expect(stretched.size == PixelSize(width: 300, height: 50))
    }

    @Test(
        "What a decode reserves is at least what it takes of the pool, at every size", .capability("3.1"),
        arguments: FormatSample.allCases)
    func reservation(sample: FormatSample) throws {
        let data = try sample.data()
        for side in [nil, 40, 400] as [Int?] {
            for keepsColorSpace in [false, true] {
                let pool = PixelBufferPool(limit: 0)
                let budget = DecodeBudget(limit: .gigabytes(1))
                _ = try decode(data, context: ProcessingContext(pool: pool, budget: budget)) {
                    $0.thumbnailSize = side.map { PixelSize(width: $0, height: $0) }
                    $0.allowsUpscaling = true
                    $0.keepsColorSpace = keepsColorSpace
                }
                let (taken, reserved) = (pool.statistics.peakBytes, budget.statistics.peakBytes)
                #expect(taken > 0 && taken <= reserved, "\(side ?? 0): \(taken) of \(reserved)")
                #expect(reserved <= taken * 16 + 500_000, "\(side ?? 0): \(taken) of \(reserved)")
                #expect(budget.statistics.reservedBytes == 0 && budget.statistics.decodes == 0)
            }
        }
    }

    @Test("An error gives back what was reserved", .capability("3.1"), arguments: FormatSample.allCases)
    func failure(sample: FormatSample) throws {
        let data = try sample.data()
        let budget = DecodeBudget(limit: .gigabytes(1))
        for count in stride(from: 20, to: data.count, by: max(1, data.count / 30)) {
            _ = try? decode(data.prefix(count), context: ProcessingContext(budget: budget))
        }
        #expect(throws: ImageError.self) {
            try decode(data, context: ProcessingContext(budget: budget, isCancelled: { true }))
        }
        #expect(budget.statistics.reservedBytes == 0 && budget.statistics.decodes == 0)
    }

    /// Files of which there is nothing to show: decoders of AV1 and HEVC give whole frames, the directory of a TIFF stands behind
    /// its pixels, and libjxl shows nothing of an image with one group.
    private static let wholeOnly: Set<String> = ["avif", "heic", "tiff", "jxl", "losslessJXL"]

    @Test(
        "What is cut is an error, or where the options allow it an image that says so", .capability("3.8"),
        arguments: FormatSample.allCases)
    func cut(sample: FormatSample) throws {
        let data = try sample.data()
        var partial = 0
        for percent in [50, 70, 90] {
            let part = Data(data.prefix(data.count * percent / 100))
            expectCode(.truncatedImage) { try decode(part) }
            do throws(ImageError) {
                var options = DecodeOptions()
                options.allowsPartialImage = true
                let image = try coders.decode(part, options: options, context: ProcessingContext())
                #expect(image.isPartial)
                partial += 1
            } catch {
                #expect(error.code == .truncatedImage)
            }
        }
        #expect(Self.wholeOnly.contains(sample.rawValue) ? partial == 0 : partial > 0)
    }

    @Test("Cancellation ends a decode that is under way", arguments: FormatSample.allCases)
    func cancellation(sample: FormatSample) throws {
        let data = try sample.data()
        // However often somebody still wanted the image, the next look ends it. At first each number is tried, then every eighth part more.
        var looks = 0
        while true {
            let left = Lock(looks)
            let context = ProcessingContext(isCancelled: {
                left.withLock { left in
                    left -= 1
                    return left < 0
                }
            })
            do throws(ImageError) {
                _ = try coders.decode(data, options: DecodeOptions(), context: context)
                break
            } catch {
                #expect(error.isCancellation)
                looks += max(1, looks / 8)
            }
            guard looks < 1_000 else { break }
        }
        #expect(looks >= 1)
    }
}
