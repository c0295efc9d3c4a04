public import TintypeImages

/// WebP-specific encoding options: all settings of libwebp (`WebPConfig` and `WebPAnimEncoderOptions` in its headers).
///
/// Settings that are `nil` are determined by ``preset``. A setting out of its range causes an error that names it.
public struct WebPEncodeOptions: FormatEncodeOptions {
    /// The kind of picture, which determines the default settings of libwebp.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        /// Any picture; the default.
        case standard
        /// An indoor portrait.
        case picture
        /// An outdoor photograph in natural light.
        case photo
        /// A drawing with many contrasts.
        case drawing
        /// A small, colorful image.
        case icon
        /// A picture of text.
        case text
    }

    /// A change of the picture before lossy encoding.
    public enum Preprocessing: String, Sendable, Hashable, CaseIterable {
        /// No change.
        case none
        /// Smooths the borders of segments.
        case segmentSmoothing
        /// Applies random dithering when the resolution of color is reduced.
        case dithering
    }

    /// A deblocking filter, which a decoder applies.
    public enum FilterType: String, Sendable, Hashable, CaseIterable {
        /// Filters edges inside of blocks only lightly; fast to decode.
        case simple
        /// Filters all edges strongly.
        case strong
    }

    /// The predictive filtering of the alpha plane before its compression.
    public enum AlphaFiltering: String, Sendable, Hashable, CaseIterable {
        /// No filter.
        case none
        /// A quick estimate of the best filter.
        case fast
        /// The best filter, found by trying all of them, which is slow.
        case best
    }

    /// The kind of a losslessly encoded picture.
    public enum ImageHint: String, Sendable, Hashable, CaseIterable {
        /// Any picture; the default.
        case none
        /// An indoor portrait.
        case picture
        /// An outdoor photograph in natural light.
        case photo
        /// Pixels in discrete tones, such as a chart or map tiles.
        case graph
    }

    /// The kind of picture. It decides the settings that are `nil`.
    public var preset = Preset.standard
    /// The encoding method, from 0 for the fastest to 6 for the smallest file. The default is 4, or for lossless encoding the
    /// result of ``losslessEffort``.
    public var method: Int?
    /// The effort of lossless compression, from 0 for the fastest to 9.
    public var losslessEffort = 6

    // MARK: Lossy encoding

    /// The peak signal-to-noise ratio in decibels, which replaces the quality; from 0, which is off, to 99. It needs at least
    /// two ``passes``. ``EncodeOptions/maximumBytes`` takes precedence over it.
    public var targetPSNR = 0.0
    /// The number of passes of analysis, from 1 to 10.
    public var passes: Int?
    /// The change of the picture before encoding.
    public var preprocessing: Preprocessing?
    /// The largest number of segments with their own settings, from 1 to 4.
    public var segments: Int?
    /// The amount of noise that is allowed where it is least visible, from 0 to 100.
    public var snsStrength: Int?
    /// The strength of the deblocking filter, from 0 to 100.
    public var filterStrength: Int?
    /// The sharpness of the deblocking filter, from 0 to 7, the least sharp.
    public var filterSharpness: Int?
    /// The kind of deblocking filter.
    public var filterType: FilterType?
    /// True to find the filter strength that suits the picture.
    public var autoFilter: Bool?
    /// The binary logarithm of the number of parts that a decoder can read in parallel, from 0 to 3.
    public var partitions: Int?
    /// The quality that can be sacrificed to keep a part under 512 KB, from 0 to 100.
    public var partitionLimit: Int?
    /// True to reduce the resolution of color carefully, which is slow, so that thin lines keep their colors.
    public var usesSharpYUV = false
    /// True to produce files about as large as a JPEG of the same quality.
    public var emulatesJPEGSize = false
    /// The lowest and the highest quality of segments, from 0 to 100; `nil` for the full range. libwebp supports it from
    /// version 1.2.2 on.
    public var qualityRange: ClosedRange<Int>?

    // MARK: Transparency

    /// True to compress the alpha of a lossy file.
    public var compressesAlpha = true
    /// The filtering of alpha before its compression.
    public var alphaFiltering = AlphaFiltering.fast
    /// The quality of alpha, from 0 for the smallest file to 100, which is exact.
    public var alphaQuality = 100
    /// True to keep the colors of transparent pixels. Images of this library are premultiplied, so they have none.
    public var exact = false

    // MARK: Lossless encoding

    /// The preprocessing of lossless files, from 0 for the largest changes and smallest file to 100 for none.
    public var nearLossless = 100
    /// The kind of picture, a hint for lossless compression.
    public var imageHint = ImageHint.none

    // MARK: Resources

    /// True to use a second thread if possible.
    public var usesThreads = false
    /// True to use less memory and more time.
    public var savesMemory = false
    /// True to make libwebp return the compressed picture in its own copy; the file is the same. Use it to measure libwebp.
    public var showsCompressed = false

    // MARK: Animation

    /// True to try more ways to write each frame, which is slower and produces a smaller file.
    public var minimizesAnimation = false
    /// True to choose lossy or lossless encoding for each frame.
    public var mixesCompression = false
    /// The least and the greatest number of frames between keyframes, where a decoder can start; `nil` for libwebp's
    /// choice.
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
