internal import FoundationEssentials
package import TintypeImages

extension JPEGGainMap {
    /// Returns the image of the file with the gain applied: in high dynamic range, and half precision.
    ///
    /// The light of each pixel is multiplied as ISO 21496-1, clause 6, describes, with the map enlarged smoothly to the size of the image.
    /// The gain applies to the components of sRGB, also if the file has other primaries; with a single component in the map that makes no
    /// difference. Works on the calling thread.
    /// - Parameters:
    ///   - image: The whole image of the file, at any size, in sRGB. Of an animation, the first frame counts.
    ///   - headroom: The headroom of the display, the binary logarithm of the ratio of its brightest to diffuse white. `nil` for the whole
    ///     gain.
    ///   - context: The limits, the memory, and the check for cancellation.
    /// - Throws: ``ImageError/Code/transformFailed`` for a gain map without parameters that Tintype knows, or for an image that isn't in
    ///   sRGB of standard range; the errors of decoding the map; ``ImageError/Code/limitExceeded``; and ``ImageError/Code/outOfMemory``.
    package func applied(
        to image: Image, headroom: Double? = nil, context: ProcessingContext = ProcessingContext()
    ) throws(ImageError) -> Image {
        try GainMapParameters.apply(parameters, to: image, headroom: headroom, context) { () throws(ImageError) in
            try pixels(turnedLike: image, context)
        }
    }

    /// Decodes the map, upright if the image is that of the file.
    func pixels(turnedLike image: Image, _ context: ProcessingContext) throws(ImageError) -> PixelBuffer {
        let values = try data.withBytes { bytes throws(ImageError) -> Image in
            var segments = JPEGSegments(bytes)
            // The values aren't colors, and lie like those of the image, whatever the map says of itself.
            segments.profile = nil
            segments.orientation = .up
            return try JPEGDecoder(segments: segments, options: DecodeOptions(), context: context).run(bytes)
        }
        return try values.pixels.oriented(image.properties.sourceOrientation, pool: context.pool)
    }
}

extension GainMapParameters {
    /// Makes an image of high dynamic range of one whose options ask for it. An image that the gain can't be applied to stays as it is: one of which a
    /// part is missing, one with transparency, one whose colors are kept, and one whose map is damaged or has parameters that aren't known.
    /// - Parameter map: Decodes the gain map, upright, in 8 bits.
    static func applyWherePossible(
        _ parameters: GainMapParameters?, to image: Image, _ context: ProcessingContext,
        map: () throws(ImageError) -> PixelBuffer
    ) throws(ImageError) -> Image {
        do throws(ImageError) {
            guard !image.isAnimated, !image.isPartial else { return image }
            return try apply(parameters, to: image, headroom: nil, context, map: map)
        } catch {
            guard error.isDamage || [.transformFailed, .formatNotEnabled].contains(error.code) else { throw error }
            return image
        }
    }

    /// Makes an image of high dynamic range.
    /// - Parameter map: Decodes the gain map, upright, in 8 bits.
    static func apply(
        _ parameters: GainMapParameters?, to image: Image, headroom: Double?, _ context: ProcessingContext,
        map: () throws(ImageError) -> PixelBuffer
    ) throws(ImageError) -> Image {
        guard let parameters, parameters.alternateHeadroom > parameters.baseHeadroom else {
            throw inapplicable("its parameters are missing, or aren't for a base image of standard range")
        }
        guard !image.isHighDynamicRange, !image.hasAlpha, image.colorSpace == .sRGB else {
            throw inapplicable("the image must be opaque, and in sRGB of standard range")
        }
        try context.limits.check(
            size: image.size, output: image.size, bytesPerPixel: PixelFormat.rgbaFloat16.bytesPerPixel)
        let map = try map()
        // The map at the size of the image, the image in 8 bits, and the result.
        let reservation = try context.reserve(image.size.pixelCount * 16)
        defer { reservation.release() }
        let gains = try map.resized(to: image.size, pool: context.pool)
        let base = image.pixels
        let tables = GainTables(parameters, weight: parameters.weight(headroom: headroom))
        let result = try MutablePixelBuffer(size: image.size, format: .rgbaFloat16, cleared: false, pool: context.pool)
        for row in 0..<image.size.height {
            if row % 64 == 0 { try context.checkCancellation() }
            let target = result.row(row)
            gains.withRow(row) { map in base.withRow(row) { tables.apply(map, to: $0, base.format, target) } }
        }
        var properties = image.properties
        properties.isHighDynamicRange = true
        properties.colorSpace = .extendedSRGB
        properties.bitsPerComponent = 16
        return Image(pixels: result.freeze(), properties: properties)
    }

    private static func inapplicable(_ reason: String) -> ImageError {
        ImageError(.transformFailed, stage: .transform, reason: "the gain map can't be applied: \(reason)")
    }
}
