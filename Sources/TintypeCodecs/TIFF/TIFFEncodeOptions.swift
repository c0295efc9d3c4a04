public import TintypeCore

/// What only the encoder of TIFF has; without the package trait `TIFF` it changes nothing.
public struct TIFFEncodeOptions: FormatEncodeOptions {
    /// How pixels are compressed, always without loss.
    public enum Compression: String, Sendable, Hashable, CaseIterable {
        case none
        /// Runs of equal bytes (TIFF 6.0, section 9).
        case packBits
        /// TIFF 6.0, section 13; what every reader knows.
        case lzw
        /// zlib's; smaller than LZW.
        case deflate
    }

    public var compression = Compression.deflate

    public init() {}
}

extension EncodeOptions {
    /// What only the encoder of TIFF has.
    public var tiff: TIFFEncodeOptions {
        get { self[TIFFEncodeOptions.self] }
        set { self[TIFFEncodeOptions.self] = newValue }
    }
}
