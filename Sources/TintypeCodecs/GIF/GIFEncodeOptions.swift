public import TintypeImages

/// GIF-specific encoding options.
public struct GIFEncodeOptions: FormatEncodeOptions {
    /// A method to draw a picture of many colors with few.
    public enum Dithering: String, Sendable, Hashable, CaseIterable {
        /// Replaces each pixel with the nearest color: smaller files, but visible steps in smooth areas.
        case none
        /// Distributes the error of a pixel's color to its neighbors (Floyd and Steinberg, "An adaptive algorithm for spatial
        /// grayscale", 1976).
        case errorDiffusion
    }

    /// The dithering of frames. With `nil`, the default, still images are dithered and animations are not, because they would
    /// flicker.
    public var dithering: Dithering?
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
