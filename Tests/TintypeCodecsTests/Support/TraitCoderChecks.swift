#if AVIF || HEIF || JXL || TIFF || SVG || PDF || RAW
import Foundation
import Testing
import TintypeImages

/// What every coder must do, with a file of its own.
enum TraitCoderChecks {
    /// A file that is cut anywhere ends in the error that says so.
    static func expectTruncation(_ coder: some ImageCoder, _ data: Data) {
        for percent in stride(from: 10, through: 90, by: 10) {
            let cut = Data(data.prefix(data.count * percent / 100))
            do throws(ImageError) {
                _ = try coder.decode(cut, options: DecodeOptions(), context: ProcessingContext())
                Issue.record("\(percent) % of the file were enough")
            } catch { #expect(error.code == .truncatedImage, "\(percent) %: \(error.reason)") }
        }
    }

    /// Limits refuse an image by its header, and nobody's image is not decoded.
    static func expectLimits(_ coder: some ImageCoder, _ data: Data) {
        var context = ProcessingContext()
        context.limits.maximumPixels = 10
        expectCode(.limitExceeded) { try coder.decode(data, options: DecodeOptions(), context: context) }
        context.limits = DecodeLimits()
        context.limits.maximumBytes = 100
        expectCode(.limitExceeded) { try coder.decode(data, options: DecodeOptions(), context: context) }
        let cancelled = ProcessingContext(isCancelled: { true })
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

    /// Without loss every pixel comes back, also the translucent ones.
    static func expectLossless(_ coder: some ImageCoder, _ format: ImageFormat) throws {
        var options = EncodeOptions()
        options.lossless = true
        let pixels = try RasterSamples.translucentNoise(67, 41, seed: 1)
        let image = try coder.decode(try coder.encode(makeImage(pixels), as: format, options: options))
        #expect(image.pixels == pixels)
        #expect(image.hasAlpha && image.format == format && !image.isAnimated)
        let opaque = try RasterSamples.gradient(33, 300)
        let decoded = try coder.decode(try coder.encode(opaque, as: format, options: options))
        #expect(decoded.pixels == opaque.pixels && !decoded.hasAlpha)
    }

    /// With loss the picture is close, quality costs bytes, and a limit of bytes is kept, or an error.
    /// - Parameters:
    ///   - psnr: how close it is at high quality, in decibels.
    ///   - tooFew: a number of bytes that the format cannot write any picture in.
    static func expectLossy(
        _ coder: some ImageCoder, _ format: ImageFormat, _ image: Image, psnr: Double, tooFew: Int
    ) throws {
        let low = try coder.encode(image, as: format, options: EncodeOptions(quality: 0.15))
        let high = try coder.encode(image, as: format, options: EncodeOptions(quality: 0.95))
        #expect(low.count < high.count)
        #expect(RasterSamples.psnr(try coder.decode(high).pixels, image.pixels) > psnr)
        let limit = (low.count + high.count) / 2
        #expect(try coder.encode(image, as: format, options: EncodeOptions(maximumBytes: .bytes(limit))).count <= limit)
        expectCode(.encodeFailed) {
            try coder.encode(image, as: format, options: EncodeOptions(maximumBytes: .bytes(tooFew)))
        }
    }
}
#endif
