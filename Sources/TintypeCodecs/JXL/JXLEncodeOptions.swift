public import TintypeImages

/// JPEG XL-specific encoding options. Without the package trait `JXL` they have no effect.
public struct JXLEncodeOptions: FormatOptions {
    /// The encoding effort, from 1 for the fastest to 9 for the smallest file. At 5, the default, a megapixel takes about half a second of
    /// processor time.
    public var effort = 5
    /// The largest error of the picture in just noticeable differences, from 0 to 15. It replaces the quality, unless the file
    /// would exceed ``EncodeOptions/maximumBytes``. At 0, the only loss is rounding in the conversion to the format's own
    /// colors; ``EncodeOptions/lossless`` is exact.
    public var distance: Double?

    public init() {}
}

extension EncodeOptions {
    /// JPEG XL-specific encoding options.
    public var jxl: JXLEncodeOptions {
        get { self[JXLEncodeOptions.self] }
        set { self[JXLEncodeOptions.self] = newValue }
    }
}
