public import TintypeImages

/// AVIF-specific encoding options. Without the package trait `AVIF` they have no effect.
public struct AVIFEncodeOptions: FormatOptions {
    /// The encoding speed, from 0 for the smallest file to 10 for the fastest. At 6, the default, a megapixel takes about one second of
    /// processor time.
    public var speed = 6
    /// The resolution of color, half by default. Lossless files always have the full resolution.
    public var subsampling = ChromaSubsampling.half
    /// The quality of transparency, from 0 to 1. With `nil`, transparency loses half as much as color, because its errors are visible at
    /// every edge, and a higher quality costs little.
    public var alphaQuality: Double?
    /// The library that writes the AV1 data.
    public var codec = Codec.automatic

    /// The encoders that libavif can be built with. Selecting a missing codec is an error.
    ///
    /// SVT-AV1 isn't available: in a process of root, it gives the calling thread a real-time priority (`SCHED_FIFO`, in 1.4) and doesn't
    /// reset it. A single such thread that waits actively blocks the machine.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
        /// The first encoder that libavif has, which is libaom in Debian.
        case automatic
        /// The reference encoder of AV1.
        case aom
        /// Does not support `EncodeOptions.lossless`.
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
