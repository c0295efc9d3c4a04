internal import FoundationEssentials
internal import TintypeImages

/// The capabilities of a format that is written.
struct EncodeTarget {
    let format: ImageFormat
    /// The longest side that the format, or the library that writes it, can do.
    let maximumSide: Int
    /// True for a format, or a library, with a single frame only.
    var isStill = false
    /// True if a file can contain a color profile.
    var storesProfile = true
    /// The pixels that are written besides ``PixelFormat/rgba8``, which always is.
    var formats: Set<PixelFormat> = []
}

/// The steps that all encoders take before the writing itself.
enum EncodePreparation {
    /// The image as it is to be written: its first frame or all of them, shrunk into the box of the options, and in sRGB
    /// where the format cannot say anything else, or the profile says nothing.
    ///
    /// Pixels of more bits than the target takes are reduced: see ``DepthReduction``.
    /// - Throws: ``ImageError/Code/encodeFailed`` for an image that the format cannot hold, before any memory is taken.
    static func prepare(
        _ image: Image, for target: EncodeTarget, _ options: EncodeOptions, _ context: ProcessingContext
    ) throws(ImageError) -> Image {
        let size = options.maximumSize.map { $0.isEmpty ? image.size : image.size.scaled(into: $0) } ?? image.size
        guard max(size.width, size.height) <= target.maximumSide else {
            throw ImageError(
                .encodeFailed, stage: .encode,
                reason:
                    "the image has \(size) pixels, but \(target.format) holds at most \(target.maximumSide) per side; set EncodeOptions.maximumSize"
            )
        }
        let reduced = try DepthReduction.reduce(
            options.firstFrameOnly || target.isStill ? image.firstFrame : image, to: target.formats, options, context)
        // Pixels with a profile that gives their numbers no meaning count as sRGB, as when they are decoded.
        let dropsProfile =
            reduced.colorSpace.profile.map { !target.storesProfile || !ColorConversion.isUsable($0) } ?? false
        let conversion =
            dropsProfile
            ? reduced.colorSpace.profile.flatMap { RecentConversions.conversion(of: $0, .rgb, reduced.pixels.format) }
            : nil
        guard size != reduced.size || conversion != nil else {
            return dropsProfile ? reduced.with { $0.colorSpace = .sRGB } : reduced
        }
        let hasAlpha = reduced.hasAlpha
        let changed = try reduced.mappingPixels { pixels throws(ImageError) in
            try context.checkCancellation()
            let resized = try pixels.resized(to: size)
            return try conversion?.convert(resized, hasAlpha: hasAlpha) ?? resized
        }
        return dropsProfile ? changed.with { $0.colorSpace = .sRGB } : changed
    }
}
