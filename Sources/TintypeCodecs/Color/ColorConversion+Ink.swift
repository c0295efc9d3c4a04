internal import TintypeImages

extension ColorConversion {
    /// CMYK without a profile: each ink takes its part of the light.
    static func convertNaively(
        cmyk: UnsafeRawPointer, inverted: Bool, to row: UnsafeMutableRawPointer, count: Int
    ) {
        let mask: UInt8 = inverted ? 0 : 255
        for offset in stride(from: 0, to: count * 4, by: 4) {
            let light = cmyk.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self) ^ mask
            let product = SIMD4<UInt16>(truncatingIfNeeded: light) &* UInt16(light.w) &+ 128
            var pixel = SIMD4<UInt8>(truncatingIfNeeded: (product &+ (product &>> 8)) &>> 8)
            pixel.w = 255
            row.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
    }

    /// The same with 16 bits.
    static func convertNaively(
        deepCMYK ink: UnsafePointer<UInt16>, inverted: Bool, to row: UnsafeMutablePointer<UInt16>, count: Int
    ) {
        let mask: UInt16 = inverted ? 0 : .max
        for place in stride(from: 0, to: count * 4, by: 4) {
            let black = UInt64(ink[place + 3] ^ mask)
            for component in 0..<3 {
                let light = UInt64(ink[place + component] ^ mask)
                row[place + component] = UInt16(truncatingIfNeeded: (light * black + 32_767) / 65_535)
            }
            row[place + 3] = .max
        }
    }
}
