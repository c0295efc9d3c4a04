internal import CLCMS2

/// Converts from an RGB profile of three curves and a matrix to sRGB with tables: under 2 ns a pixel, where LittleCMS takes 12.
///
/// A table has the linear sRGB that each of the 256 values of a component contributes. Three additions, and a table that applies
/// the sRGB curve and clips colors outside of sRGB, do the rest.
struct MatrixConversion {
    /// For each value of red, then green, then blue: its share of the linear result, in steps of ``encoded``.
    private let shares: [SIMD4<Float>]
    private let encoded: [UInt8]

    private static let stepsPerUnit: Float = 16_384
    /// Added to a small number, 2²³ leaves it as an integer in the low bits.
    private static let integerBias: Float = 8_388_608

    /// Linear sRGB of XYZ with the white of D50 (IEC 61966-2-1, with the Bradford adaptation), by columns.
    private static let fromXYZ: [SIMD4<Float>] = [
        [3.133_856_1, -0.978_768_4, 0.071_945_3, 0], [-1.616_866_7, 1.916_141_5, -0.228_991_4, 0],
        [-0.490_614_6, 0.033_454_0, 1.405_242_7, 0],
    ]

    static func linearSRGB(of color: cmsCIEXYZ) -> SIMD4<Float> {
        fromXYZ[0] * Float(color.X) + fromXYZ[1] * Float(color.Y) + fromXYZ[2] * Float(color.Z)
    }

    /// The linear sRGB of red, green and blue, with their curves, which the profile owns; `nil` if it has no matrix and curves.
    static func primaries(_ profile: cmsHPROFILE) -> [(color: SIMD4<Float>, curve: OpaquePointer)]? {
        guard cmsIsMatrixShaper(profile) != 0 else { return nil }
        let tags = [
            (cmsSigRedColorantTag, cmsSigRedTRCTag), (cmsSigGreenColorantTag, cmsSigGreenTRCTag),
            (cmsSigBlueColorantTag, cmsSigBlueTRCTag),
        ]
        var primaries: [(color: SIMD4<Float>, curve: OpaquePointer)] = []
        for (colorant, curve) in tags {
            guard let color = cmsReadTag(profile, colorant)?.load(as: cmsCIEXYZ.self),
                let curve = cmsReadTag(profile, curve).map({ OpaquePointer($0) })
            else { return nil }
            primaries.append((linearSRGB(of: color), curve))
        }
        return primaries
    }

    /// - Returns: `nil` if the profile has no matrix and curves, or odd curves.
    init?(_ profile: cmsHPROFILE) {
        guard let primaries = Self.primaries(profile) else { return nil }
        var shares: [SIMD4<Float>] = []
        var lowest = SIMD4<Float>.zero
        var highest = SIMD4<Float>.zero
        for (color, curve) in primaries {
            let values = (0...255).map { color * cmsEvalToneCurveFloat(curve, Float($0) / 255) }
            // Also false for NaN.
            guard values.allSatisfy({ all(($0 .> -8) .& ($0 .< 8)) }) else { return nil }
            lowest += values.reduce(values[0]) { pointwiseMin($0, $1) }
            highest += values.reduce(values[0]) { pointwiseMax($0, $1) }
            shares += values
        }
        // The table covers all that can come, with some steps to spare, so that no pixel needs to be clamped.
        let bottom = lowest.min() - 8 / Self.stepsPerUnit
        let range = highest.max() - bottom
        guard range < 4 else { return nil }
        self.shares = shares.enumerated().map { index, share in
            (index < 256 ? share - bottom : share) * Self.stepsPerUnit
        }
        encoded = (0..<Int(range * Self.stepsPerUnit) + 16).map { step in
            let light = Double(step) / Double(Self.stepsPerUnit) + Double(bottom)
            return UInt8((TransferCurves.sRGBValue(min(max(light, 0), 1)) * 255).rounded())
        }
    }

    /// Converts straight or opaque RGBA in place; alpha stays.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) {
        shares.withUnsafeBufferPointer { shares in
            encoded.withUnsafeBufferPointer { encoded in
                for offset in stride(from: 0, to: count * 4, by: 4) {
                    let pixel = row.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let light =
                        shares[Int(pixel & 0xFF)] + shares[256 + Int(pixel >> 8 & 0xFF)]
                        + shares[512 + Int(pixel >> 16 & 0xFF)] + Self.integerBias
                    let steps = unsafeBitCast(light, to: SIMD4<UInt32>.self) & 0x7F_FFFF
                    let color =
                        UInt32(encoded[Int(steps.x)]) | UInt32(encoded[Int(steps.y)]) << 8
                        | UInt32(encoded[Int(steps.z)]) << 16
                    row.storeBytes(of: color | pixel & 0xFF00_0000, toByteOffset: offset, as: UInt32.self)
                }
            }
        }
    }
}
