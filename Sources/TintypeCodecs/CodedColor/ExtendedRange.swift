internal import Glibc
internal import TintypeImages

/// Takes pixels in PQ or HLG to extended sRGB in half precision: the light that they stand for, not tone-mapped.
///
/// - PQ is light in nits; reference white, 203 nits (BT.2408), is 1.
/// - HLG is light of the scene, which the system gamma of 1.2 makes light of a display of 1,000 nits (BT.2100, table 5): its 75 %
///   are reference white.
/// - Colors outside the gamut of sRGB have components below 0.
struct ExtendedRange {
    /// The light of numbers of 16 bits: reference white is 1 for PQ, the most there is for HLG.
    private let light: [Float]
    private let toSRGB: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)
    /// For the system gamma.
    private let luminance: SIMD4<Float>?

    private static let pqLight = (0...65_535).map {
        Float(TransferCurves.pqLight(Double($0) / 65_535) / ToneMapping.referenceWhite)
    }
    private static let hlgLight = (0...65_535).map { Float(TransferCurves.hlgLight(Double($0) / 65_535)) }
    private static let hlgPeak = Float(1_000 / ToneMapping.referenceWhite)

    /// - Returns: `nil` for pixels of standard range.
    init?(_ codePoints: CodePoints) {
        guard codePoints.isHighDynamicRange else { return nil }
        let isPQ = codePoints.transfer == CodePoints.Transfer.pq
        light = isPQ ? Self.pqLight : Self.hlgLight
        toSRGB = codePoints.chromaticities.columns(to: .bt709)
        luminance = isPQ ? nil : codePoints.chromaticities.luminance
    }

    /// Converts straight RGBA of 16 bits to premultiplied RGBA in half precision.
    func convert(_ source: UnsafePointer<UInt16>, to row: UnsafeMutableRawPointer, count: Int) {
        let encode = SRGBCurve.encode
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 4) { floats in
            for place in stride(from: 0, to: count * 4, by: 4) {
                var color = SIMD4<Float>(
                    light[Int(source[place])], light[Int(source[place + 1])], light[Int(source[place + 2])], 0)
                if let luminance { color *= powf((color * luminance).sum(), 0.2) * Self.hlgPeak }
                let mixed = toSRGB.0 * color.x + toSRGB.1 * color.y + toSRGB.2 * color.z
                let alpha = Float(source[place + 3]) / 65_535
                for component in 0..<3 { floats[place + component] = encode.mirrored(mixed[component]) * alpha }
                floats[place + 3] = alpha
            }
            if let base = floats.baseAddress { HalfFloat.pack(base, to: row, pixels: count) }
        }
    }
}

/// Extended sRGB on its way out.
enum ExtendedPixels {
    /// The numbers of PQ for light, where reference white is 1: up to 10,000 nits.
    private static let pqValue = PiecewiseLinearCurve(
        octaves: -22...6, below: TransferCurves.pqValue(ToneMapping.referenceWhite / 4_194_304) * 4_194_304
    ) { TransferCurves.pqValue(min($0 * ToneMapping.referenceWhite, 10_000)) }
    private static let toBT2020 = Chromaticities.bt709.columns(to: .bt2020)

    /// Converts a row of half precision to straight RGBA of 16 bits in PQ with the primaries of BT.2020.
    static func convertToPQ(_ source: UnsafeRawPointer, to row: UnsafeMutablePointer<UInt16>, count: Int) {
        let matrix = toBT2020
        let curve = pqValue
        forEachStraightLight(source, count: count) { place, light, alpha in
            let mixed = matrix.0 * light.x + matrix.1 * light.y + matrix.2 * light.z
            for component in 0..<3 { row[place + component] = level(curve.value(mixed[component])) }
            row[place + 3] = level(alpha)
        }
    }

    /// Tone-maps a row of half precision to premultiplied sRGB of 16 bits, with the roll-off that decoding to standard range has.
    static func toneMap(_ source: UnsafeRawPointer, to row: UnsafeMutablePointer<UInt16>, count: Int) {
        let encode = SRGBCurve.encode
        forEachStraightLight(source, count: count) { place, light, alpha in
            let mapped = light * ToneMapping.gain(highest: light.max())
            for component in 0..<3 {
                row[place + component] = level(min(1, encode.value(mapped[component])) * alpha)
            }
            row[place + 3] = level(alpha)
        }
    }

    /// A number from 0 to 1 in 16 bits; 0 for anything but a number.
    @inline(__always)
    private static func level(_ value: Float) -> UInt16 { value > 0 ? UInt16(min(value, 1) * 65_535 + 0.5) : 0 }

    @inline(__always)
    private static func forEachStraightLight(
        _ source: UnsafeRawPointer, count: Int, _ body: (_ place: Int, _ light: SIMD4<Float>, _ alpha: Float) -> Void
    ) {
        let curve = SRGBCurve.light
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 4) { floats in
            guard let base = floats.baseAddress else { return }
            HalfFloat.unpack(source, to: base, count: count * 4)
            Premultiplication.unpremultiply(floats: base, count: count)
            for place in stride(from: 0, to: count * 4, by: 4) {
                let light = SIMD4<Float>(
                    curve.mirrored(base[place]), curve.mirrored(base[place + 1]), curve.mirrored(base[place + 2]), 0)
                body(place, light, min(max(base[place + 3], 0), 1))
            }
        }
    }
}
