/// The contents of an image's header, which can be read without decoding the image.
public struct ImageInfo: Sendable, Hashable, Codable {
    /// The format that the bytes were recognized as.
    public var format: ImageFormat
    /// The size of the pixels as they are stored, before ``orientation`` is applied.
    public var size: PixelSize
    /// The rotation and the mirroring that make the stored pixels upright.
    public var orientation: Orientation
    /// The number of frames: 1 for a still image.
    public var frameCount: Int
    /// The number of pages of a document, such as a PDF or TIFF; 1 for other formats. The other properties belong to the page that
    /// was read.
    public var pageCount = 1
    /// The number of times that an animation is played, 0 to repeat it forever; `nil` for a still image.
    public var loopCount: Int?
    /// The actual duration of each frame of an animation. Empty for a still image.
    public var frameDurations: [Duration]
    /// False if the header proves that every pixel is opaque. If true, only decoding can determine it.
    public var hasAlpha: Bool
    /// The number of bits per component; 8 for images with a palette, because its colors have 8 bits.
    public var bitsPerComponent: Int
    /// True for colors in PQ or HLG (ITU-R BT.2100).
    public var isHighDynamicRange: Bool
    /// The gain map of a JPEG, HEIC, or AVIF file; `nil` if the bytes have none that is complete.
    package var gainMap: GainMap?
    /// The name of the embedded color profile, or `nil` if there is none.
    public var colorProfile: String?
    /// The metadata. If the data ends before the file does, some of it may be missing: WebP, HEIF, AVIF, JPEG XL, PNG, and TIFF may have
    /// it at the end.
    public var metadata = ImageMetadata()
    /// False if the data ends before the last frame, so that there may be more frames than counted, or before the fields of a TIFF file.
    public var isComplete: Bool

    /// Creates a description. Each parameter sets the property of the same name.
    public init(
        format: ImageFormat, size: PixelSize, orientation: Orientation = .up, frameCount: Int = 1,
        loopCount: Int? = nil,
        frameDurations: [Duration] = [], hasAlpha: Bool, bitsPerComponent: Int = 8, colorProfile: String? = nil,
        isComplete: Bool = true, isHighDynamicRange: Bool = false
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.frameDurations = frameDurations
        self.hasAlpha = hasAlpha
        self.bitsPerComponent = bitsPerComponent
        self.colorProfile = colorProfile
        self.isComplete = isComplete
        self.isHighDynamicRange = isHighDynamicRange
    }

    /// A smaller image in the file that tells by how much each pixel becomes brighter on a display with high dynamic range.
    package struct GainMap: Sendable, Hashable, Codable {
        /// The size of the gain map, in pixels.
        package var size: PixelSize
        /// The number of its components: 1 for brightness alone, 3 for each color.
        package var components: Int

        package init(size: PixelSize, components: Int) {
            self.size = size
            self.components = components
        }
    }

    /// True if the file has a gain map (ISO 21496-1): a smaller image that states how much brighter each pixel becomes on a display with
    /// high dynamic range. ``DecodeOptions/decodeToHDR`` applies it.
    public var hasGainMap: Bool { gainMap != nil }
    /// The upright size, after ``orientation`` is applied.
    public var displaySize: PixelSize { orientation.display(size) }
    /// True if there is more than one frame.
    public var isAnimated: Bool { frameCount > 1 }
}
