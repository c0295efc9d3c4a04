public import TintypeCore

/// HEIC-specific encoding options. Without the package trait `HEIF` they have no effect.
public struct HEICEncodeOptions: FormatEncodeOptions {
    /// x265's names for how long it may take; other encoders of libheif do not know them and keep to their own default.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo
    }

    /// `veryfast` unless set, which takes a third of the time of x265's own default for some percent of the size.
    public var preset = Preset.veryfast
    /// The resolution of color, half by default. Lossless files keep all of it.
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
