/// Options for decoding an image. They are part of the image's identity: two loads of a URL with equal options share a decode.
///
/// ```swift
/// var options = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 300))
/// options.firstFrameOnly = true
/// let still = try Image(data: data, options: options)
/// ```
///
/// Options with settings of a single format can't be encoded with `Codable`.
public struct DecodeOptions: Sendable, Hashable, Codable {
    /// The box, in pixels, that the upright image has to fit in; `nil`, or a box with a side below 1, for the full image. The
    /// image is decoded at that size, and never enlarged unless ``allowsUpscaling`` is true or it is a drawing (SVG, PDF).
    public var thumbnailSize: PixelSize?
    /// True to preserve the proportions of a thumbnail, which fits into the box; false to stretch it to the box. When stretching, a side
    /// that is shorter than the box's keeps its length, unless ``allowsUpscaling`` is true or the image is a drawing.
    public var preservesAspectRatio = true
    /// True for a proportional thumbnail that covers the box instead of fitting into it: both sides are at least as long as the box's. No
    /// side is enlarged.
    public var coversThumbnailSize = false
    /// True if a thumbnail may be larger than its source.
    public var allowsUpscaling = false
    /// True to decode thumbnails faster, at a quality of about 45 dB relative to a Lanczos reduction of the full image, measured on
    /// photographs: edges may be slightly softer or rougher. Otherwise there is no visible difference (more than 52 dB).
    ///
    /// Only JPEG has a faster way: it is decoded at the requested size or more, instead of twice the size or more. In a progressive JPEG,
    /// the scans that contribute least aren't decoded, unless previews needed them.
    public var prefersFastThumbnail = false
    /// The largest number of bytes for the pixels of all frames, without the padding of rows. A larger image is decoded at a smaller size,
    /// whereas ``DecodeLimits`` reject it. With ``decodeToHDR``, each pixel counts as eight bytes, the most that it may have.
    public var maximumBytes: ByteCount?
    /// The page of a document with several pages, such as PDF, TIFF, and HEIC, counted from 0. Formats with a single page ignore it.
    ///
    /// Decoding a page that the document doesn't have throws ``ImageError/Code/pageOutOfRange``.
    public var page = 0
    /// Decodes only the first frame of an animation.
    public var firstFrameOnly = false
    /// The number of pixels per point of the result, at least 1; `nil`, the default, for the scale in the name of the source, such as 2 for
    /// `photo@2x.png`, and otherwise 1. A number that is less, infinite, or not a number counts as 1.
    public var scale: Double?
    /// True to decode a truncated image as far as possible and mark it as partial, instead of throwing an error.
    public var allowsPartialImage = false
    /// Keeps the pixels in the source's color space instead of converting them to sRGB.
    public var keepsColorSpace = false
    /// Preserves more than 8 bits and brightness beyond white, if the coder can.
    ///
    /// PQ and HLG become ``PixelFormat/rgbaFloat16`` in ``ColorSpace/extendedSRGB``, and other sources of more than 8 bits become
    /// ``PixelFormat/rgba16``. If ``keepsColorSpace`` is also true, PQ and HLG remain unconverted, in 16 bits. A coder may choose floating
    /// point for sources that have it, as the JPEG XL coder does.
    ///
    /// If this is false, the default, every image is ``PixelFormat/rgba8``: deeper components are rounded to 8 bits, and PQ and HLG are
    /// tone-mapped to the range of sRGB. Gain maps of JPEG, HEIC and AVIF are applied only if it is true. Previews of an arriving PNG, and
    /// frames of animated PNG and HEIC sequences, always have 8 bits.
    public var decodeToHDR = false
    /// The format to assume if the signature is ambiguous, as with camera files.
    public var formatHint: ImageFormat?
    package var formatSettings = FormatSettings()

    /// Accesses the settings of a coder. Unset settings have their defaults.
    /// - Parameter type: the type of the settings.
    public subscript<Options: FormatOptions>(_ type: Options.Type) -> Options {
        get { formatSettings[type] }
        set { formatSettings[type] = newValue }
    }

    /// Creates options. Each parameter sets the property of the same name.
    public init(
        thumbnailSize: PixelSize? = nil, preservesAspectRatio: Bool = true, allowsUpscaling: Bool = false,
        prefersFastThumbnail: Bool = false, maximumBytes: ByteCount? = nil, firstFrameOnly: Bool = false,
        scale: Double? = nil, allowsPartialImage: Bool = false, keepsColorSpace: Bool = false,
        decodeToHDR: Bool = false,
        formatHint: ImageFormat? = nil, coversThumbnailSize: Bool = false
    ) {
        self.thumbnailSize = thumbnailSize
        self.preservesAspectRatio = preservesAspectRatio
        self.allowsUpscaling = allowsUpscaling
        self.prefersFastThumbnail = prefersFastThumbnail
        self.maximumBytes = maximumBytes
        self.firstFrameOnly = firstFrameOnly
        self.scale = scale
        self.allowsPartialImage = allowsPartialImage
        self.keepsColorSpace = keepsColorSpace
        self.decodeToHDR = decodeToHDR
        self.formatHint = formatHint
        self.coversThumbnailSize = coversThumbnailSize
    }

    /// Returns the upright size of an image decoded with these options.
    /// - Parameters:
    ///   - display: the upright size of the source.
    ///   - frameCount: the number of frames that share ``maximumBytes``.
    ///   - bytesPerPixel: the bytes of a pixel of the result.
    public func outputSize(for display: PixelSize, frameCount: Int = 1, bytesPerPixel: Int = 4) -> PixelSize {
        var size = display
        if let box = thumbnailSize, !box.isEmpty {
            size =
                coversThumbnailSize
                ? display.scaled(toCover: box)
                : display.scaled(into: box, preservingAspectRatio: preservesAspectRatio, upscaling: allowsUpscaling)
        }
        if let maximumBytes {
            let frames = firstFrameOnly ? 1 : frameCount
            let bytesPerPixel = decodeToHDR ? max(8, bytesPerPixel) : bytesPerPixel
            size = size.scaled(
                toBytes: max(bytesPerPixel, maximumBytes.bytes), bytesPerPixel: bytesPerPixel, frames: frames)
        }
        return size
    }

    /// Returns the pixel format that a source is decoded to under these options.
    /// - Parameters:
    ///   - bitsPerComponent: the bits of a component of the source.
    ///   - isHighDynamicRange: true for a source in PQ or HLG.
    package func pixelFormat(bitsPerComponent: Int, isHighDynamicRange: Bool = false) -> PixelFormat {
        guard decodeToHDR else { return .rgba8 }
        if isHighDynamicRange, !keepsColorSpace { return .rgbaFloat16 }
        return bitsPerComponent > 8 || isHighDynamicRange ? .rgba16 : .rgba8
    }

    /// Decodes a larger source at the size that a transformer suggests, unless the options have a size of their own.
    package mutating func shrink(for transformer: (any ImageTransformer)?) {
        guard thumbnailSize?.isEmpty ?? true, maximumBytes == nil, let size = transformer?.suggestedDecodeSize,
            !size.isEmpty
        else { return }
        thumbnailSize = size
        preservesAspectRatio = true
        coversThumbnailSize = true
    }
}
