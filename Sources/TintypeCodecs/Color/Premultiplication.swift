/// Straight and premultiplied alpha, for rows of RGBA with 8 bits.
enum Premultiplication {
    /// Multiplies color by alpha, in place: `round(c × a / 255)`, exactly.
    ///
    /// `(x + 128 + ((x + 128) >> 8)) >> 8` is `round(x / 255)` for every product of two bytes (Blinn, "Three wrongs make a
    /// right", 1995).
    static func premultiply(_ row: UnsafeMutableRawPointer, count: Int) {
        var pixel = 0
        while pixel + 2 <= count {
            let address = row + pixel * 4
            let bytes = address.loadUnaligned(as: SIMD8<UInt8>.self)
            // Alpha is multiplied by 255 and so stays the same.
            let (a, b) = (UInt16(bytes[3]), UInt16(bytes[7]))
            if a & b != 255 {
                let factors = SIMD8<UInt16>(a, a, a, 255, b, b, b, 255)
                let products = SIMD8<UInt16>(truncatingIfNeeded: bytes) &* factors &+ 128
                let rounded = (products &+ (products &>> 8)) &>> 8
                address.storeBytes(of: SIMD8<UInt8>(truncatingIfNeeded: rounded), as: SIMD8<UInt8>.self)
            }
            pixel += 2
        }
        if pixel < count {
            let address = row + pixel * 4
            let alpha = UInt16(address.load(fromByteOffset: 3, as: UInt8.self))
            for component in 0..<3 {
                let product = UInt16(address.load(fromByteOffset: component, as: UInt8.self)) * alpha + 128
                let rounded = UInt8(truncatingIfNeeded: (product &+ (product >> 8)) >> 8)
                address.storeBytes(of: rounded, toByteOffset: component, as: UInt8.self)
            }
        }
    }

    /// ⌈2²⁴ / a⌉: `(n × reciprocal) >> 24` is `n / a`, rounded down, for every n below 2¹⁶ and a below 2⁸.
    private static let reciprocals: [UInt64] = [0] + (1...255).map { (1 << 24 + $0 - 1) / $0 }

    /// Divides color by alpha: `round(c × 255 / a)`, exactly; transparent pixels become transparent black.
    static func unpremultiply(
        _ source: UnsafeRawPointer, into destination: UnsafeMutableRawPointer, count: Int
    ) {
        reciprocals.withUnsafeBufferPointer { reciprocals in
            for offset in stride(from: 0, to: count * 4, by: 4) {
                let pixel = source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let alpha = UInt64(pixel >> 24)
                var straight = pixel
                if alpha == 0 {
                    straight = 0
                } else if alpha != 255 {
                    let reciprocal = reciprocals[Int(alpha)]
                    let half = alpha / 2
                    let red = min(255, ((UInt64(pixel & 0xFF) * 255 + half) &* reciprocal) >> 24)
                    let green = min(255, ((UInt64(pixel >> 8 & 0xFF) * 255 + half) &* reciprocal) >> 24)
                    let blue = min(255, ((UInt64(pixel >> 16 & 0xFF) * 255 + half) &* reciprocal) >> 24)
                    straight = UInt32(truncatingIfNeeded: red | green << 8 | blue << 16 | alpha << 24)
                }
                destination.storeBytes(of: straight, toByteOffset: offset, as: UInt32.self)
            }
        }
    }

    /// Lays premultiplied pixels on an opaque color.
    static func flatten(
        _ source: UnsafeRawPointer, on background: SIMD4<UInt8>, into destination: UnsafeMutableRawPointer, count: Int
    ) {
        let under = SIMD4<UInt16>(truncatingIfNeeded: background)
        for offset in stride(from: 0, to: count * 4, by: 4) {
            let bytes = source.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            let rest = under &* UInt16(255 - bytes.w) &+ 128
            let sum = SIMD4<UInt16>(truncatingIfNeeded: bytes) &+ (rest &+ (rest &>> 8)) &>> 8
            // Premultiplied color never exceeds alpha, so the sum stays within a byte; hostile pixels are clamped.
            let flat = SIMD4<UInt8>(
                truncatingIfNeeded: sum.clamped(lowerBound: .zero, upperBound: .init(repeating: 255)))
            destination.storeBytes(of: flat, toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
    }

    /// Lays premultiplied pixels over others: source + destination × (1 - source alpha), each exactly rounded (Porter and
    /// Duff, "Compositing digital images", 1984).
    static func blend(_ source: UnsafeRawPointer, over row: UnsafeMutableRawPointer, count: Int) {
        for offset in stride(from: 0, to: count * 4, by: 4) {
            // Most pixels are transparent or opaque, and a whole word is quicker to look at and to copy.
            let over = source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let alpha = over >> 24
            if alpha == 0 { continue }
            if alpha == 255 {
                row.storeBytes(of: over, toByteOffset: offset, as: UInt32.self)
                continue
            }
            let under = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            let product = SIMD4<UInt16>(truncatingIfNeeded: under) &* UInt16(255 - alpha) &+ 128
            let rest = SIMD4<UInt8>(truncatingIfNeeded: (product &+ (product &>> 8)) &>> 8)
            let sum = unsafeBitCast(over, to: SIMD4<UInt8>.self) &+ rest
            row.storeBytes(of: sum, toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
    }
}
