/// The meaning of the numbers in a file's pixels, by the code points of ITU-T H.273 (ISO/IEC 23091-2), tables 2 and 3.
struct CodePoints: Equatable {
    var primaries: Int
    var transfer: Int
    /// The primaries and the white of a file that states others than the code points have.
    var otherChromaticities: Chromaticities?

    static let sRGB = CodePoints(primaries: 1, transfer: 13)

    /// The light of the numbers is not meant for a display of standard range.
    var isHighDynamicRange: Bool { transfer == Transfer.pq || transfer == Transfer.hlg }

    /// True if the components are shown unchanged. Files with the curve of a camera (BT.709, BT.601, BT.2020) are meant for a
    /// display whose curve is about sRGB's, and browsers show them that way. Unspecified values are treated as sRGB.
    var isSRGB: Bool { chromaticities == .bt709 && isShownAsSRGB }

    var isShownAsSRGB: Bool {
        Transfer.likeSRGB.contains(transfer) || Transfer.gamma[transfer] == nil && !isHighDynamicRange
    }

    enum Transfer {
        static let pq = 16
        static let hlg = 18
        static let likeSRGB: Set<Int> = [1, 2, 6, 13, 14, 15]
        /// Code points whose curve is a plain power.
        static let gamma: [Int: Double] = [4: 2.2, 5: 2.8, 8: 1]
    }

    var chromaticities: Chromaticities {
        if let otherChromaticities { return otherChromaticities }
        return switch primaries {
        case 4: .bt470M
        case 5: .bt470BG
        case 6, 7: .bt601
        case 9: .bt2020
        case 11: .dciP3
        case 12: .displayP3
        default: .bt709
        }
    }

    /// The common name of the color space.
    var name: String {
        let gamut =
            switch primaries {
            case 4: "BT.470 M"
            case 5: "BT.470 BG"
            case 6, 7: "BT.601"
            case 9: "BT.2020"
            case 11: "DCI-P3"
            case 12: "Display P3"
            default: otherChromaticities == nil ? "BT.709" : "Other primaries"
            }
        switch transfer {
        case Transfer.pq: return gamut + " PQ"
        case Transfer.hlg: return gamut + " HLG"
        default: return Transfer.gamma[transfer].map { "\(gamut), gamma \($0)" } ?? gamut
        }
    }
}

extension CodePoints {
    /// The code points of primaries that a file states by their places. Those that can't be converted are taken for BT.709's.
    init(_ chromaticities: Chromaticities, transfer: Int) {
        let known = [1, 4, 5, 6, 9, 11, 12].first {
            CodePoints(primaries: $0, transfer: transfer).chromaticities.isClose(to: chromaticities)
        }
        self.init(primaries: known ?? 2, transfer: transfer)
        if known == nil, chromaticities.isConvertible { otherChromaticities = chromaticities }
    }
}

/// The red, green, blue and white of a color space: x and y of CIE 1931.
struct Chromaticities: Equatable {
    var red: SIMD2<Double>
    var green: SIMD2<Double>
    var blue: SIMD2<Double>
    var white: SIMD2<Double> = d65

    private static let d65 = SIMD2(0.3127, 0.3290)

    static let bt709 = Chromaticities(red: [0.64, 0.33], green: [0.30, 0.60], blue: [0.15, 0.06])
    static let bt470M = Chromaticities(
        red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: [0.310, 0.316])
    static let bt470BG = Chromaticities(red: [0.64, 0.33], green: [0.29, 0.60], blue: [0.15, 0.06])
    static let bt601 = Chromaticities(red: [0.630, 0.340], green: [0.310, 0.595], blue: [0.155, 0.070])
    static let bt2020 = Chromaticities(red: [0.708, 0.292], green: [0.170, 0.797], blue: [0.131, 0.046])
    static let dciP3 = Chromaticities(
        red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060], white: [0.314, 0.351])
    static let displayP3 = Chromaticities(red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060])

    /// True if no place differs by more than rounding.
    func isClose(to other: Chromaticities) -> Bool {
        [red - other.red, green - other.green, blue - other.blue, white - other.white].allSatisfy {
            max(abs($0.x), abs($0.y)) < 0.000_5
        }
    }

    /// True if colors become finite numbers in other primaries, as colors of a triangle do.
    var isConvertible: Bool {
        let (red, green, blue) = columns(to: .bt709)
        // Also false for numbers that are none.
        return [red, green, blue].allSatisfy { column in (0..<3).allSatisfy { column[$0].magnitude < 1_000 } }
    }

    /// From linear components to XYZ, where white has a Y of 1 (SMPTE RP 177).
    var toXYZ: Matrix3 {
        func column(_ point: SIMD2<Double>) -> SIMD3<Double> {
            [point.x / point.y, 1, (1 - point.x - point.y) / point.y]
        }
        let colors = Matrix3(column(red), column(green), column(blue))
        let scale = colors.inverse * column(white)
        return Matrix3(colors.columns.0 * scale.x, colors.columns.1 * scale.y, colors.columns.2 * scale.z)
    }

    /// Returns linear red, green and blue in other primaries. White becomes white, even DCI's, whose x and y differ.
    func columns(to other: Chromaticities) -> (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>) {
        let matrix = other.toXYZ.inverse * toXYZ
        let white = matrix * SIMD3(1, 1, 1)
        func column(_ column: SIMD3<Double>) -> SIMD4<Float> { SIMD4(SIMD3<Float>(column / white), 0) }
        return (column(matrix.columns.0), column(matrix.columns.1), column(matrix.columns.2))
    }

    /// The shares of red, green and blue in luminance. Primaries that no light has may have none.
    var luminance: SIMD4<Float> {
        let columns = toXYZ.columns
        let shares = SIMD4(SIMD3<Float>(SIMD3(columns.0.y, columns.1.y, columns.2.y)), 0)
        return pointwiseMax(shares, .zero)
    }
}

/// A matrix of three columns.
struct Matrix3 {
    var columns: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) { columns = (first, second, third) }

    static func * (matrix: Matrix3, vector: SIMD3<Double>) -> SIMD3<Double> {
        matrix.columns.0 * vector.x + matrix.columns.1 * vector.y + matrix.columns.2 * vector.z
    }

    static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        Matrix3(left * right.columns.0, left * right.columns.1, left * right.columns.2)
    }

    /// By cofactors; the matrices here are far from singular.
    var inverse: Matrix3 {
        func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
            [a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x]
        }
        let (a, b, c) = columns
        let rows = (cross(b, c), cross(c, a), cross(a, b))
        let determinant = (a * rows.0).sum()
        return Matrix3(
            [rows.0.x, rows.1.x, rows.2.x] / determinant, [rows.0.y, rows.1.y, rows.2.y] / determinant,
            [rows.0.z, rows.1.z, rows.2.z] / determinant)
    }
}
