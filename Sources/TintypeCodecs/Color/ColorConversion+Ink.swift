internal import TintypeImages

extension ColorConversion {
    /// CMYK of 8 or 16 bits without a profile: each ink takes its part of the light. So the light that black leaves dims colors as alpha does.
    static func convertNaively(
        cmyk: UnsafeRawPointer, inverted: Bool, to row: UnsafeMutableRawPointer, format: PixelFormat = .rgba8,
        count: Int
    ) {
        func convert<Pixel: FixedWidthInteger>(opaque: Pixel) {
            let inks = cmyk.assumingMemoryBound(to: Pixel.self)
            let pixels = row.assumingMemoryBound(to: Pixel.self)
            let mask: Pixel = inverted ? 0 : ~0
            for x in 0..<count { pixels[x] = inks[x] ^ mask }
            Premultiplication.premultiply(row, count: count, format: format)
            for x in 0..<count { pixels[x] |= opaque }
        }
        if format == .rgba8 { convert(opaque: 0xFF00_0000 as UInt32) } else { convert(opaque: 0xFFFF << 48 as UInt64) }
    }
}
