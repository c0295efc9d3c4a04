internal import CKernels
internal import TintypeImages

/// Makes premultiplied RGBA of the stored rows of a bitmap without compression.
struct BMPRows {
    private let header: BMPHeader
    private let channels: [Channel]
    private let keepsAlpha: Bool

    /// A component of a pixel with masks.
    private struct Channel {
        let mask: UInt32
        let shift: UInt32
        let maximum: UInt32

        init(_ mask: UInt32) {
            self.mask = mask
            shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount)
            maximum = mask >> shift
        }

        /// The component in 8 bits, rounded; 255 for an alpha that is not there is the caller's.
        func value(_ pixel: UInt32) -> UInt32 {
            guard maximum != 0 else { return 0 }
            let value = (pixel & mask) >> shift
            if maximum == 255 { return value }
            return UInt32((UInt64(value) * 255 + UInt64(maximum / 2)) / UInt64(maximum))
        }
    }

    /// - Parameter keepsAlpha: true to use the alpha of the pixels; false if all are opaque.
    init(_ header: BMPHeader, keepsAlpha: Bool) {
        self.header = header
        self.keepsAlpha = keepsAlpha
        channels = (0..<4).map { Channel(header.masks[$0]) }
    }

    /// Converts a row of `bytesPerRow` bytes.
    func convert(_ source: UnsafeRawBufferPointer, to row: UnsafeMutableRawPointer) {
        let pixels = row.assumingMemoryBound(to: UInt32.self)
        let width = header.size.width
        switch header.bitsPerPixel {
        case 24 where header.masks == BMPHeader.plainMasks:
            guard let base = UnsafeRawBufferPointer(rebasing: source[..<(width * 3)]).baseAddress else { return }
            RowKernels.available[0].expand(
                row.assumingMemoryBound(to: UInt8.self), base.assumingMemoryBound(to: UInt8.self), true, width)
        case 24:
            for x in stride(from: 0, to: width * 3, by: 3) {
                pixels[x / 3] = color(UInt32(source[x]) | UInt32(source[x + 1]) << 8 | UInt32(source[x + 2]) << 16)
            }
        case 16:
            for x in 0..<width {
                pixels[x] = color(UInt32(source.loadUnaligned(fromByteOffset: x * 2, as: UInt16.self).littleEndian))
            }
        case 32:
            for x in 0..<width {
                pixels[x] = color(source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self).littleEndian)
            }
        default:
            let bits = header.bitsPerPixel
            let perByte = 8 / bits
            let mask = UInt8(truncatingIfNeeded: 1 << bits - 1)
            for x in 0..<width {
                let byte = source[x / perByte]
                pixels[x] = header.palette[Int(byte >> UInt8(8 - bits * (x % perByte + 1)) & mask)]
            }
        }
        if keepsAlpha { Premultiplication.premultiply(row, count: width) }
    }

    @inline(__always)
    private func color(_ pixel: UInt32) -> UInt32 {
        let alpha = keepsAlpha ? channels[3].value(pixel) : 255
        return channels[0].value(pixel) | channels[1].value(pixel) << 8 | channels[2].value(pixel) << 16 | alpha << 24
    }
}
