internal import TintypeImages

/// Makes a picture of the requested size from an image that fills the canvas.
struct WebPStillDecoder {
    /// The size that libwebp decodes at.
    let size: PixelSize
    /// True if libwebp leaves out its loop filter.
    let skipsFilter: Bool
    /// The size of the picture before the orientation.
    private let target: PixelSize
    private let orientation: Orientation
    private let color: DecodedColor
    private let hasAlpha: Bool
    private let hidesAlpha: Bool
    private let context: ProcessingContext

    init(
        _ frame: WebPContainer.Frame, info: ImageInfo, output: PixelSize, color: DecodedColor,
        context: ProcessingContext
    ) {
        target = info.orientation.stored(output)
        let factor = frame.hasAlpha ? 1 : Self.factor(frame.rect.size, for: target)
        skipsFilter = factor == 2
        size = factor > 2 ? Self.size(frame.rect.size, dividedBy: factor) : frame.rect.size
        orientation = info.orientation
        hasAlpha = frame.hasAlpha
        hidesAlpha = frame.hidesAlpha
        self.color = color
        self.context = context
    }

    /// The largest whole part of the size that is at least three times the target; the rest of the way is the resampler's.
    ///
    /// Measured against resampling the full image: from three times the target on 49 to 53 dB, from twice only 42 to 45. When libwebp makes
    /// a picture smaller, it leaves out its loop filter. But to half of the size, that takes it longer than the whole without the filter, which has
    /// 54 to 65 dB.
    ///
    /// Only for opaque images: libwebp averages the colors under transparent pixels in. And only for even sides: of others, libwebp
    /// stretches chroma by a pixel, which leaves 46 dB.
    private static func factor(_ stored: PixelSize, for target: PixelSize) -> Int {
        guard stored.width % 2 == 0, stored.height % 2 == 0 else { return 1 }
        return min(stored.width / (3 * target.width), stored.height / (3 * target.height))
    }

    private static func size(_ stored: PixelSize, dividedBy factor: Int) -> PixelSize {
        PixelSize(width: (stored.width + factor - 1) / factor, height: (stored.height + factor - 1) / factor)
    }

    /// The picture of pixels as libwebp gives them.
    /// - Parameter rows: the number of decoded rows; the others become transparent.
    func picture(_ pixels: consuming MutablePixelBuffer, rows: Int) throws(ImageError) -> PixelBuffer {
        // Few pixels are sooner converted than many.
        let convertsAfter = target.pixelCount < size.pixelCount && color.keepsAverages
        let finisher = RowFinisher(
            width: size.width, conversion: convertsAfter ? nil : color.conversion, premultiplies: hasAlpha,
            makesOpaque: hidesAlpha)
        for y in 0..<size.height {
            if y < rows {
                finisher.finish(pixels.row(y))
            } else {
                pixels.row(y).initializeMemory(as: UInt8.self, repeating: 0, count: size.width * 4)
            }
        }
        var picture = try pixels.freeze().resized(to: target, pool: context.pool)
        if convertsAfter, let conversion = color.conversion {
            picture = try conversion.convert(picture, hasAlpha: hasAlpha || rows < size.height, pool: context.pool)
        }
        return try picture.oriented(orientation, pool: context.pool)
    }
}
