public import TintypeImages

/// TIFF-specific encoding options. Without the package trait `TIFF` they have no effect.
public struct TIFFEncodeOptions: FormatEncodeOptions {
    /// The compression of pixels, which is always lossless.
    public enum Compression: String, Sendable, Hashable, CaseIterable {
        /// No compression: the fastest, with the largest files.
        case none
        /// Run-length encoding of bytes (TIFF 6.0, section 9).
        case packBits
        /// LZW (TIFF 6.0, section 13). Every reader supports it.
        case lzw
        /// The compression of zlib, which is better than LZW.
        case deflate
    }

    /// The compression of the strips.
    public var compression = Compression.deflate

    public init() {}
}

extension EncodeOptions {
    /// TIFF-specific encoding options.
    public var tiff: TIFFEncodeOptions {
        get { self[TIFFEncodeOptions.self] }
        set { self[TIFFEncodeOptions.self] = newValue }
    }
}
