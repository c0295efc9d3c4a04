internal import Glibc

/// Converts pixels in PQ or HLG to sRGB.
///
/// - PQ is light in nits. HLG is light of the scene, which its own system gamma of 1.2 makes light of a display of 1,000 nits
///   (BT.2100, table 5).
/// - Reference white is 203 nits (BT.2408) and becomes the white of sRGB's range, before highlights are made room for.
/// - The largest of the three components goes through the roll-off of BT.2390 (section 5.4.1), from a source of up to 1,000
///   nits; all three are scaled by its loss, so that hues stay. Dark and middle tones, up to 90 nits, do not change.
/// - Colors outside the gamut of sRGB are cut off.
struct ToneMapping {
    /// The bits of the numbers that come.
    static let bits = 12

    static let referenceWhite = 203.0
    private static let peak = 1_000.0
    private static let entries = 1 << bits
    private static let encodedSteps: Float = 16_384

    /// The light of each number: 1 is reference white for PQ, and the most there is for HLG.
    private let light: [Float]
    /// For the square root of light over ``peak``: the resulting light, divided by the original light.
    private static let gains: [Float] = (0..<entries).map { index in
        let root = max(Double(index), 0.5) / Double(entries - 1)
        let nits = root * root * peak
        return Float(rolledOff(nits) / nits)
    }
    /// The numbers of sRGB for light from 0 to 1.
    private static let encoded: [UInt8] = (0...Int(encodedSteps)).map { step in
        UInt8((TransferCurves.sRGBValue(Double(step) / Double(encodedSteps)) * 255).rounded())
    }
    private let toSRGB: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)
    /// The shares of red, green and blue in luminance, where the system gamma needs it.
    private let luminance: SIMD4<Float>?

    /// - Returns: `nil` for pixels of standard range.
    init?(_ codePoints: CodePoints) {
        guard codePoints.isHighDynamicRange else { return nil }
        let isPQ = codePoints.transfer == CodePoints.Transfer.pq
        light = (0..<Self.entries).map { index in
            let value = Double(index) / Double(Self.entries - 1)
            return Float(
                isPQ ? TransferCurves.pqLight(value) / Self.referenceWhite : TransferCurves.hlgLight(value))
        }
        toSRGB = codePoints.chromaticities.columns(to: .bt709)
        luminance = isPQ ? nil : codePoints.chromaticities.luminance
    }

    /// BT.2390's electrical-electrical transfer function with a black of 0, from and to nits.
    static func rolledOff(_ nits: Double) -> Double {
        let most = TransferCurves.pqValue(peak)
        let highest = TransferCurves.pqValue(referenceWhite) / most
        let knee = 1.5 * highest - 0.5
        let value = min(1, TransferCurves.pqValue(nits) / most)
        guard value > knee else { return nits }
        let t = (value - knee) / (1 - knee)
        let (t2, t3) = (t * t, t * t * t)
        let bent = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * highest
        return TransferCurves.pqLight(bent * most)
    }

    /// Returns the factor of the roll-off for a color, by the light of its largest component, where reference white is 1.
    @inline(__always)
    static func gain(highest: Float) -> Float {
        guard highest > 0 else { return 1 }
        let peak = Float(peak / referenceWhite)
        let within = min(highest, peak)
        let position = (within / peak).squareRoot() * Float(entries - 1)
        let index = min(Int(position), entries - 2)
        return (gains[index] + (gains[index + 1] - gains[index]) * (position - Float(index))) * within / highest
    }

    /// Converts straight RGBA of 12 bits in 16 to straight RGBA of 8 bits in sRGB.
    func convert(_ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int) {
        let peak = Float(Self.peak / Self.referenceWhite)
        let last = Self.entries - 1
        let encoded = Self.encoded
        for x in 0..<count {
            let (r, g, b) = (Int(source[x * 4]), Int(source[x * 4 + 1]), Int(source[x * 4 + 2]))
            var color = SIMD4<Float>(light[min(r, last)], light[min(g, last)], light[min(b, last)], 0)
            if let luminance {
                // The gamma of 1.2 is applied to luminance: each component grows by its power of 0.2.
                color *= powf((color * luminance).sum(), 0.2) * peak
            }
            color *= Self.gain(highest: color.max())
            let mixed = toSRGB.0 * color.x + toSRGB.1 * color.y + toSRGB.2 * color.z
            let steps = (mixed.clamped(lowerBound: .zero, upperBound: .one) * Self.encodedSteps)
                .rounded(.toNearestOrAwayFromZero)
            let alpha = (Int(source[x * 4 + 3]) * 255 + last / 2) / last
            row.storeBytes(
                of: SIMD4(encoded[Int(steps.x)], encoded[Int(steps.y)], encoded[Int(steps.z)], UInt8(min(255, alpha))),
                toByteOffset: x * 4, as: SIMD4<UInt8>.self)
        }
    }
}
