public import TintypeImages

/// PNG-specific encoding options.
public struct PNGEncodeOptions: FormatOptions {
    /// A method to make rows easier to compress (PNG, third edition, section 9).
    package enum Filter: String, Sendable, Hashable, CaseIterable {
        /// The best of the five filters for each row, and none for the numbers of few colors; suitable for photographs.
        case adaptive
        /// No filter; often suitable for drawings with few colors, and the fastest.
        case none
        /// The difference from the pixel on the left.
        case sub
        /// The difference from the pixel above.
        case up
        /// The difference from the average of the pixels on the left and above.
        case average
        /// The difference from the neighbor on the left, above, or above left that predicts the pixel best.
        case paeth
    }

    /// The compression effort, from 0 for none to 9; the default is 6, and 9 takes several times as long. A file over
    /// ``EncodeOptions/maximumBytes`` is compressed again at 9.
    public var compressionLevel = 6
    /// The filter of the rows.
    package var filter = Filter.adaptive

    public init() {}
}

extension EncodeOptions {
    /// PNG-specific encoding options.
    public var png: PNGEncodeOptions {
        get { self[PNGEncodeOptions.self] }
        set { self[PNGEncodeOptions.self] = newValue }
    }
}
