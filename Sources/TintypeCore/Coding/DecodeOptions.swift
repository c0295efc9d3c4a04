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
    public var maximumBytes: Int?
    /// Decodes only the first frame of an animation.
    public var firstFrameOnly = false
    /// Pixels per point of the result, at least 1.
    public var scale: Double = 1
    /// Gives the part that is there of an image whose end is missing, marked as partial, instead of an error.
    public var allowsPartialImage = false
    /// Leaves the numbers of the pixels in the source's colour space instead of converting them to sRGB.
    public var keepsColorSpace = false
    /// What the bytes are taken for where their beginning does not tell, as with camera files.
    public var formatHint: ImageFormat?

    public init(thumbnailSize: PixelSize? = nil) { self.thumbnailSize = thumbnailSize }

    /// The upright size at which an image is decoded under these options.
    public func outputSize(for display: PixelSize, frameCount: Int = 1) -> PixelSize {
        var size = display
        if let box = thumbnailSize, !box.isEmpty {
            size = display.scaled(into: box, preservingAspectRatio: preservesAspectRatio, upscaling: allowsUpscaling)
        }
        if let maximumBytes {
            let frames = firstFrameOnly ? 1 : frameCount
            size = size.scaled(toBytes: max(4, maximumBytes), frames: frames)
        }
        return size
    }
}
