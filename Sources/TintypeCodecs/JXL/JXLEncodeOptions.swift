public import TintypeCore

/// What only the encoder of JPEG XL has; without the package trait `JXL` it changes nothing.
public struct JXLEncodeOptions: FormatEncodeOptions {
    /// From 1, fastest, to 9, smallest. At 5, the default, a megapixel takes about half a second of one core.
    public var effort = 5
    /// How far the picture may be off, in just noticeable differences, from 0 to 15; in place of the quality, unless the
    /// file would be over ``EncodeOptions/maximumBytes``. At 0 nothing is lost but what conversion to the format's own colours
    /// rounds; ``EncodeOptions/lossless`` is exact.
    public var distance: Double?
    /// How much size is given up so that the file decodes fast, from 0, none, to 4.
    public var decodingSpeed = 0

    public init() {}
}

extension EncodeOptions {
    /// What only the encoder of JPEG XL has.
    public var jxl: JXLEncodeOptions {
        get { self[JXLEncodeOptions.self] }
        set { self[JXLEncodeOptions.self] = newValue }
    }
}
