internal import TintypeImages

/// Converts pixels to a format that an encoder can write, with the least loss.
///
/// - 16 bits are rounded to 8 where the format has no more.
/// - High dynamic range that is not written as such is tone-mapped, as it is when it is decoded to standard range.
/// - Floating-point pixels of standard range are cut off at 0 and at white.
enum DepthReduction {
    /// Returns the formats, besides 8 bits, of an encoder that writes floating-point pixels as PQ, and writes only high dynamic range as
    /// PQ.
    static func codedFormats(_ image: Image) -> Set<PixelFormat> {
        image.isHighDynamicRange ? [.rgba16, .rgbaFloat16] : [.rgba16]
    }

    /// - Parameter formats: the encoder's formats besides 8 bits; floating point only for an image that is written as such.
    static func reduce(
        _ image: Image, to formats: Set<PixelFormat>, _ options: EncodeOptions,
        _ context: ProcessingContext = ProcessingContext()
    ) throws(ImageError) -> Image {
        let isToneMapped = image.isHighDynamicRange && options.encodeToHDR == .none
        @Sendable func isTaken(_ format: PixelFormat) -> Bool {
            format == .rgba8 || formats.contains(format) && !(format == .rgbaFloat16 && isToneMapped)
        }
        guard image.isAnimated || !isTaken(image.pixels.format) else { return image }
        let isHighDynamicRange = image.isHighDynamicRange
        let reduced = try image.mappingPixels { pixels throws(ImageError) in
            guard !isTaken(pixels.format) else { return pixels }
            try context.checkCancellation()
            let isMapped = pixels.format == .rgbaFloat16 && isHighDynamicRange
            return try (isMapped ? toneMapped(pixels) : pixels)
                .converted(to: formats.contains(.rgba16) ? .rgba16 : .rgba8)
        }
        return reduced.with {
            guard $0.colorSpace == .extendedSRGB else { return }
            $0.colorSpace = .sRGB
            $0.isHighDynamicRange = false
        }
    }

    /// Half-precision pixels of high dynamic range as premultiplied sRGB of 16 bits.
    private static func toneMapped(_ pixels: PixelBuffer) throws(ImageError) -> PixelBuffer {
        let mapped = try MutablePixelBuffer(size: pixels.size, format: .rgba16, cleared: false)
        for y in 0..<pixels.height {
            let row = mapped.row(y).assumingMemoryBound(to: UInt16.self)
            pixels.withRow(y) { bytes in
                if let base = bytes.baseAddress { ExtendedPixels.toneMap(base, to: row, count: pixels.width) }
            }
        }
        return mapped.freeze()
    }
}
