public import TintypeCore

/// PNG-specific encoding options.
public struct PNGEncodeOptions: FormatEncodeOptions {
    /// A way to make rows easier to compress (PNG, third edition, section 9).
    public enum Filter: String, Sendable, Hashable, CaseIterable {
        /// For each row the one of the five that seems best; right for photographs.
        case adaptive
        /// None; often right for drawings of few colors, and the fastest.
        case none
        case sub, up, average, paeth
    }

    /// The effort of compression, from 0, none, over 6, the default, to 9. A file over ``EncodeOptions/maximumBytes`` is
    /// tried once more with 9.
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
