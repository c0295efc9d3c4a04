internal import CLCMS2
internal import TintypeImages

/// Converts 16-bit pixels from an RGB profile of three curves and a matrix to sRGB, where LittleCMS would take several times as
/// long, or go through a table of 33 steps.
struct DeepMatrixConversion {
    /// Of red, green and blue in turn, the light of numbers in steps of 1/4,096.
    private let light: [Float]
    /// The linear sRGB of each's light.
    private let columns: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)

    private static let steps = 4_096

    /// - Returns: `nil` if the profile has no matrix and curves, or odd curves.
    init?(_ profile: cmsHPROFILE) {
        guard let primaries = MatrixConversion.primaries(profile) else { return nil }
        let columns = primaries.map(\.color)
        // One entry more than is reached, so that there is always a next.
        let light = primaries.flatMap { _, curve in
            (0...Self.steps + 1).map { cmsEvalToneCurveFloat(curve, min(1, Float($0) / Float(Self.steps))) }
        }
        // Also false for NaN.
        guard light.allSatisfy({ abs($0) < 8 }), columns.allSatisfy({ all(($0 .> -8) .& ($0 .< 8)) }) else {
            return nil
        }
        self.light = light
        self.columns = (columns[0], columns[1], columns[2])
    }

    /// Converts straight or opaque RGBA in place; alpha stays.
    func convert(_ row: UnsafeMutablePointer<UInt16>, count: Int) {
        let encode = SRGBCurve.encode
        light.withUnsafeBufferPointer { light in
            for place in stride(from: 0, to: count * 4, by: 4) {
                func value(_ component: Int) -> Float {
                    let position = Float(row[place + component]) * (Float(Self.steps) / 65_535)
                    let index = Int(position) + component * (Self.steps + 2)
                    return light[index] + (light[index + 1] - light[index]) * (position - position.rounded(.down))
                }
                let linear = columns.0 * value(0) + columns.1 * value(1) + columns.2 * value(2)
                for component in 0..<3 {
                    let level = encode.value(min(linear[component], 1)) * 65_535 + 0.5
                    row[place + component] = UInt16(level)
                }
            }
        }
    }
}
