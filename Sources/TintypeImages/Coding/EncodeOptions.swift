/// Options for encoding an image.
///
/// Settings of a single format have their own type, such as `WebPEncodeOptions`:
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
    /// The opaque color behind transparent pixels in a format without alpha.
    public var background = PixelColor.white
    /// True to write the Exif block and the XMP packet of the image. The default is false, because they may reveal where a picture was
    /// taken.
    ///
    /// JPEG, PNG, WebP, TIFF, AVIF, HEIC and JPEG XL support metadata. The written orientation is upright, because the pixels are. The
    /// written size is the size of the file, and a thumbnail of the source is removed. A color profile doesn't count as metadata, and is
    /// written for every image that isn't in sRGB.
    public var keepsMetadata = false
    /// Embeds a thumbnail of at most 320 pixels a side in JPEG (Exif 2.32, section 4.5.8) and HEIC. Other formats, and images within that
    /// size, get no thumbnail.
    public var embedsThumbnail = false
    var formatSettings = FormatSettings()

    /// Accesses the settings of a format. Unset settings have their defaults.
    /// - Parameter type: the type of the settings.
    public subscript<Options: FormatOptions>(_ type: Options.Type) -> Options {
        get { formatSettings[type] }
        set { formatSettings[type] = newValue }
    }

    /// The encoding of images of high dynamic range. With ``HDREncoding/none``, and in formats without high dynamic range, they are
    /// tone-mapped. Images of standard range aren't affected.
    public var encodeToHDR = HDREncoding.none

    /// A way to encode an image of high dynamic range.
    public enum HDREncoding: String, Sendable, Hashable, CaseIterable {
        /// Tone-maps the image to the range of sRGB. Highlights are rolled off as when PQ is decoded to 8 bits (ITU-R BT.2390, 5.4.1).
        case none
        /// PQ with the primaries of BT.2020 (ITU-R BT.2100; ISO 22028-5), in AVIF, HEIC and JPEG XL. Reference white is 203 nits.
        case isoHDR
        /// In JPEG, standard range with a gain map (ISO 21496-1); an image with transparent pixels gets no map. The other formats are
        /// written as with ``isoHDR``.
        case gainMap
    }

    /// Creates options. Each parameter sets the property of the same name.
    public init(
        quality: Double = 0.85, maximumBytes: ByteCount? = nil, maximumSize: PixelSize? = nil, lossless: Bool = false,
        progressive: Bool = false, firstFrameOnly: Bool = false, background: PixelColor = .white,
        keepsMetadata: Bool = false, embedsThumbnail: Bool = false, encodeToHDR: HDREncoding = .none
    ) {
        self.quality = quality
        self.maximumBytes = maximumBytes
        self.maximumSize = maximumSize
        self.lossless = lossless
        self.progressive = progressive
        self.firstFrameOnly = firstFrameOnly
        self.background = background
        self.keepsMetadata = keepsMetadata
        self.embedsThumbnail = embedsThumbnail
        self.encodeToHDR = encodeToHDR
    }
}
