internal import TintypeImages

extension CodePoints {
    /// Converts pixels in PQ or HLG: to extended sRGB in half precision, or tone-mapped to sRGB of 8 bits.
    /// - Parameters:
    ///   - pixels: premultiplied pixels of 16 bits.
    ///   - format: the format of the result.
    func inStandardColors(
        _ pixels: PixelBuffer, as format: PixelFormat, pool: PixelBufferPool
    ) throws(ImageError) -> PixelBuffer {
        let (count, extended, toneMapping) = (pixels.width, ExtendedRange(self), ToneMapping(self))
        let result = try MutablePixelBuffer(size: pixels.size, format: format, cleared: true, pool: pool)
        for y in 0..<pixels.height {
            let row = result.row(y)
            pixels.withRow(y) { source in
                withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { numbers in
                    guard let straight = numbers.baseAddress, let base = source.baseAddress else { return }
                    straight.initialize(from: base.assumingMemoryBound(to: UInt16.self), count: count * 4)
                    Premultiplication.unpremultiply(straight, count: count, format: .rgba16)
                    if format == .rgbaFloat16 {
                        extended?.convert(straight, to: row, count: count)
                    } else {
                        let most = UInt32(1) << UInt32(ToneMapping.bits) - 1
                        for index in 0..<count * 4 {
                            straight[index] = UInt16((UInt32(straight[index]) * most + 32_767) / 65_535)
                        }
                        toneMapping?.convert(straight, to: row, count: count)
                        Premultiplication.premultiply(row, count: count)
                    }
                }
            }
        }
        return result.freeze()
    }
}
