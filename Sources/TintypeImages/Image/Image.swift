/// A decoded image: upright pixels, or several frames of them, with the properties of their source.
///
/// An image never changes, and copying one copies a reference. Its pixels are premultiplied RGBA; see ``PixelBuffer``.
public struct Image: Sendable {
    /// The contents of an image: one object, so that copies are cheap and caches can tell whether the image is still in use.
    package final class Storage: Sendable {
        let frames: [ImageFrame]
        let properties: Properties
        /// The animation whose first frame this is, for caches.
        let animation: AnimatedImage?
        /// An object that a cache keeps with the image.
        let companion: (any ImageCompanion)?
        let memoryCost: Int

        init(
            frames: [ImageFrame], properties: Properties, animation: AnimatedImage? = nil,
            companion: (any ImageCompanion)? = nil
        ) {
            self.companion = companion
            self.frames = frames
            self.properties = properties
            self.animation = animation
            // Frames that share a buffer count once.
            var seen = Set<ObjectIdentifier>()
            memoryCost = frames.reduce((animation?.data.count ?? 0) + properties.extraBytes) { cost, frame in
                seen.insert(ObjectIdentifier(frame.pixels)).inserted ? cost + frame.pixels.byteCount : cost
            }
        }
    }

    /// All properties of an image except its pixels.
    public struct Properties: Sendable, Equatable {
        /// The bytes of the metadata and the color profile.
        package var extraBytes: Int {
            (metadata.exif?.count ?? 0) + (metadata.xmp?.count ?? 0) + (colorSpace.profile?.count ?? 0)
        }

        /// The format that the image was decoded from; `nil` for a drawn image.
        public var format: ImageFormat?
        /// The number of pixels per point, at least 1.
        public var scale: Double = 1
        /// The number of times that an animation is played; 0 to repeat it forever.
        public var loopCount = 0
        public var colorSpace = ColorSpace.sRGB
        /// The bits of a color component in the source, such as 10 for many AVIF files.
        public var bitsPerComponent = 8
        /// True if colors may be brighter than the white of a standard display, because the image was decoded from PQ or HLG
        /// with ``DecodeOptions/decodeToHDR`` and not tone-mapped.
        public var isHighDynamicRange = false
        /// False if every pixel is known to be opaque.
        public var hasAlpha = true
        /// The upright size of the source, before it was scaled to a thumbnail; `nil` for a drawn image.
        public var sourceSize: PixelSize?
        /// The orientation of the source, which is already applied.
        public var sourceOrientation = Orientation.up
        /// The metadata of the source, such as EXIF.
        public var metadata = ImageMetadata()
        /// True if the source is truncated.
        public var isPartial = false
        /// True if a transformer made the image.
        public var isTransformed = false
        /// True if the image was drawn from a vector source.
        public var isVector = false
        /// The options that the image was decoded with.
        public var decodeOptions = DecodeOptions()

        public init() {}
    }

    package let storage: Storage

    /// Creates a still image.
    public init(pixels: PixelBuffer, properties: Properties = Properties()) {
        storage = Storage(frames: [ImageFrame(pixels: pixels)], properties: properties)
    }

    /// Creates an animation; `nil` without frames, or if their sizes differ.
    public init?(frames: [ImageFrame], properties: Properties = Properties()) {
        guard let size = frames.first?.pixels.size, frames.allSatisfy({ $0.pixels.size == size }) else { return nil }
        storage = Storage(frames: frames, properties: properties)
    }

    package init(storage: Storage) { self.storage = storage }

    /// The pixels of the image, or of the first frame of an animation.
    public var pixels: PixelBuffer { storage.frames[0].pixels }
    /// All frames; a single one for a still image.
    public var frames: [ImageFrame] { storage.frames }
    public var properties: Properties { storage.properties }

    /// The upright size in pixels.
    public var size: PixelSize { pixels.size }
    public var format: ImageFormat? { storage.properties.format }
    public var scale: Double { storage.properties.scale }
    public var loopCount: Int { storage.properties.loopCount }
    public var colorSpace: ColorSpace { storage.properties.colorSpace }
    public var hasAlpha: Bool { storage.properties.hasAlpha }
    public var isHighDynamicRange: Bool { storage.properties.isHighDynamicRange }
    public var metadata: ImageMetadata { storage.properties.metadata }
    public var isAnimated: Bool { storage.frames.count > 1 }
    public var isPartial: Bool { storage.properties.isPartial }
    public var isTransformed: Bool { storage.properties.isTransformed }
    /// True if the image was drawn from a vector source, SVG or PDF. Its pixels are sharp at the size that it was decoded at.
    public var isVector: Bool { storage.properties.isVector }
    /// True if the image is smaller than its source, because a thumbnail was requested.
    public var isThumbnail: Bool {
        guard let source = storage.properties.sourceSize, source != size else { return false }
        return size.width <= source.width && size.height <= source.height
    }

    /// The duration of one pass through the frames.
    public var duration: Duration { storage.frames.reduce(.zero) { $0 + $1.duration } }

    /// The memory of the image, in bytes: the pixels of all frames, the metadata, and the color profile.
    public var memoryCost: Int { storage.memoryCost }

    /// The animation of a preview, whose frames can be played while more of them arrive; `nil` for other images.
    ///
    /// All previews of one load have the same animation, from the time on when two of its frames are there. See ``ImageRequest/isProgressive``.
    public var animation: AnimatedImage? { storage.animation }

    /// Returns true if both are the same image, not merely equal ones.
    public func isIdentical(to other: Image) -> Bool { storage === other.storage }

    /// Returns the same pixels with changed properties.
    public func with(_ change: (inout Properties) -> Void) -> Image {
        var properties = storage.properties
        change(&properties)
        return Image(storage: Storage(frames: storage.frames, properties: properties, companion: storage.companion))
    }

    /// Returns the same image as the first frame of an animation.
    package func with(_ animation: AnimatedImage?) -> Image {
        guard animation !== storage.animation else { return self }
        return Image(
            storage: Storage(
                frames: storage.frames, properties: storage.properties, animation: animation,
                companion: storage.companion))
    }

    /// The object that a cache keeps with the image.
    package var companion: (any ImageCompanion)? { storage.companion }

    /// Returns the same image with another companion.
    package func with(companion: (any ImageCompanion)?) -> Image {
        Image(
            storage: Storage(
                frames: storage.frames, properties: storage.properties, animation: storage.animation,
                companion: companion))
    }

    /// The first frame as a still image; the image itself if it isn't animated.
    public var firstFrame: Image {
        guard isAnimated else { return self }
        return Image(pixels: pixels, properties: properties).with { $0.loopCount = 0 }
            .with(companion: storage.companion)
    }
}

/// An object that a cache keeps with an image, such as the response that brought it. An image only carries it along.
package protocol ImageCompanion: AnyObject, Sendable {}

extension Image: CustomStringConvertible {
    public var description: String {
        let moving = isAnimated ? ", \(frames.count) frames in \(duration)" : ""
        return "\(format?.rawValue ?? "image") \(size)\(moving)"
    }
}
