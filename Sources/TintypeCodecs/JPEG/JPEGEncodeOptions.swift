public import TintypeImages

/// JPEG-specific encoding options.
public struct JPEGEncodeOptions: FormatOptions {
    /// The resolution of color. With `nil`, it is half (4:2:0) below a quality of 0.95, and full otherwise.
    public var subsampling: ChromaSubsampling?
    /// True to optimize the Huffman codes for the image. The file becomes slightly smaller with the same pixels, at the cost of
    /// a second pass. Progressive files are always optimized.
    public var optimizesHuffmanCodes = false
    /// The number of rows of blocks between restart markers, where a decoder can resume after damage or start in parallel;
    /// 0, the default, for no markers; at most 65,535.
    package var restartRows = 0

    public init() {}
}

extension EncodeOptions {
    /// JPEG-specific encoding options.
    public var jpeg: JPEGEncodeOptions {
        get { self[JPEGEncodeOptions.self] }
        set { self[JPEGEncodeOptions.self] = newValue }
    }
}
