#if AVIF || HEIF || JXL || TIFF || SVG || PDF || RAW
import Foundation
import Testing
import TintypeCore

/// What every coder must do, with a file of its own.
enum TraitCoderChecks {
    /// A file that is cut anywhere ends in the error that says so.
    static func expectTruncation(_ coder: some ImageCoder, _ data: Data) {
        for percent in stride(from: 10, through: 90, by: 10) {
            let cut = Data(data.prefix(data.count * percent / 100))
            do throws(ImageError) {
                _ = try coder.decode(cut, options: DecodeOptions(), context: DecodeContext())
                Issue.record("\(percent) % of the file were enough")
            } catch { #expect(error.code == .truncatedImage, "\(percent) %: \(error.reason)") }
        }
    }

    /// Limits refuse an image by its header, and nobody's image is not decoded.
    static func expectLimits(_ coder: some ImageCoder, _ data: Data) {
        var context = DecodeContext()
        context.limits.maximumPixels = 10
        expectCode(.limitExceeded) { try coder.decode(data, options: DecodeOptions(), context: context) }
        context.limits = DecodeLimits()
        context.limits.maximumBytes = 100
        expectCode(.limitExceeded) { try coder.decode(data, options: DecodeOptions(), context: context) }
        let cancelled = DecodeContext(isCancelled: { true })
        expectCode(.cancelled) { try coder.decode(data, options: DecodeOptions(), context: cancelled) }
    }

    /// Thumbnails have the size of the box, close to a reduction of the full image, and are not enlarged.
    static func expectThumbnails(_ coder: some ImageCoder, _ data: Data, psnr: Double = 40) throws {
        let full = try coder.decode(data)
        let box = PixelSize(width: full.size.width / 3, height: full.size.height / 3)
        let small = try coder.decode(data) { $0.thumbnailSize = box }
        #expect(small.size == full.size.scaled(into: box) && small.isThumbnail)
        #expect(RasterSamples.psnr(small.pixels, try full.pixels.resized(to: small.size)) > psnr)
        let huge = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 5_000, height: 5_000) }
        #expect(huge.size == full.size)
    }
}
#endif
