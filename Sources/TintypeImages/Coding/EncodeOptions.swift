/// Options for encoding an image.
///
/// Settings of a single format are in their own type, such as `WebPEncodeOptions`:
///
/// ```swift
/// var options = EncodeOptions(quality: 0.8)
/// options.webp.method = 6
/// options[JPEGEncodeOptions.self].subsampling = .full    // the same, spelled in full
/// ```
public struct EncodeOptions: Sendable, Hashable {
    /// The quality, from 0 for the smallest file to 1 for the best image. Lossless formats ignore it. The default is 0.85.
    public var quality = 0.85
    /// Writes WebP, AVIF and JPEG XL without loss, and HEIC with as little loss as its encoder allows.
    public var lossless = false
    /// Writes JPEG and JPEG XL for progressive display, and PNG interlaced.
    public var progressive = false
    /// The largest number of bytes in the file. To fit, a lossy format is encoded at lower quality, GIF with fewer colors, and
    /// PNG with more effort. A file that still does not fit is an error.
    public var maximumBytes: ByteCount?
    /// The box, in pixels, that a larger image is scaled down to before writing.
    public var maximumSize: PixelSize?
    /// Writes only the first frame of an animation.
    public var firstFrameOnly = false
    /// The color behind transparent pixels in a format without alpha.
    public var background = Background.white
    /// The parts of the image's metadata that are written; none by default, since they may reveal the place where a picture was
    /// taken.
    ///
    /// JPEG, PNG, WebP, TIFF, AVIF, HEIC and JPEG XL support metadata. The written orientation is upright, because the pixels
    /// are. The written size is the size of the file, and a thumbnail of the source is removed. A color profile does not count as
    /// metadata: it is written for every image that isn't in sRGB.
    public var metadata: MetadataParts = .none
    /// Embeds a thumbnail of at most 320 pixels a side in JPEG (Exif 2.32, section 4.5.8) and HEIC. Other formats, and images
    /// that are within that size, get no thumbnail.
    public var embedsThumbnail = false
    var formatSettings = FormatSettings()

    /// Accesses the settings of a format, which are the defaults unless they were set.
    /// - Parameter type: the type of the settings.
    public subscript<Options: FormatEncodeOptions>(_ type: Options.Type) -> Options {
        get { formatSettings[type] }
        set { formatSettings[type] = newValue }
    }

    /// Parts of ``ImageMetadata``.
    public struct MetadataParts: OptionSet, Sendable, Hashable {
        /// The bits of the parts.
        public let rawValue: UInt8
        /// Creates a set from the bits of parts.
        /// - Parameter rawValue: the bits of the parts.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The Exif block, such as the camera, the time, and the place.
        public static let exif = MetadataParts(rawValue: 1 << 0)
        /// The XMP packet.
        public static let xmp = MetadataParts(rawValue: 1 << 1)
        /// No metadata.
        public static let none: MetadataParts = []
        /// Exif and XMP.
        public static let all: MetadataParts = [.exif, .xmp]
    }

    /// The encoding of images of high dynamic range. With ``HDREncoding/none``, and in formats without such a range, they are
    /// tone-mapped. Images of standard range are not affected.
    public var encodeToHDR = HDREncoding.none

    /// A way to encode an image of high dynamic range.
    public enum HDREncoding: String, Sendable, Hashable, CaseIterable {
        /// Reduces the image to the range of sRGB: highlights are rolled off as when PQ is decoded to 8 bits (ITU-R BT.2390,
        /// 5.4.1).
        case none
        /// PQ with the primaries of BT.2020 (ITU-R BT.2100; ISO 22028-5), in AVIF, HEIC and JPEG XL. Reference white is 203 nits.
        case isoHDR
        /// In JPEG, standard range and a gain map (ISO 21496-1). The other formats are written as with ``isoHDR``.
        case gainMap
    }

    /// An opaque color in sRGB.
    public struct Background: Sendable, Hashable {
        /// The red component, from 0 to 255.
        public var red: UInt8
        /// The green component, from 0 to 255.
        public var green: UInt8
        /// The blue component, from 0 to 255.
        public var blue: UInt8
        /// Creates a color. Each parameter sets the property of the same name.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
        /// White.
        public static let white = Background(red: 255, green: 255, blue: 255)
        /// Black.
        public static let black = Background(red: 0, green: 0, blue: 0)
    }

    /// Creates options. Each parameter sets the property of the same name.
    public init(
        quality: Double = 0.85, maximumBytes: ByteCount? = nil, maximumSize: PixelSize? = nil, lossless: Bool = false,
        progressive: Bool = false, firstFrameOnly: Bool = false, background: Background = .white,
        metadata: MetadataParts = .none, embedsThumbnail: Bool = false, encodeToHDR: HDREncoding = .none
    ) {
        self.quality = quality
        self.maximumBytes = maximumBytes
        self.maximumSize = maximumSize
        self.lossless = lossless
        self.progressive = progressive
        self.firstFrameOnly = firstFrameOnly
        self.background = background
        self.metadata = metadata
        self.embedsThumbnail = embedsThumbnail
        self.encodeToHDR = encodeToHDR
    }
}
