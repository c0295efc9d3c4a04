/// Blends rows of premultiplied pixels of any format: source + destination × (1 − source alpha) (Porter and Duff, "Compositing
/// digital images", 1984).
package enum PixelBlending {
    package static func blend(
        _ source: UnsafeRawPointer, over row: UnsafeMutableRawPointer, count: Int, format: PixelFormat
    ) {
        switch format {
        case .rgba8: blend8(source, over: row, count: count)
        case .rgba16: blend16(source, over: row, count: count)
        case .rgbaFloat16: blendFloat(source, over: row, count: count)
        }
    }

    private static func blend8(_ source: UnsafeRawPointer, over row: UnsafeMutableRawPointer, count: Int) {
        for offset in stride(from: 0, to: count * 4, by: 4) {
            let over = source.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            if over.w == 255 {
                row.storeBytes(of: over, toByteOffset: offset, as: SIMD4<UInt8>.self)
            } else if over != .zero {
                let under = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
                // round(x / 255) for a product of two bytes.
                let product = SIMD4<UInt16>(truncatingIfNeeded: under) &* UInt16(255 - over.w) &+ 128
                let sum = SIMD4<UInt16>(truncatingIfNeeded: over) &+ (product &+ (product &>> 8)) &>> 8
                // Pixels that aren't premultiplied would exceed the maximum.
                let limited = sum.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
                row.storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: limited), toByteOffset: offset, as: SIMD4<UInt8>.self)
            }
        }
    }

    private static func blend16(_ source: UnsafeRawPointer, over row: UnsafeMutableRawPointer, count: Int) {
        for offset in stride(from: 0, to: count * 8, by: 8) {
            let over = SIMD4<UInt32>(
                truncatingIfNeeded: source.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt16>.self))
            let under = SIMD4<UInt32>(
                truncatingIfNeeded: row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt16>.self))
            // round(x / 65535) for a product of two such numbers, which stays within 32 bits.
            let product = under &* (65_535 - over.w) &+ 32_768
            let sum = over &+ (product &+ (product &>> 16)) &>> 16
            let limited = sum.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 65_535))
            row.storeBytes(
                of: SIMD4<UInt16>(truncatingIfNeeded: limited), toByteOffset: offset, as: SIMD4<UInt16>.self)
        }
    }

    private static func blendFloat(_ source: UnsafeRawPointer, over row: UnsafeMutableRawPointer, count: Int) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 8) { floats in
            guard let over = floats.baseAddress else { return }
            let under = over + count * 4
            HalfFloat.unpack(source, to: over, count: count * 4)
            HalfFloat.unpack(row, to: under, count: count * 4)
            for pixel in stride(from: 0, to: count * 4, by: 4) {
                let rest = 1 - min(max(over[pixel + 3], 0), 1)
                for component in pixel..<pixel + 4 { under[component] = over[component] + under[component] * rest }
            }
            HalfFloat.pack(under, to: row, pixels: count)
        }
    }

    /// Fills a row with a single color.
    package static func fill(_ row: UnsafeMutableRawPointer, with color: PixelColor, count: Int, format: PixelFormat) {
        let pixel = color.premultiplied(for: format)
        switch format {
        case .rgba8:
            let pixel = SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(pixel * 255 + 0.5))
            for x in 0..<count { row.storeBytes(of: pixel, toByteOffset: x * 4, as: SIMD4<UInt8>.self) }
        case .rgba16:
            let pixel = SIMD4<UInt16>(truncatingIfNeeded: SIMD4<Int32>(pixel * 65_535 + 0.5))
            for x in 0..<count { row.storeBytes(of: pixel, toByteOffset: x * 8, as: SIMD4<UInt16>.self) }
        case .rgbaFloat16:
            withUnsafeTemporaryAllocation(of: SIMD4<Float>.self, capacity: count) { floats in
                floats.initialize(repeating: pixel)
                guard let base = UnsafeRawPointer(floats.baseAddress) else { return }
                HalfFloat.pack(base.assumingMemoryBound(to: Float.self), to: row, pixels: count)
            }
        }
    }

    /// Makes every pixel of a row opaque, with the same color.
    static func makeOpaque(_ row: UnsafeMutableRawPointer, count: Int, format: PixelFormat) {
        switch format {
        case .rgba8: for x in 0..<count { row.storeBytes(of: 255, toByteOffset: x * 4 + 3, as: UInt8.self) }
        case .rgba16: for x in 0..<count { row.storeBytes(of: .max, toByteOffset: x * 8 + 6, as: UInt16.self) }
        case .rgbaFloat16:
            // 1.0 in binary16.
            for x in 0..<count { row.storeBytes(of: 0x3C00, toByteOffset: x * 8 + 6, as: UInt16.self) }
        }
    }
}
