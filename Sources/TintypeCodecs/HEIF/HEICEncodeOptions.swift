public import TintypeImages

/// HEIC-specific encoding options. Without the package trait `HEIF` they have no effect.
public struct HEICEncodeOptions: FormatEncodeOptions {
    /// The presets of x265 for its speed. Other encoders of libheif ignore them and use their own default.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        /// The fastest preset, with the largest files.
        case ultrafast
        /// Faster than ``veryfast``.
        case superfast
        /// The default of this library.
        case veryfast
        /// Faster than ``fast``.
        case faster
        /// Faster than ``medium``.
        case fast
        /// The default of x265.
        case medium
        /// Slower than ``medium``, with smaller files.
        case slow
        /// Slower than ``slow``.
        case slower
        /// Slower than ``slower``.
        case veryslow
        /// The slowest preset. It gains next to nothing over ``veryslow``.
        case placebo
    }

    /// The encoder's preset. The default, `veryfast`, takes a third of the time of x265's own default, for slightly larger
    /// files.
    public var preset = Preset.veryfast
    /// The resolution of color, half by default. Lossless files always have the full resolution.
    public var subsampling = ChromaSubsampling.half

    public init() {}
}

extension EncodeOptions {
    /// HEIC-specific encoding options.
    public var heic: HEICEncodeOptions {
        get { self[HEICEncodeOptions.self] }
        set { self[HEICEncodeOptions.self] = newValue }
    }
}
