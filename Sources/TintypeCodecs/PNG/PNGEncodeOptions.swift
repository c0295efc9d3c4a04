public import TintypeImages

/// PNG-specific encoding options.
public struct PNGEncodeOptions: FormatEncodeOptions {
    /// A method to make rows easier to compress (PNG, third edition, section 9).
    public enum Filter: String, Sendable, Hashable, CaseIterable {
        /// The best of the five filters for each row; suitable for photographs.
        case adaptive
        /// No filter; often suitable for drawings with few colors, and the fastest.
        case none
        case sub, up, average, paeth
    }

    /// The compression effort, from 0 for none to 9; the default is 6. A file over ``EncodeOptions/maximumBytes`` is tried
    /// again with 9.
    public var compressionLevel = 6
    public var filter = Filter.adaptive

    public init() {}
}

extension EncodeOptions {
    /// PNG-specific encoding options.
    public var png: PNGEncodeOptions {
        get { self[PNGEncodeOptions.self] }
        set { self[PNGEncodeOptions.self] = newValue }
    }
}
