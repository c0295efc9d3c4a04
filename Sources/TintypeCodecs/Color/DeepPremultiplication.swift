internal import TintypeImages

/// Straight and premultiplied alpha, for rows of RGBA of any format.
extension Premultiplication {
    /// Multiplies color by alpha, in place; integers are rounded exactly.
    static func premultiply(_ row: UnsafeMutableRawPointer, count: Int, format: PixelFormat) {
        switch format {
        case .rgba8: premultiply(row, count: count)
        case .rgba16: premultiply16(row.assumingMemoryBound(to: UInt16.self), count: count)
        case .rgbaFloat16:
            withFloats(row, count: count) { floats in
                for x in 0..<count {
                    let alpha = min(max(floats[x * 4 + 3], 0), 1)
                    for component in 0..<3 { floats[x * 4 + component] *= alpha }
                }
            }
        }
    }

    /// Divides color by alpha, in place; transparent pixels become transparent black.
    static func unpremultiply(_ row: UnsafeMutableRawPointer, count: Int, format: PixelFormat) {
        switch format {
        case .rgba8: unpremultiply(row, into: row, count: count)
        case .rgba16:
            let words = row.assumingMemoryBound(to: UInt16.self)
            unpremultiply16(words, into: words, count: count)
        case .rgbaFloat16: withFloats(row, count: count) { unpremultiply(floats: $0, count: count) }
        }
    }

    /// `round(c × a / 65535)`, exactly.
    private static func premultiply16(_ row: UnsafeMutablePointer<UInt16>, count: Int) {
        for x in 0..<count {
            let alpha = UInt64(row[x * 4 + 3])
            if alpha == 65_535 { continue }
            for place in x * 4..<x * 4 + 3 {
                row[place] = UInt16(truncatingIfNeeded: (UInt64(row[place]) * alpha + 32_767) / 65_535)
            }
        }
    }

    /// `round(c × 65535 / a)`, exactly; premultiplied again, the numbers are unchanged.
    static func unpremultiply16(
        _ source: UnsafePointer<UInt16>, into row: UnsafeMutablePointer<UInt16>, count: Int
    ) {
        for x in 0..<count {
            let alpha = UInt64(source[x * 4 + 3])
            for place in x * 4..<x * 4 + 3 {
                let color = UInt64(source[place])
                row[place] = UInt16(
                    truncatingIfNeeded: alpha == 0
                        ? 0 : alpha == 65_535 ? color : min(65_535, (color * 65_535 + alpha / 2) / alpha))
            }
            row[x * 4 + 3] = UInt16(truncatingIfNeeded: alpha)
        }
    }

    static func unpremultiply(floats: UnsafeMutablePointer<Float>, count: Int) {
        for x in 0..<count {
            let alpha = floats[x * 4 + 3]
            let factor = alpha > 0 ? 1 / alpha : 0
            for place in x * 4..<x * 4 + 3 { floats[place] *= factor }
        }
    }

    /// Rows that come premultiplied: cuts color down to alpha, which a damaged or lossy file may exceed. Half-precision numbers
    /// that are not finite become finite.
    static func clamp(_ row: UnsafeMutableRawPointer, count: Int, format: PixelFormat) {
        switch format {
        case .rgba8:
            for offset in stride(from: 0, to: count * 4, by: 4) {
                let pixel = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
                row.storeBytes(
                    of: pointwiseMin(pixel, SIMD4(repeating: pixel.w)), toByteOffset: offset, as: SIMD4<UInt8>.self)
            }
        case .rgba16:
            let words = row.assumingMemoryBound(to: UInt16.self)
            for x in 0..<count {
                for place in x * 4..<x * 4 + 3 { words[place] = min(words[place], words[x * 4 + 3]) }
            }
        case .rgbaFloat16: withFloats(row, count: count) { _ in }
        }
    }

    /// Changes a row of half-precision numbers in single precision.
    static func withFloats(
        _ row: UnsafeMutableRawPointer, count: Int, _ body: (UnsafeMutablePointer<Float>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 4) { floats in
            guard let base = floats.baseAddress else { return }
            HalfFloat.unpack(row, to: base, count: count * 4)
            body(base)
            HalfFloat.pack(base, to: row, pixels: count)
        }
    }
}
