/// A smooth curve over positive numbers as straight lines, 256 to each power of two, so that small numbers are as exact as large
/// ones: to about 10⁻⁵ of the value for powers such as the curves of displays.
struct PiecewiseLinearCurve: Sendable {
    private let values: [Float]
    private let lowest: Float
    private let highest: Float
    private let slope: Float

    private static let linesBits: UInt32 = 8
    private static let mantissaBits: UInt32 = 23

    /// - Parameters:
    ///   - octaves: from 2 to the power of the lower to 2 to the power of the upper bound. Above, the curve stays the same.
    ///   - slope: the slope of the straight line that replaces the curve near zero.
    init(octaves: ClosedRange<Int>, below slope: Double, _ curve: (Double) -> Double) {
        let lines = 1 << Self.linesBits
        values = (0...(octaves.count - 1) * lines).map { index in
            let start = Double(sign: .plus, exponent: octaves.lowerBound + index / lines, significand: 1)
            return Float(curve(start * (1 + Double(index % lines) / Double(lines))))
        }
        lowest = Float(sign: .plus, exponent: octaves.lowerBound, significand: 1)
        highest = Float(sign: .plus, exponent: octaves.upperBound, significand: 1)
        self.slope = Float(slope)
    }

    /// The value for a number of at least zero. Negative numbers and NaN count as zero.
    @inline(__always)
    func value(_ number: Float) -> Float {
        guard number >= lowest else { return number > 0 ? number * slope : 0 }
        guard number < highest else { return values[values.count - 1] }
        // The exponent and the first bits of the mantissa count the lines; the rest says where on the line.
        let shift = Self.mantissaBits - Self.linesBits
        let place = number.bitPattern &- lowest.bitPattern
        let index = Int(place &>> shift)
        let part = Float(place & (1 << shift - 1)) * Float(sign: .plus, exponent: -Int(shift), significand: 1)
        return values[index] + (values[index + 1] - values[index]) * part
    }

    /// The same on both sides of zero.
    @inline(__always)
    func mirrored(_ number: Float) -> Float { number < 0 ? -value(-number) : value(number) }
}

/// The curve of sRGB (IEC 61966-2-1), also beyond its range.
enum SRGBCurve {
    /// The number for light, where 1 is white: up to 128.
    static let encode = PiecewiseLinearCurve(octaves: -10...7, below: 12.92, TransferCurves.sRGBValue)
    /// The light of a number, up to 8.
    static let light = PiecewiseLinearCurve(octaves: -5...3, below: 1 / 12.92, TransferCurves.sRGBLight)
}
