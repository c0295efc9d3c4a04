/// Colour times alpha, and back, on rows of RGBA with 8 bits.
enum AlphaRows {
    /// Multiplies colour by alpha, each exactly rounded.
    static func premultiply(_ row: UnsafeMutableRawPointer, count: Int) {
        let words = row.assumingMemoryBound(to: UInt32.self)
        for x in 0..<count {
            let alpha = words[x] >> 24
            if alpha == 255 { continue }
            words[x] = scaled(words[x] | 0xFF00_0000, by: alpha)
        }
    }

    /// Divides colour by alpha, rounded to nearest. What ``premultiply(_:count:)`` makes of the result is the row again.
    static func unpremultiply(_ source: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int) {
        for x in 0..<count {
            var pixel = source.loadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self)
            let alpha = pixel.w
            if alpha == 0 {
                pixel = .zero
            } else if alpha != 255 {
                let wide = SIMD4<UInt32>(truncatingIfNeeded: pixel) &* 255 &+ UInt32(alpha / 2)
                let divided = wide / SIMD4<UInt32>(repeating: UInt32(alpha))
                pixel = SIMD4<UInt8>(clamping: divided)
                pixel.w = alpha
            }
            row.storeBytes(of: pixel, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
        }
    }

    /// Lays premultiplied pixels over others.
    static func blend(_ source: UnsafeRawPointer, over row: UnsafeMutableRawPointer, count: Int) {
        let above = source.assumingMemoryBound(to: UInt32.self)
        let below = row.assumingMemoryBound(to: UInt32.self)
        for x in 0..<count {
            let alpha = above[x] >> 24
            if alpha == 255 {
                below[x] = above[x]
            } else if alpha != 0 {
                below[x] = above[x] &+ scaled(below[x], by: 255 - alpha)
            }
        }
    }

    /// All four components × alpha / 255, rounded exactly: two at a time in one word.
    @inline(__always)
    private static func scaled(_ pixel: UInt32, by alpha: UInt32) -> UInt32 {
        let even = (pixel & 0x00FF_00FF) &* alpha &+ 0x0080_0080
        let odd = (pixel >> 8 & 0x00FF_00FF) &* alpha &+ 0x0080_0080
        let low = (even &+ (even >> 8 & 0x00FF_00FF)) >> 8 & 0x00FF_00FF
        let high = (odd &+ (odd >> 8 & 0x00FF_00FF)) & 0xFF00_FF00
        return low | high
    }
}
