internal import TintypeImages

extension ColorConversion {
    /// CMYK of 8 or 16 bits without a profile: each ink takes its part of the light. So the light that black leaves dims colors as alpha does.
    static func convertNaively(
        cmyk: UnsafeRawPointer, inverted: Bool, to row: UnsafeMutableRawPointer, format: PixelFormat = .rgba8,
        count: Int
    ) {
        func convert<Pixel: FixedWidthInteger & BitwiseCopyable>(opaque: Pixel) {
            let size = MemoryLayout<Pixel>.size
            let mask: Pixel = inverted ? 0 : ~0
            for place in stride(from: 0, to: count * size, by: size) {
                let ink = cmyk.loadUnaligned(fromByteOffset: place, as: Pixel.self)
                row.storeBytes(of: ink ^ mask, toByteOffset: place, as: Pixel.self)
            }
            Premultiplication.premultiply(row, count: count, format: format)
            for place in stride(from: 0, to: count * size, by: size) {
                let color = row.loadUnaligned(fromByteOffset: place, as: Pixel.self)
                row.storeBytes(of: color | opaque, toByteOffset: place, as: Pixel.self)
            }
        }
        if format == .rgba8 { convert(opaque: 0xFF00_0000 as UInt32) } else { convert(opaque: 0xFFFF << 48 as UInt64) }
    }
}
