public import TintypeCore

/// AVIF-specific encoding options. Without the package trait `AVIF` they have no effect.
public struct AVIFEncodeOptions: FormatEncodeOptions {
    /// From 0, smallest, to 10, fastest. At 6, the default, a megapixel takes about a second of one core.
    public var speed = 6
    /// The resolution of color, half by default. Lossless files keep all of it.
    public var subsampling = ChromaSubsampling.half
    /// The quality of transparency, from 0 to 1; `nil` takes half the loss of color, since transparency shows every error at an
    /// edge and costs little.
    public var alphaQuality: Double?
    /// Which library writes the AV1 data.
    public var codec = Codec.automatic

    /// The encoders that libavif may have been built with. One that it was not is an error.
    ///
    /// SVT-AV1 is not among them: run as root, it gives the calling thread a real-time priority (`SCHED_FIFO`, in 1.4) and leaves
    /// it that, and one such thread that waits actively stops the machine.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
        /// The first that libavif has, which is libaom in Debian's.
        case automatic
        case aom
        /// Without `EncodeOptions.lossless`.
        case rav1e
    }

    public init() {}
}

extension EncodeOptions {
    /// AVIF-specific encoding options.
    public var avif: AVIFEncodeOptions {
        get { self[AVIFEncodeOptions.self] }
        set { self[AVIFEncodeOptions.self] = newValue }
    }
}
