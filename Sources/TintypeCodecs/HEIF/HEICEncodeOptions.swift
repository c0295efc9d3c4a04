public import TintypeImages

/// HEIC-specific encoding options. Without the package trait `HEIF` they have no effect.
public struct HEICEncodeOptions: FormatOptions {
    /// The encoding effort, from 0 for the fastest to 9 for the smallest file: the presets of x265, from `ultrafast` to `placebo`. The
    /// default, 2 (`veryfast`), takes a third of the time of x265's own default, for slightly larger files. Other encoders of libheif
    /// ignore it.
    public var effort = 2
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
