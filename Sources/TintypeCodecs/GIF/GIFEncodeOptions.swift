public import TintypeImages

/// GIF-specific encoding options.
public struct GIFEncodeOptions: FormatOptions {
    /// True to distribute the error of a pixel's color to its neighbors (Floyd and Steinberg, "An adaptive algorithm for spatial
    /// grayscale", 1976); false to replace each pixel with the nearest color, which makes smaller files, but visible steps in smooth
    /// areas.
    ///
    /// With `nil`, the default, still images are dithered; animations aren't, because they would flicker.
    public var dithers: Bool?
    /// The largest number of colors in a frame, from 2 to 256.
    public var maximumColors = 256

    public init() {}
}

extension EncodeOptions {
    /// GIF-specific encoding options.
    public var gif: GIFEncodeOptions {
        get { self[GIFEncodeOptions.self] }
        set { self[GIFEncodeOptions.self] = newValue }
    }
}
