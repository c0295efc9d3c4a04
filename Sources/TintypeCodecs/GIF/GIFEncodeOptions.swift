public import TintypeCore

/// What only the encoder of GIF has.
public struct GIFEncodeOptions: FormatEncodeOptions {
    /// How a picture of many colours does with few.
    public enum Dithering: String, Sendable, Hashable, CaseIterable {
        /// Each pixel gets its nearest colour: smaller files, and steps in what was smooth.
        case none
        /// What a pixel's colour is off is made good by its neighbours (Floyd and Steinberg, "An adaptive algorithm for spatial
        /// greyscale", 1976).
        case errorDiffusion
    }

    /// `nil`, the default, spreads the errors of still images, and leaves frames of animations as they are, which would
    /// flicker.
    public var dithering: Dithering?
    /// The most colours of a frame, from 2 to 256.
    public var maximumColors = 256

    public init() {}
}

extension EncodeOptions {
    /// What only the encoder of GIF has.
    public var gif: GIFEncodeOptions {
        get { self[GIFEncodeOptions.self] }
        set { self[GIFEncodeOptions.self] = newValue }
    }
}
