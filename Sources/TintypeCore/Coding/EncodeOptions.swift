/// How an image is to be written.
///
/// What only one format knows stands in a type of its own, such as `WebPEncodeOptions`:
///
/// ```swift
/// var options = EncodeOptions(quality: 0.8)
/// options.webp.method = 6
/// options[JPEGEncodeOptions.self].subsampling = .full    // the same, spelled in full
/// ```
public struct EncodeOptions: Sendable, Hashable {
    /// From 0, smallest, to 1, best. Formats without loss ignore it. The default is 0.85.
    public var quality = 0.85
    /// Writes WebP, AVIF and JPEG XL without loss, and HEIC as nearly so as its encoder can.
    public var lossless = false
    /// Writes JPEG and JPEG XL so that they show early, PNG interlaced.
    public var progressive = false
    /// The most bytes that the file may have. A format with loss is tried at lower quality until it fits, GIF with fewer
    /// colours, PNG with more effort; a file that does not fit all the same is an error.
    public var maximumBytes: ByteCount?
    /// The box in pixels that the image is shrunk into before it is written.
    public var maximumSize: PixelSize?
    /// Writes only the first frame of an animation.
    public var firstFrameOnly = false
    /// What transparent pixels are laid on in a format that has no alpha.
    public var background = Background.white
    /// Which of the image's metadata go into the file; none by default, since they may tell where a picture was taken.
    ///
    /// JPEG, PNG, WebP, TIFF, AVIF, HEIC and JPEG XL hold them. The orientation in them becomes upright, as the pixels are, the
    /// size that of the file, and a thumbnail of the source is taken out. A colour profile does not count as metadata: it
    /// is written wherever the image is not in sRGB.
    public var metadata: MetadataParts = .none
    /// Puts a thumbnail of at most 320 pixels a side into JPEG (Exif 2.32, section 4.5.8) and HEIC. Other formats, and images
    /// that are no larger than that, get none.
    public var embedsThumbnail = false
    var formatSettings = FormatEncodeSettings()

    /// The settings of one format; the defaults unless they were set.
    public subscript<Options: FormatEncodeOptions>(_ type: Options.Type) -> Options {
        get { formatSettings[type] }
        set { formatSettings[type] = newValue }
    }

    /// Parts of ``ImageMetadata``.
    public struct MetadataParts: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let exif = MetadataParts(rawValue: 1 << 0)
        public static let xmp = MetadataParts(rawValue: 1 << 1)
        public static let none: MetadataParts = []
        public static let all: MetadataParts = [.exif, .xmp]
    }

    /// Whether an image of high dynamic range is written as such. Without, and in formats that have no such range, it is
    /// tone-mapped: see ``HDREncoding``. Images of standard range are written the same in either case.
    public var encodeToHDR = HDREncoding.none

    /// How an image of high dynamic range is written. Gain maps are not supported.
    public enum HDREncoding: String, Sendable, Hashable, CaseIterable {
        /// Within the range of sRGB: highlights are rolled off as when PQ is decoded to 8 bits (ITU-R BT.2390, 5.4.1).
        case none
        /// PQ with the primaries of BT.2020 (ITU-R BT.2100; ISO 22028-5), in AVIF, HEIC and JPEG XL. Reference white is 203 nits.
        case isoHDR
    }

    /// An opaque colour in sRGB.
    public struct Background: Sendable, Hashable {
        public var red: UInt8, green: UInt8, blue: UInt8
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
        public static let white = Background(red: 255, green: 255, blue: 255)
        public static let black = Background(red: 0, green: 0, blue: 0)
    }

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
