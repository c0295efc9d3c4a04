public import TintypeCore

/// GIF-specific encoding options.
public struct GIFEncodeOptions: FormatEncodeOptions {
    /// A way to draw a picture of many colors with few.
    public enum Dithering: String, Sendable, Hashable, CaseIterable {
        /// Each pixel gets its nearest color: smaller files, and steps in what was smooth.
        case none
        /// The error of a pixel's color is made good by its neighbors (Floyd and Steinberg, "An adaptive algorithm for spatial
        /// greyscale", 1976).
        case errorDiffusion
    }

    /// `nil`, the default, spreads the errors of still images, and leaves frames of animations as they are, which would
    /// flicker.
    public var dithering: Dithering?
    /// The most colors of a frame, from 2 to 256.
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
