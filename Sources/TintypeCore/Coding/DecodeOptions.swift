/// How bytes are to become an image. The options are part of what the work is known by: two loads of one URL with equal
/// options share one decode.
public struct DecodeOptions: Sendable, Hashable {
    /// The box, in pixels, that the upright image is to fit; `nil`, or a box with a zero side, for the full image.
    /// The image is decoded at that size and never made larger than it is.
    public var thumbnailSize: PixelSize?
    /// Whether a thumbnail keeps its shape and fits into the box, or is stretched to exactly the box.
    public var preservesAspectRatio = true
    /// Whether a thumbnail may be larger than its source.
    public var allowsUpscaling = false
    /// Whether a thumbnail is to be like the full image, or there soon; images at full size do not change with it.
    public var thumbnailQuality = ThumbnailQuality.high
    /// The most bytes that the pixels of all frames may take; the image is decoded smaller if it would take more.
    /// Unlike a limit of ``DecodeLimits``, which refuses the image.
    public var maximumBytes: ByteCount?
    /// Decodes only the first frame of an animation.
    public var firstFrameOnly = false
    /// Pixels per point of the result, at least 1.
    public var scale: Double = 1
    /// Gives the part that is there of an image whose end is missing, marked as partial, instead of an error.
    public var allowsPartialImage = false
    /// Leaves the numbers of the pixels in the source's colour space instead of converting them to sRGB.
    public var keepsColorSpace = false
    /// Keeps what a source has beyond 8 bits and beyond white, where its coder can: see ``pixelFormat(bitsPerComponent:isHighDynamicRange:)``.
    ///
    /// Without, which is the default, every image is ``PixelFormat/rgba8``: more bits are rounded, PQ and HLG are tone-mapped
    /// to the range of sRGB. Previews of a PNG that arrives, and frames of animated PNG and of HEIC sequences, have 8 bits in
    /// either case.
    public var decodeToHDR = false
    /// What the bytes are taken for where their beginning does not tell, as with camera files.
    public var formatHint: ImageFormat?

    public init(
        thumbnailSize: PixelSize? = nil, preservesAspectRatio: Bool = true, allowsUpscaling: Bool = false,
        thumbnailQuality: ThumbnailQuality = .high, maximumBytes: ByteCount? = nil, firstFrameOnly: Bool = false,
        scale: Double = 1, allowsPartialImage: Bool = false, keepsColorSpace: Bool = false, decodeToHDR: Bool = false,
        formatHint: ImageFormat? = nil
    ) {
        self.thumbnailSize = thumbnailSize
        self.preservesAspectRatio = preservesAspectRatio
        self.allowsUpscaling = allowsUpscaling
        self.thumbnailQuality = thumbnailQuality
        self.maximumBytes = maximumBytes
        self.firstFrameOnly = firstFrameOnly
        self.scale = scale
        self.allowsPartialImage = allowsPartialImage
        self.keepsColorSpace = keepsColorSpace
        self.decodeToHDR = decodeToHDR
        self.formatHint = formatHint
    }

    /// The upright size at which an image is decoded under these options.
    /// - Parameter bytesPerPixel: of the format that it is decoded to.
    public func outputSize(for display: PixelSize, frameCount: Int = 1, bytesPerPixel: Int = 4) -> PixelSize {
        var size = display
        if let box = thumbnailSize, !box.isEmpty {
            size = display.scaled(into: box, preservingAspectRatio: preservesAspectRatio, upscaling: allowsUpscaling)
        }
        if let maximumBytes {
            let frames = firstFrameOnly ? 1 : frameCount
            size = size.scaled(
                toBytes: max(bytesPerPixel, maximumBytes.bytes), bytesPerPixel: bytesPerPixel, frames: frames)
        }
        return size
    }

    /// The format that a source is decoded to under these options.
    ///
    /// With ``decodeToHDR``, sources of PQ or HLG become ``PixelFormat/rgbaFloat16`` in ``ColorSpace/extendedSRGB``, others of
    /// more than 8 bits ``PixelFormat/rgba16``. With ``keepsColorSpace`` too, PQ and HLG stay the numbers that they are, in
    /// 16 bits. Everything else is ``PixelFormat/rgba8``. A coder may choose floating point for sources that have it, as that of
    /// JPEG XL does.
    public func pixelFormat(bitsPerComponent: Int, isHighDynamicRange: Bool = false) -> PixelFormat {
        guard decodeToHDR else { return .rgba8 }
        if isHighDynamicRange, !keepsColorSpace { return .rgbaFloat16 }
        return bitsPerComponent > 8 || isHighDynamicRange ? .rgba16 : .rgba8
    }
}
