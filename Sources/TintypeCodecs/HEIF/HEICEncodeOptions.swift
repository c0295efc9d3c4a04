public import TintypeCore

/// What only the encoder of HEIC has; without the package trait `HEIF` it changes nothing.
public struct HEICEncodeOptions: FormatEncodeOptions {
    /// x265's names for how long it may take; other encoders of libheif do not know them and keep to their own default.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo
    }

    /// `veryfast` unless set, which takes a third of the time of x265's own default for some percent of the size.
    public var preset = Preset.veryfast
    /// How much of the resolution of colour is kept; half of it by default. Without loss all of it is.
    public var subsampling = ChromaSubsampling.half

    public init() {}
}

extension EncodeOptions {
    /// What only the encoder of HEIC has.
    public var heic: HEICEncodeOptions {
        get { self[HEICEncodeOptions.self] }
        set { self[HEICEncodeOptions.self] = newValue }
    }
}
