public import TintypeCore

/// JPEG-specific encoding options.
public struct JPEGEncodeOptions: FormatEncodeOptions {
    /// The part of the resolution of color that is kept; `nil` halves it (4:2:0) below a quality of 0.95 and keeps all of it from
    /// there on.
    public var subsampling: ChromaSubsampling?
    /// Looks for the best Huffman codes of the image, for a file that is some percent smaller and the same picture, at the
    /// cost of a second pass. Progressive files always have it.
    public var optimizesHuffmanCodes = false
    /// After how many rows of blocks a decoder can begin anew, behind damage or at once in several places; 0, the default, for
    /// nowhere, at most 65,535.
    public var restartRows = 0

    public init() {}
}

extension EncodeOptions {
    /// JPEG-specific encoding options.
    public var jpeg: JPEGEncodeOptions {
        get { self[JPEGEncodeOptions.self] }
        set { self[JPEGEncodeOptions.self] = newValue }
    }
}
