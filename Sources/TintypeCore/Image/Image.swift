/// A decoded image: upright pixels, or several frames of them, with all that is known of where they come from.
///
/// An image never changes, and copying one copies a reference. Its pixels are premultiplied RGBA; see ``PixelBuffer``.
public struct Image: Sendable {
    /// What an image is made of; one object, so that copies are cheap and caches can tell who still holds it.
    final class Storage: Sendable {
        let frames: [ImageFrame]
        let properties: Properties
        let memoryCost: Int

        init(frames: [ImageFrame], properties: Properties) {
            self.frames = frames
            self.properties = properties
            // Frames that show the same buffer weigh once.
            var seen = Set<ObjectIdentifier>()
            memoryCost = frames.reduce(0) { cost, frame in
                seen.insert(ObjectIdentifier(frame.pixels)).inserted ? cost + frame.pixels.byteCount : cost
            }
        }
    }

    /// All about an image but its pixels.
    public struct Properties: Sendable, Equatable {
        /// The format that the image was decoded from; `nil` for one that was drawn.
        public var format: ImageFormat?
        /// Pixels per point, at least 1.
        public var scale: Double = 1
        /// How often an animation is played; 0 is for ever.
        public var loopCount = 0
        public var colorSpace = ColorSpace.sRGB
        /// The bits of a component in the source, such as 10 for many AVIF files.
        public var bitsPerComponent = 8
        /// True if colours may be brighter than the white of a display of standard range: decoded from PQ or HLG with
        /// ``DecodeOptions/decodeToHDR``, and not tone-mapped.
        public var isHighDynamicRange = false
        /// False if every pixel is known to be opaque.
        public var hasAlpha = true
        /// The size in the source, upright, before a thumbnail was made of it; `nil` for an image that was drawn.
        public var sourceSize: PixelSize?
        /// The orientation of the source, which is already applied.
        public var sourceOrientation = Orientation.up
        /// What the source says of itself (EXIF and the like).
        public var metadata = ImageMetadata()
        /// True for a picture of a source whose end is missing.
        public var isPartial = false
        /// True if a transformer made the image.
        public var isTransformed = false
        /// True if the image was drawn from a vector source.
        public var isVector = false
        /// The options that the image was decoded with.
        public var decodeOptions = DecodeOptions()

        public init() {}
    }

    let storage: Storage

    /// An image of one picture.
    public init(pixels: PixelBuffer, properties: Properties = Properties()) {
        storage = Storage(frames: [ImageFrame(pixels: pixels)], properties: properties)
    }

    /// An animation; `nil` without frames, or if their sizes differ.
    public init?(frames: [ImageFrame], properties: Properties = Properties()) {
        guard let size = frames.first?.pixels.size, frames.allSatisfy({ $0.pixels.size == size }) else { return nil }
        storage = Storage(frames: frames, properties: properties)
    }

    init(storage: Storage) { self.storage = storage }

    /// The picture, or the first frame of an animation.
    public var pixels: PixelBuffer { storage.frames[0].pixels }
    /// All frames; one for an image that does not move.
    public var frames: [ImageFrame] { storage.frames }
    public var properties: Properties { storage.properties }

    /// The size in pixels, upright.
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
    /// True if the image was drawn from a vector source, SVG or PDF. Its pixels are as sharp as the size that it was decoded at.
    public var isVector: Bool { storage.properties.isVector }
    /// True if the image is smaller than its source, because a thumbnail was asked for.
    public var isThumbnail: Bool {
        guard let source = storage.properties.sourceSize, source != size else { return false }
        return size.width <= source.width && size.height <= source.height
    }

    /// The time that one pass through the frames takes.
    public var duration: Duration { storage.frames.reduce(.zero) { $0 + $1.duration } }

    /// The bytes that the pixels of all frames take.
    public var memoryCost: Int { storage.memoryCost }

    /// True if both are the same image, not only alike.
    public func isIdentical(to other: Image) -> Bool { storage === other.storage }

    /// The same pixels with other properties.
    public func with(_ change: (inout Properties) -> Void) -> Image {
        var properties = storage.properties
        change(&properties)
        return Image(storage: Storage(frames: storage.frames, properties: properties))
    }

    /// The first frame alone; the image itself if it does not move.
    public var firstFrame: Image {
        guard isAnimated else { return self }
        return Image(pixels: pixels, properties: properties).with { $0.loopCount = 0 }
    }
}

extension Image: CustomStringConvertible {
    public var description: String {
        let moving = isAnimated ? ", \(frames.count) frames in \(duration)" : ""
        return "\(format?.rawValue ?? "image") \(size)\(moving)"
    }
}
