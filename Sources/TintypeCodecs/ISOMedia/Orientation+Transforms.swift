#if AVIF || HEIF
internal import TintypeImages

extension Orientation {
    /// The sides that an `imir` box exchanges.
    enum Mirror { case none, topBottom, leftRight }

    /// The orientation that an `irot` and then an `imir` make (ISO/IEC 23008-12, sections 6.5.10 and 6.5.12).
    init(counterclockwiseQuarters turns: Int, mirror: Mirror) {
        self =
            switch (turns & 3, mirror) {
            case (0, .none): .up
            case (1, .none): .left
            case (2, .none): .down
            case (3, .none): .right
            case (0, .topBottom), (2, .leftRight): .downMirrored
            case (0, .leftRight), (2, .topBottom): .upMirrored
            case (1, .topBottom), (3, .leftRight): .leftMirrored
            default: .rightMirrored
            }
    }
}
#endif
