internal import CKernels
internal import CUnfilter
internal import TintypeImages

/// The layout of samples in the rows of a PNG (PNG, third edition, section 7.2), and their meaning.
///
/// Only ordinary files: libpng handles files with a transparent color among RGB or of 16 bits, or with a damaged palette, and makes 16 bits of 8.
struct PNGLayout {
    enum Pixels {
        /// Samples of 1 to 8 bits: an index into 256 pixels. Palettes, and gray.
        case indexed([UInt32], bits: Int)
        case grayAlpha, rgb, rgba
        /// Samples of 16 bits: gray, or RGB; an even number has alpha.
        case deep(samples: Int)
    }

    let size: PixelSize
    let pixels: Pixels
    /// The format of the rows that are made.
    private let format: PixelFormat
    /// The bytes of a row, without the filter's byte.
    let rowBytes: Int
    /// From a byte of a row to the byte that a filter takes for its left neighbor.
    let filterStep: Int

    /// - Parameters:
    ///   - size: the size of the image, or of a frame of an animation.
    ///   - bytes: the file.
    ///   - format: the format of the rows to make: 8 or 16 bits.
    init?(_ chunks: PNGChunks, size: PixelSize, _ bytes: UnsafeRawBufferPointer, format: PixelFormat) {
        let header = chunks.header
        guard !header.isInterlaced, header.usesTheOnlyMethods, format == .rgba8 || header.bitDepth == 16 else {
            return nil
        }
        var colors: Range<Int>?
        var transparency: Range<Int>?
        for chunk in chunks.sharedChunks {
            guard let contents = PNGChunks.checkedContents(chunk, of: bytes), transparency == nil else { return nil }
            if PNGChunks.type(bytes, chunk.lowerBound) == .trns {
                transparency = contents
            } else if colors == nil {
                colors = contents
            } else {
                return nil
            }
        }
        self.size = size
        self.format = format
        rowBytes = header.rowBytes(size.width)
        filterStep = max(1, header.bitsPerPixel / 8)
        switch (header.colorType, header.bitDepth) {
        case (0, 1), (0, 2), (0, 4), (0, 8):
            guard colors == nil, let table = Self.grays(header.bitDepth, transparency, bytes) else { return nil }
            pixels = .indexed(table, bits: header.bitDepth)
        case (3, 1), (3, 2), (3, 4), (3, 8):
            guard let colors, let table = Self.palette(header.bitDepth, colors, transparency, bytes) else { return nil }
            pixels = .indexed(table, bits: header.bitDepth)
        case (2, 8) where transparency == nil: pixels = .rgb
        case (4, 8) where transparency == nil: pixels = .grayAlpha
        case (6, 8) where transparency == nil: pixels = .rgba
        case (0, 16) where transparency == nil: pixels = .deep(samples: 1)
        case (4, 16) where transparency == nil: pixels = .deep(samples: 2)
        case (2, 16) where transparency == nil: pixels = .deep(samples: 3)
        case (6, 16) where transparency == nil: pixels = .deep(samples: 4)
        default: return nil
        }
    }

    /// The bytes of all rows with their filters; the largest number if that is invalid.
    var unpackedBytes: Int { Self.unpackedBytes(size, rowBytes: rowBytes) }

    /// The bytes of all rows of an image that isn't interlaced, with their filters; the largest number if that is invalid.
    static func unpackedBytes(_ size: PixelSize, rowBytes: Int) -> Int {
        let (bytes, overflow) = (rowBytes + 1).multipliedReportingOverflow(by: size.height)
        return overflow ? .max : bytes
    }

    /// Writes a row as straight RGBA of the format.
    func expand(_ samples: UnsafePointer<UInt8>, to row: UnsafeMutableRawPointer) {
        let width = size.width
        switch pixels {
        case .rgba: row.copyMemory(from: samples, byteCount: width * 4)
        case .rgb: RowKernels.available[0].expand(row.assumingMemoryBound(to: UInt8.self), samples, false, width)
        case .grayAlpha:
            for x in 0..<width {
                let pixel = UInt32(samples[2 * x]) &* 0x01_0101 | UInt32(samples[2 * x + 1]) << 24
                row.storeBytes(of: pixel, toByteOffset: 4 * x, as: UInt32.self)
            }
        case .deep(let count): cunfilter_unpack_deep(row, samples, width, format == .rgba8 ? 0 : 1, Int32(count))
        case .indexed(let table, 8):
            table.withUnsafeBufferPointer { table in
                for x in 0..<width {
                    row.storeBytes(of: table[Int(samples[x])], toByteOffset: 4 * x, as: UInt32.self)
                }
            }
        case .indexed(let table, let bits):
            let mask = UInt8(truncatingIfNeeded: 1 << bits - 1)
            table.withUnsafeBufferPointer { table in
                for x in 0..<width {
                    let bit = x &* bits
                    let sample = samples[bit >> 3] >> UInt8(truncatingIfNeeded: 8 - bits - bit & 7) & mask
                    row.storeBytes(of: table[Int(sample)], toByteOffset: 4 * x, as: UInt32.self)
                }
            }
        }
    }

    /// Gray of few bits covers the whole range; a gray may be transparent.
    private static func grays(
        _ bits: Int, _ transparency: Range<Int>?, _ bytes: UnsafeRawBufferPointer
    ) -> [UInt32]? {
        let largest = 1 << bits - 1
        var table = (0..<256).map {
            UInt32(truncatingIfNeeded: min($0, largest) * (255 / largest) * 0x01_0101 | 255 << 24)
        }
        if let transparency {
            guard transparency.count == 2, let gray = bytes.bigEndian16(at: transparency.lowerBound) else { return nil }
            table[gray & largest] &= 0x00FF_FFFF
        }
        return table
    }

    /// Indexes that the palette does not reach are opaque black, as with libpng.
    private static func palette(
        _ bits: Int, _ colors: Range<Int>, _ transparency: Range<Int>?, _ bytes: UnsafeRawBufferPointer
    ) -> [UInt32]? {
        guard colors.count % 3 == 0, !colors.isEmpty, colors.count <= 3 << bits else { return nil }
        var table = [UInt32](repeating: 255 << 24, count: 256)
        for (index, offset) in stride(from: colors.lowerBound, to: colors.upperBound, by: 3).enumerated() {
            table[index] |= UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
        }
        if let transparency {
            guard !transparency.isEmpty, transparency.count <= colors.count / 3 else { return nil }
            for (index, alpha) in bytes[transparency].enumerated() {
                table[index] = table[index] & 0x00FF_FFFF | UInt32(alpha) << 24
            }
        }
        return table
    }
}

extension PNGChunks.Header {
    /// True if compression, filter and interlacing are of the only methods that there are (section 11.2.1).
    fileprivate var usesTheOnlyMethods: Bool { bytes.suffix(3) == [0, 0, 0] }
}
