#if JXL || TIFF
/// Rows that come premultiplied from a file.
enum PremultipliedRows {
    /// Cuts colour down to alpha, which a damaged or lossy file may exceed, and no premultiplied pixel does.
    static func clamp(_ row: UnsafeMutableRawPointer, count: Int) {
        for offset in stride(from: 0, to: count * 4, by: 4) {
            let pixel = row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
            let clamped = pointwiseMin(pixel, SIMD4(repeating: pixel.w))
            row.storeBytes(of: clamped, toByteOffset: offset, as: SIMD4<UInt8>.self)
        }
    }
}
#endif
