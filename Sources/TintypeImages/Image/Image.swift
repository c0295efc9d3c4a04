/// An image: upright pixels with the properties of their source. If the source is animated, it also has an ``animation``.
///
/// Copying an image copies a reference; changing a copy doesn't affect the others. The pixels are premultiplied RGBA; see ``PixelBuffer``.
/// The pixels of an animation are its first frame; the other frames are decoded when they are due.
///
/// ```swift
/// let image = try Image(data: data)
/// print(image.size, image.format?.rawValue ?? "drawn", image.isAnimated)
/// ```
public struct Image: Sendable {
    /// The contents of an image: a single object, so that copies are cheap and caches can tell whether the image is still in use.
    package final class Storage: Sendable {
        let pixels: PixelBuffer
        let properties: Properties
        let animation: AnimatedImage?
        /// An object that a cache keeps with the image.
        let companion: (any ImageCompanion)?
        let memoryCost: Int

        init(
            _ pixels: PixelBuffer, _ properties: Properties, animation: AnimatedImage? = nil,
            companion: (any ImageCompanion)? = nil
        ) {
            self.pixels = pixels
            self.properties = properties
            self.animation = animation
            self.companion = companion
            memoryCost = pixels.byteCount + properties.extraBytes + (animation?.sourceBytes ?? 0)
        }
    }

    /// All properties of an image except its pixels.
    package struct Properties: Sendable, Equatable, Codable {
        /// The bytes of the metadata and the color profile.
        fileprivate var extraBytes: Int { metadata.byteCount + (colorSpace.profile?.count ?? 0) }

        /// The format that the image was decoded from; `nil` for a drawn image.
        package var format: ImageFormat?
        /// The number of pixels per point, at least 1.
        package var scale: Double = 1 { didSet { scale = Image.validScale(scale) } }
        /// The number of times that an animation is played; 0 to repeat it forever.
        package var loopCount = 0 { didSet { loopCount = max(0, loopCount) } }
        /// The color space of the source. Pixels are converted to sRGB unless the options keep the color space.
        package var colorSpace = ColorSpace.sRGB
        /// The number of bits per color component in the source, such as 10 for many AVIF files.
        package var bitsPerComponent = 8
        /// True if colors may be brighter than the white of a standard display, because the image was decoded from PQ or HLG
        /// with ``DecodeOptions/decodeToHDR`` and not tone-mapped.
        package var isHighDynamicRange = false
        /// False if every pixel is known to be opaque.
        package var hasAlpha = true
        /// The upright size of the source, before it was scaled to a thumbnail; `nil` for a drawn image.
        package var sourceSize: PixelSize?
        /// The orientation of the source, which is already applied.
        package var sourceOrientation = Orientation.up
        /// The metadata of the source, such as EXIF.
        package var metadata = ImageMetadata()
        /// True if the source is truncated.
        package var isPartial = false
        /// True for a preview whose source may turn out to be an animation.
        package var mayMove = false
        /// True if a transformer made the image.
        package var isTransformed = false
        /// True if the image was drawn from a vector source, and not transformed since.
        package var isVector = false
        /// The options that the image was decoded with.
        package var decodeOptions = DecodeOptions()

        /// Creates the properties of a drawn image.
        package init() {}
    }

    package private(set) var storage: Storage

    /// Creates a still image.
    /// - Parameter pixels: the upright pixels.
    public init(pixels: PixelBuffer) { storage = Storage(pixels, Properties()) }

    /// Creates a still image with properties.
    package init(pixels: PixelBuffer, properties: Properties) { storage = Storage(pixels, properties) }

    /// Creates an animation of decoded frames that all stay in memory; `nil` without frames, or if their sizes or pixel formats differ.
    /// A single frame makes a still image.
    /// - Parameters:
    ///   - frames: the frames, of the same size. A frame without a duration is shown for 100 ms.
    ///   - loopCount: the number of plays; 0 to repeat the animation forever.
    public init?(frames: [ImageFrame], loopCount: Int = 0) {
        guard let animation = AnimatedImage(frames: frames, loopCount: loopCount) else { return nil }
        self.init(animation)
    }

    /// Creates an animation of decoded frames with properties.
    package init?(frames: [ImageFrame], properties: Properties) {
        guard let animation = AnimatedImage(frames: frames, properties: properties) else { return nil }
        self.init(animation)
    }

    /// Creates an animated image. A single frame makes a still image.
    /// - Parameter animation: the animation.
    public init(_ animation: AnimatedImage) { self = animation.poster.with(animation.isAnimated ? animation : nil) }

    package init(storage: Storage) { self.storage = storage }

    /// The pixels of the image, or of the first frame of an animation.
    public var pixels: PixelBuffer { storage.pixels }
    /// The frames of an animated image; `nil` for a still image.
    ///
    /// All lookups of a cached image return the same object while the image is in memory, so that all players share its decoded frames. All
    /// previews of a load and its final image also share one object, which grows while its bytes arrive. See
    /// ``ImageRequest/isProgressive``.
    public var animation: AnimatedImage? { storage.animation }
    /// All properties of the image except its pixels.
    package var properties: Properties { storage.properties }

    /// The upright size in pixels.
    public var size: PixelSize { pixels.size }
    /// The format that the image was decoded from; `nil` for a drawn image.
    public var format: ImageFormat? {
        get { properties.format }
        set { self = with { $0.format = newValue } }
    }
    /// The number of pixels per point, at least 1. A number that is less, infinite, or not a number counts as 1.
    public var scale: Double {
        get { properties.scale }
        set { self = with { $0.scale = newValue } }
    }
    /// The number of times that an animation is played; 0 to repeat it forever.
    public var loopCount: Int {
        get { properties.loopCount }
        set { self = with { $0.loopCount = newValue } }
    }
    /// The color space of the pixels. Pixels are converted to sRGB unless the options keep the color space of the source.
    public var colorSpace: ColorSpace {
        get { properties.colorSpace }
        set { self = with { $0.colorSpace = newValue } }
    }
    /// The number of bits per color component in the source, such as 10 for many AVIF files.
    public var bitsPerComponent: Int {
        get { properties.bitsPerComponent }
        set { self = with { $0.bitsPerComponent = newValue } }
    }
    /// False if every pixel is known to be opaque.
    public var hasAlpha: Bool {
        get { properties.hasAlpha }
        set { self = with { $0.hasAlpha = newValue } }
    }
    /// True if colors may be brighter than the white of a standard display, because the image was decoded from PQ or HLG
    /// with ``DecodeOptions/decodeToHDR`` and not tone-mapped.
    public var isHighDynamicRange: Bool {
        get { properties.isHighDynamicRange }
        set { self = with { $0.isHighDynamicRange = newValue } }
    }
    /// The metadata of the source, such as EXIF.
    public var metadata: ImageMetadata {
        get { properties.metadata }
        set { self = with { $0.metadata = newValue } }
    }
    /// The upright size of the source, before it was scaled to a thumbnail; `nil` for a drawn image.
    public var sourceSize: PixelSize? {
        get { properties.sourceSize }
        set { self = with { $0.sourceSize = newValue } }
    }
    /// The orientation of the source, which is already applied.
    public var sourceOrientation: Orientation {
        get { properties.sourceOrientation }
        set { self = with { $0.sourceOrientation = newValue } }
    }
    /// The options that the image was decoded with.
    public var decodeOptions: DecodeOptions {
        get { properties.decodeOptions }
        set { self = with { $0.decodeOptions = newValue } }
    }
    /// True if the image was drawn from a vector source, SVG or PDF, and hasn't been transformed since. Its pixels are sharp at the decoded
    /// size.
    public var isVector: Bool {
        get { properties.isVector }
        set { self = with { $0.isVector = newValue } }
    }
    /// True if the source is truncated, or if more of it is still to arrive.
    public var isPartial: Bool {
        get { properties.isPartial || animation?.isPartial == true }
        set { self = with { $0.isPartial = newValue } }
    }
    /// True if the image has an ``animation``.
    public var isAnimated: Bool { storage.animation != nil }
    /// True if a transformer made the image.
    public var isTransformed: Bool { properties.isTransformed }
    /// True if the image is smaller than its source, because its ``decodeOptions`` ask for a thumbnail. A transformer's result is a
    /// thumbnail only if it was made from a thumbnail: a crop of the full image isn't.
    public var isThumbnail: Bool {
        guard let source = sourceSize, size.isSmaller(than: source) else { return false }
        // The limit of an animation's bytes holds for all of its frames.
        if decodeOptions.maximumBytes != nil, !isTransformed { return true }
        return decodeOptions.outputSize(for: source, bytesPerPixel: pixels.format.bytesPerPixel).isSmaller(than: source)
    }

    /// The duration of one pass through the frames; zero for a still image.
    public var duration: Duration { storage.animation?.duration ?? .zero }

    /// The memory of the image, in bytes: the pixels, the metadata and the color profile, and for an animation the encoded bytes or the
    /// frames that it was made of. Frames that players keep aren't included.
    public var memoryCost: Int { storage.memoryCost }

    /// Returns true if both are the same image, not merely equal images.
    /// - Parameter other: the other image.
    package func isIdentical(to other: Image) -> Bool { storage === other.storage }

    /// Returns the same pixels with changed properties. An animation gets their loop count and their scale.
    /// - Parameter change: a closure that changes the properties.
    package func with(_ change: (inout Properties) -> Void) -> Image {
        var properties = storage.properties
        change(&properties)
        var animation = storage.animation
        if properties.loopCount != storage.properties.loopCount {
            animation = animation?.repeated(properties.loopCount)
        }
        if properties.scale != storage.properties.scale { animation = animation?.scaled(properties.scale) }
        return Image(storage: Storage(pixels, properties, animation: animation, companion: companion))
    }

    /// Returns the same image as the first frame of an animation, or as a still image.
    package func with(_ animation: AnimatedImage?) -> Image {
        guard animation !== storage.animation else { return self }
        var properties = storage.properties
        properties.loopCount = animation?.loopCount ?? 0
        // The first frame is in memory only once: the animation has it.
        let pixels = animation?.poster.pixels ?? pixels
        return Image(storage: Storage(pixels, properties, animation: animation, companion: companion))
    }

    /// The object that a cache keeps with the image.
    package var companion: (any ImageCompanion)? { storage.companion }

    /// Returns the same image with another companion.
    package func with(companion: (any ImageCompanion)?) -> Image {
        Image(storage: Storage(pixels, properties, animation: animation, companion: companion))
    }

    /// The first frame as a still image; the image itself if it isn't animated.
    public var firstFrame: Image { with(AnimatedImage?.none) }
}

/// An object that a cache keeps with an image, such as the response that brought it. An image only carries it along.
package protocol ImageCompanion: AnyObject, Sendable {}

extension Image: CustomStringConvertible {
    /// The format, the size, and the frames, for logs.
    public var description: String {
        let moving = animation.map { ", \($0.frameCount) frames in \($0.duration)" } ?? ""
        return "\(format?.rawValue ?? "image") \(size)\(moving)"
    }
}
