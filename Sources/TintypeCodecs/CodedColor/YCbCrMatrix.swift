#if AVIF || HEIF
internal import CKernels

/// Takes luma and chroma to red, green and blue, in fixed point (ITU-T H.273, section 8.3 and table 4).
typealias YCbCrMatrix = crows_matrix

extension YCbCrMatrix {
    /// Returns true if sums of luma and chroma undo a matrix of H.273, table 4.
    ///
    /// They don't undo constant luminance (10, 13) and ICtCp (14). Images with SMPTE ST 2085 (11) aren't known, and other numbers are
    /// reserved. Pixels can't share red, green, and blue themselves (0).
    static func isSupported(_ matrix: Int, _ layout: PlanarPicture.Chroma) -> Bool {
        matrix == 0 ? layout == .full : [1, 2, 4, 5, 6, 7, 8, 9, 12].contains(matrix)
    }

    /// - Parameter bits: of luma and chroma, 8...12; red, green and blue will have as many.
    init(_ coding: ColorCoding, bits: Int) {
        let last = Double(1 << bits - 1)
        let step = Double(1 << (bits - 8))
        let lumaScale = coding.isFullRange ? 1 : last / (219 * step)
        var chromaScale = coding.isFullRange ? 1 : last / (224 * step)
        var rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)
        var gray = Int32(1) << Int32(bits - 1)
        let black: Int32 = coding.isFullRange ? 0 : 16 << Int32(bits - 8)
        switch coding.matrix {
        case 0:
            // Green, blue and red themselves.
            rows = ([0, 0, 1], [1, 0, 0], [0, 1, 0])
            chromaScale = lumaScale
            gray = black
        case 8: rows = ([1, -1, 1], [1, 1, 0], [1, -1, -1])
        default:
            let (red, blue) = Self.shares(coding)
            let green = 1 - red - blue
            rows = (
                [1, 0, 2 * (1 - red)],
                [1, -2 * (1 - blue) * blue / green, -2 * (1 - red) * red / green],
                [1, 2 * (1 - blue), 0]
            )
        }
        // Luma in units of 2⁻¹⁶, and chroma, which is in 16ths, in units of 2⁻¹⁶ of these.
        func fixed(_ row: SIMD3<Double>) -> crows_weights {
            let chromaUnit = 4_096 * chromaScale
            return crows_weights(
                luma: Int32((row.x * lumaScale * 65_536).rounded()), blue: Int32((row.y * chromaUnit).rounded()),
                red: Int32((row.z * chromaUnit).rounded()))
        }
        self.init(
            red: fixed(rows.0), green: fixed(rows.1), blue: fixed(rows.2), black: black, gray: gray,
            maximum: Int32(last))
    }

    /// The shares of red and blue in luma. An unstated matrix is BT.601, as in JPEG and as libheif has it.
    private static func shares(_ coding: ColorCoding) -> (red: Double, blue: Double) {
        switch coding.matrix {
        case 1: return (0.2126, 0.0722)
        case 4: return (0.30, 0.11)
        case 7: return (0.212, 0.087)
        case 9: return (0.2627, 0.0593)
        case 12:
            let toXYZ = coding.codePoints.chromaticities.toXYZ
            return (toXYZ.columns.0.y, toXYZ.columns.2.y)
        default: return (0.299, 0.114)
        }
    }
}
#endif
