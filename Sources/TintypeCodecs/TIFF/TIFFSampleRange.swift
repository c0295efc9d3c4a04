#if TIFF
internal import CTIFF

/// The numbers that mean black and white in samples of 32 bits, or of floating point.
///
/// Colors go from 0 to 1 (Adobe Photoshop TIFF Technical Note 3), or to the largest integer. Gray often has measurements: without a
/// statement of the file (SMinSampleValue and SMaxSampleValue of TIFF 6.0, section 19), numbers from 0 to 255 are shown as they are, and
/// others are cut off, as other readers do.
struct TIFFSampleRange {
    private let black: Double
    private let white: Double

    private static let bytes = TIFFSampleRange(black: 0, white: 255)

    init(_ handle: OpaquePointer, _ sample: TIFFLayout.Sample, isGray: Bool) {
        switch sample {
        case .float32, .float64:
            self = isGray ? Self.stated(handle) ?? Self.bytes : TIFFSampleRange(black: 0, white: 1)
        case .uint32: self = isGray ? Self.bytes : TIFFSampleRange(black: 0, white: Double(UInt32.max))
        case .int32: self = isGray ? Self.bytes : TIFFSampleRange(black: 0, white: Double(Int32.max))
        case .float16, .uint8, .uint12, .uint16: self = TIFFSampleRange(black: 0, white: 1)
        }
    }

    private init(black: Double, white: Double) { (self.black, self.white) = (black, white) }

    private static func stated(_ handle: OpaquePointer) -> TIFFSampleRange? {
        guard let black = number(handle, TIFFTAG_SMINSAMPLEVALUE), let white = number(handle, TIFFTAG_SMAXSAMPLEVALUE),
            (white - black).isNormal, white > black
        else { return nil }
        return TIFFSampleRange(black: black, white: white)
    }

    private static func number(_ handle: OpaquePointer, _ tag: Int32) -> Double? {
        var value = Double.nan
        let isStated = withUnsafeMutablePointer(to: &value) { value in
            withVaList([value]) { TIFFVGetField(handle, UInt32(tag), $0) }
        }
        return isStated != 0 && value.isFinite ? value : nil
    }

    /// The levels of numbers, from 0 to the largest.
    struct Levels {
        fileprivate let black: Double
        fileprivate let scale: Double
        fileprivate let largest: Double
        /// The number that is added before the fraction is cut off.
        fileprivate let rounding: Double

        subscript(number: Double) -> Double {
            // NaN is black.
            number > black ? min(largest, (number - black) * scale + rounding) : 0
        }
    }

    /// Returns the levels up to the largest. A number that is shown as it is loses its fraction.
    func levels(_ largest: Double) -> Levels {
        let scale = largest / (white - black)
        return Levels(black: black, scale: scale, largest: largest, rounding: scale == 1 ? 0 : 0.5)
    }
}
#endif
