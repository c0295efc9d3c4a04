internal import CKernels
internal import FoundationEssentials
internal import TintypeImages

/// Writes a bitmap: 24 bits a pixel, or 32 with alpha.
struct BMPEncoder {
    let job: EncodeJob
    private var image: Image { job.image }

    init(job: EncodeJob) { self.job = job }

    func encode() throws(ImageError) -> Data {
        let pixels = image.pixels
        let (width, height) = (pixels.width, pixels.height)
        let bytesPerPixel = image.hasAlpha ? 4 : 3
        let rowBytes = (width * bytesPerPixel + 3) & ~3
        let headerBytes = 14 + (image.hasAlpha ? 108 : 40)
        let total = headerBytes + rowBytes * height
        guard total <= Int(UInt32.max) else {
            throw job.failure("the BMP would take \(ByteCount(total)), over the format's limit of 4 GB")
        }
        guard job.fits(total) else { throw job.tooLarge() }
        var data = header(total: total, headerBytes: headerBytes, size: pixels.size)
        data.reserveCapacity(total)
        // The end of the row is padding.
        var row = [UInt8](repeating: 0, count: rowBytes)
        for y in (0..<height).reversed() {
            if y & 255 == 0 { try job.context.checkCancellation() }
            pixels.withRow(y) { source in
                row.withUnsafeMutableBytes { row in
                    guard let source = source.baseAddress, let row = row.baseAddress else { return }
                    write(source, to: row, count: width)
                }
            }
            data += row
        }
        return data
    }

    /// Writes blue, green, red, and any straight alpha.
    private func write(_ pixels: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int) {
        guard image.hasAlpha else {
            RowKernels.available[0].contract(
                row.assumingMemoryBound(to: UInt8.self), pixels.assumingMemoryBound(to: UInt8.self), true, count)
            return
        }
        Premultiplication.unpremultiply(pixels, into: row, count: count)
        RowKernels.swapRedAndBlue(row, count: count)
    }

    private func header(total: Int, headerBytes: Int, size: PixelSize) -> Data {
        var data = Data("BM".utf8)
        func add(_ values: Int..., bytes: Int = 4) {
            for value in values {
                for shift in 0..<bytes { data.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
            }
        }
        add(total, 0, headerBytes, headerBytes - 14, size.width, size.height)
        add(1, image.hasAlpha ? 32 : 24, bytes: 2)
        // 72 dots an inch; compression 3 is bit fields.
        add(image.hasAlpha ? 3 : 0, total - headerBytes, 2_835, 2_835, 0, 0)
        if image.hasAlpha {
            add(0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000)
            data += Data("BGRs".utf8)  // LCS_sRGB, as a little-endian number
            data += Data(count: 108 - 60)
        }
        return data
    }
}
