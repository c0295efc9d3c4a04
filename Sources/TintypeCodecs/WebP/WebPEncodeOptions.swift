public import TintypeImages

/// WebP-specific encoding options: settings of libwebp (`WebPConfig` and `WebPAnimEncoderOptions` in its headers).
///
/// Settings that are `nil` are determined by ``preset``. A setting out of its range causes an error that names it.
public struct WebPEncodeOptions: FormatOptions {
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

    /// The kind of picture. It determines the settings that are `nil`.
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
    /// The preprocessing of the picture: 0 for none, 1 to smooth the borders of segments, 2 for random dithering when the resolution of
    /// color is reduced.
    public var preprocessing: Int?
    /// The largest number of segments with their own settings, from 1 to 4.
    public var segments: Int?
    /// The amount of noise that is allowed where it is least visible, from 0 to 100.
    public var snsStrength: Int?
    /// The strength of the deblocking filter, from 0 to 100.
    public var filterStrength: Int?
    /// The sharpness of the deblocking filter, from 0 to 7, the least sharp.
    public var filterSharpness: Int?
    /// True for a deblocking filter that filters all edges strongly; false to filter edges inside of blocks only lightly, which is faster
    /// to decode.
    public var usesStrongFilter: Bool?
    /// True to choose the filter strength automatically.
    public var autoFilter: Bool?
    /// The binary logarithm of the number of partitions that a decoder can read in parallel, from 0 to 3.
    public var partitions: Int?
    /// The quality that may be sacrificed to keep a partition under 512 KB, from 0 to 100.
    public var partitionLimit: Int?
    /// True to reduce the resolution of color carefully, which is slow, so that thin lines keep their colors.
    public var usesSharpYUV = false

    // MARK: Transparency

    /// True to compress the alpha channel of a lossy file.
    public var compressesAlpha = true
    /// The predictive filtering of alpha before its compression: 0 for none, 1 for a quick estimate of the best filter, 2 to try all of
    /// them, which is slow.
    public var alphaFiltering = 1
    /// The quality of alpha, from 0 for the smallest file to 100, which is exact.
    public var alphaQuality = 100

    // MARK: Lossless encoding

    /// The near-lossless preprocessing of lossless files, from 0 for the largest changes and the smallest file to 100 for none.
    public var nearLossless = 100

    // MARK: Resources

    /// True to use a second thread if possible.
    public var usesThreads = false
    /// True to use less memory and more time.
    public var savesMemory = false
    /// True to make libwebp write the compressed picture back into its own copy; the file is the same. Use it to measure libwebp.
    public var showsCompressed = false

    // MARK: Animation

    /// True to try more ways to write each frame, which is slower and produces a smaller file.
    public var minimizesAnimation = false
    /// True to choose lossy or lossless encoding for each frame.
    public var mixesCompression = false
    /// The smallest and the largest number of frames between keyframes, where a decoder can start; `nil` for libwebp's choice.
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
