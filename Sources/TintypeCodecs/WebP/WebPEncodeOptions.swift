public import TintypeCore

/// WebP-specific encoding options: all settings of libwebp (`WebPConfig` and `WebPAnimEncoderOptions` in its headers).
///
/// A setting that is `nil` is left to ``preset``. One that is out of its range is an error that names it.
public struct WebPEncodeOptions: FormatEncodeOptions {
    /// The kind of picture, from which libwebp derives what is not set.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        case standard
        /// A portrait, indoors.
        case picture
        /// Outdoors, in natural light.
        case photo
        /// Drawn by hand, with many contrasts.
        case drawing
        /// Small and colorful.
        case icon
        case text
    }

    public enum Preprocessing: String, Sendable, Hashable, CaseIterable {
        case none
        /// Smooths the borders of segments.
        case segmentSmoothing
        /// Dithers at random where color loses resolution.
        case dithering
    }

    public enum FilterType: String, Sendable, Hashable, CaseIterable {
        case simple, strong
    }

    public enum AlphaFiltering: String, Sendable, Hashable, CaseIterable {
        case none, fast, best
    }

    /// The kind of a picture that is written without loss.
    public enum ImageHint: String, Sendable, Hashable, CaseIterable {
        case none, picture, photo
        /// Pixels in discrete tones: a graph, tiles of a map.
        case graph
    }

    public var preset = Preset.standard
    /// From 0, fast, to 6, smallest; 4 where nothing is set, without loss what ``losslessEffort`` says.
    public var method: Int?
    /// The effort of compression without loss, from 0, fast, to 9.
    public var losslessEffort = 6

    // MARK: What is lost

    /// The peak signal-to-noise ratio in decibels that takes the place of the quality; from 0, which is off, to 99. It takes
    /// more than one of ``passes``. Where ``EncodeOptions/maximumBytes`` would not be kept, the limit comes first.
    public var targetPSNR = 0.0
    /// The number of passes of analysis, from 1 to 10.
    public var passes: Int?
    public var preprocessing: Preprocessing?
    /// The most segments with settings of their own, from 1 to 4.
    public var segments: Int?
    /// The amount of noise that is allowed where it is least seen, from 0 to 100.
    public var snsStrength: Int?
    /// The strength with which edges of blocks are smoothed, from 0 to 100.
    public var filterStrength: Int?
    /// From 0 to 7, the least sharp.
    public var filterSharpness: Int?
    public var filterType: FilterType?
    /// Looks for the strength of the filter that suits the picture.
    public var autoFilter: Bool?
    /// The logarithm, to base 2, of the number of parts that a decoder may read side by side, from 0 to 3.
    public var partitions: Int?
    /// The quality that may be lost so that a part stays under 512 KB, from 0 to 100.
    public var partitionLimit: Int?
    /// Computes color of half the resolution with care, which is slow, so that thin lines keep their colors.
    public var usesSharpYUV = false
    /// Makes files about as large as a JPEG of the same quality.
    public var emulatesJPEGSize = false
    /// The least and the highest quality that segments may be given, from 0 to 100; `nil` leaves all of it. A libwebp before 1.2.2
    /// does not have it.
    public var qualityRange: ClosedRange<Int>?

    // MARK: Transparency

    /// True if the alpha of a file with loss is compressed.
    public var compressesAlpha = true
    public var alphaFiltering = AlphaFiltering.fast
    /// From 0, smallest, to 100, which is exact.
    public var alphaQuality = 100
    /// Keeps the colors of transparent pixels. Images here hold none: they are premultiplied.
    public var exact = false

    // MARK: Without loss

    /// From 0, the most change for the smallest file, to 100, none; only for files without loss.
    public var nearLossless = 100
    public var imageHint = ImageHint.none

    // MARK: Work

    /// Uses a second thread where it can.
    public var usesThreads = false
    /// Takes less memory and more time.
    public var savesMemory = false
    /// Has libwebp give the compressed picture back into its own copy; the file is the same. For measuring libwebp.
    public var showsCompressed = false

    // MARK: Animation

    /// Tries more ways to write each frame; smaller and slower.
    public var minimizesAnimation = false
    /// Chooses for each frame whether it is written with loss.
    public var mixesCompression = false
    /// The least and the most frames between two that stand for themselves, from which a decoder can begin; `nil` leaves it to
    /// libwebp.
    public var keyframeDistance: ClosedRange<Int>?

    public init() {}
}

extension EncodeOptions {
    /// WebP-specific encoding options.
    public var webp: WebPEncodeOptions {
        get { self[WebPEncodeOptions.self] }
        set { self[WebPEncodeOptions.self] = newValue }
    }
}
