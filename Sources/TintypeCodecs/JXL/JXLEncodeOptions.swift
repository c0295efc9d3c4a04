public import TintypeCore

/// JPEG XL-specific encoding options. Without the package trait `JXL` they have no effect.
public struct JXLEncodeOptions: FormatEncodeOptions {
    /// From 1, fastest, to 9, smallest. At 5, the default, a megapixel takes about half a second of one core.
    public var effort = 5
    /// The largest error of the picture, in just noticeable differences, from 0 to 15; in place of the quality, unless the
    /// file would be over ``EncodeOptions/maximumBytes``. At 0 nothing is lost but what conversion to the format's own colors
    /// rounds; ``EncodeOptions/lossless`` is exact.
    public var distance: Double?
    /// The preference for fast decoding over a small file, from 0, none, to 4.
    public var decodingSpeed = 0

    public init() {}
}

extension EncodeOptions {
    /// JPEG XL-specific encoding options.
    public var jxl: JXLEncodeOptions {
        get { self[JXLEncodeOptions.self] }
        set { self[JXLEncodeOptions.self] = newValue }
    }
}
