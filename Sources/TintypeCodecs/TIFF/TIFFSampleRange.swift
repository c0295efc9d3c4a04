#if TIFF
internal import CTIFF
internal import TintypeImages

/// The numbers that mean black and white in samples of 32 bits, or of floating point.
///
/// Colors go from 0 to 1 (Adobe Photoshop TIFF Technical Note 3), or to the largest integer. Gray often has measurements: without a
/// statement of the file (SMinSampleValue and SMaxSampleValue of TIFF 6.0, section 19), numbers from 0 to 255 are shown as they are, and
/// others are cut off, as other readers do.
struct TIFFSampleRange {
    private let black: Double
    private let white: Double

    private static let bytes = TIFFSampleRange(black: 0, white: 255)
    private static let unit = TIFFSampleRange(black: 0, white: 1)
    /// Filters that sharpen go beyond white, but not that far.
    private static let mostOfUnit = 2.0

    /// The range of a page's colors, or of its transparency.
    /// - Parameter maximum: Returns the largest number of the page, for which all of it is read.
    init(
        _ handle: OpaquePointer, _ layout: TIFFLayout, isAlpha: Bool, maximum: () throws(ImageError) -> Double
    ) throws(ImageError) {
        let isGray = layout.color == .gray || layout.color == .invertedGray
        switch layout.sample {
        case .float16, .float32, .float64:
            if isGray, !isAlpha, let stated = Self.stated(handle) {
                self = stated
            } else {
                let largest = isGray ? try maximum() : 1
                self = largest > Self.mostOfUnit ? Self.bytes : Self.unit
            }
        case .uint32, .int32:
            self =
                isGray && !isAlpha
                ? Self.stated(handle) ?? Self.bytes : TIFFSampleRange(black: 0, white: Self.largest(layout.sample))
        case .uint: self = Self.unit
        }
    }

    private static func largest(_ sample: TIFFLayout.Sample) -> Double {
        switch sample {
        case .int32: Double(Int32.max)
        default: Double(UInt32.max)
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
        let isStated = tintype_tiff_field(handle, UInt32(tag), &value) != 0
        return isStated && value.isFinite ? value : nil
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
