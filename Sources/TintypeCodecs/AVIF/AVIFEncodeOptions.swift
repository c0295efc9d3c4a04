public import TintypeCore

/// What only the encoder of AVIF has; without the package trait `AVIF` it changes nothing.
public struct AVIFEncodeOptions: FormatEncodeOptions {
    /// From 0, smallest, to 10, fastest. At 6, the default, a megapixel takes about a second of one core.
    public var speed = 6
    /// How much of the resolution of colour is kept; half of it by default. Without loss all of it is.
    public var subsampling = ChromaSubsampling.half
    /// The quality of transparency, from 0 to 1; `nil` takes half the loss of colour, since transparency shows every error at an
    /// edge and costs little.
    public var alphaQuality: Double?

    public init() {}
}

extension EncodeOptions {
    /// What only the encoder of AVIF has.
    public var avif: AVIFEncodeOptions {
        get { self[AVIFEncodeOptions.self] }
        set { self[AVIFEncodeOptions.self] = newValue }
    }
}
