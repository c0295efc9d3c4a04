internal import CUnfilter
internal import TintypeImages

/// The rows of a PNG whose data has been decompressed all at once, as straight RGBA.
///
/// It takes less than half the time of libpng, which decompresses with zlib and reverses filters byte by byte, and produces the
/// same pixels. It is only for complete and undamaged data. For everything else, libpng reports the error and decodes as much
/// as possible.
///
/// The data is decompressed into the end of the bitmap. Its rows are then written from the beginning of the bitmap, and never
/// reach the rows that are still to be read. So no memory is needed beyond the bitmap.
struct PNGUnpackedRows {
    private let layout: PNGLayout
    private let kernels: PNGKernels
    /// The filtered rows.
    private let rows: UnsafeMutableRawPointer
    /// The memory for them, if they are not in the bitmap.
    private let memory: ScratchBytes?
    /// Two rows without filters, that being read and the one above it.
    private let lines: ScratchBytes
    private let lineBytes: Int
    private var next = 0

    /// The bytes that may be read and written beyond the end of a row.
    private static let slack = 16
    /// Decompression can't be canceled: this much takes a quarter of a second.
    static let mostUnpacked = 128 << 20
    /// A thumbnail is made row by row, to take far less memory than the full bitmap. For small images that does not matter.
    static let mostUnpackedForThumbnail = 16 << 20

    /// Unpacks the data.
    ///
    /// Nothing is taken for sizes that so few bytes cannot unpack to.
    /// - Parameters:
    ///   - parts: where the data is in the bytes.
    ///   - bitmap: the rows' destination, if it is the whole picture: it is overwritten even if the result is `nil`.
    /// - Returns: `nil` if libpng has to do it.
    init?(
        _ layout: PNGLayout, _ parts: [Range<Int>], of bytes: UnsafeRawBufferPointer,
        bitmap: UnsafeMutableRawBufferPointer?, kernels: PNGKernels = PNGKernels.available[0], pool: PixelBufferPool
    ) {
        let packed = parts.reduce(0) { $0 + $1.count }
        guard let count = layout.unpackedBytes, count <= Inflater.mostUnpacked(packed),
            count <= (bitmap == nil ? Self.mostUnpackedForThumbnail : Self.mostUnpacked), let inflater = Inflater()
        else { return nil }
        lineBytes = layout.rowBytes + Self.slack
        // Cleared: there is nothing above the first row, which is taken for zeros.
        guard let lines = ScratchBytes(2 * lineBytes, pool: pool) else { return nil }
        if let bitmap, let base = bitmap.baseAddress, Self.fits(layout, count, in: bitmap.count) {
            memory = nil
            rows = base + bitmap.count - Self.slack - count
        } else {
            // libdeflate succeeds only if it has written all of it.
            guard let scratch = ScratchBytes(count + Self.slack, cleared: false, pool: pool) else { return nil }
            rows = scratch.base
            memory = scratch
        }
        let target = UnsafeMutableRawBufferPointer(start: rows, count: count)
        if parts.count == 1 {
            guard inflater.unpack(UnsafeRawBufferPointer(rebasing: bytes[parts[0]]), into: target) else { return nil }
        } else {
            guard let stream = Self.join(parts, count: packed, of: bytes, pool: pool),
                inflater.unpack(UnsafeRawBufferPointer(start: stream.base, count: packed), into: target)
            else { return nil }
        }
        for offset in stride(from: 0, to: count, by: layout.rowBytes + 1) where target[offset] > 4 { return nil }
        self.layout = layout
        self.lines = lines
        self.kernels = kernels
    }

    /// Writes the next row, of which there are as many as the layout's height; `row` has room for a multiple of 4 pixels.
    mutating func read(to row: UnsafeMutableRawPointer) {
        precondition(next < layout.size.height, "more rows than the image has")
        let line = (lines.base + next % 2 * lineBytes).assumingMemoryBound(to: UInt8.self)
        let above = (lines.base + (next + 1) % 2 * lineBytes).assumingMemoryBound(to: UInt8.self)
        let source = (rows + next * (layout.rowBytes + 1)).assumingMemoryBound(to: UInt8.self)
        kernels.undo(line, source + 1, above, layout.rowBytes, Int32(layout.filterStep), Int32(source[0]))
        layout.expand(line, to: row, kernels)
        next += 1
    }

    /// The most that is taken beside the rows: two of them, and the data in one piece.
    static func workingBytes(_ chunks: PNGChunks) -> [Int] {
        let lines = 2 * (chunks.header.size.width * 4 + slack)
        return chunks.imageData.count > 1 ? [lines, chunks.imageData.reduce(0) { $0 + $1.count }] : [lines]
    }

    /// Returns true if rows that are written from the beginning of a bitmap stay behind those that are read from its end: each is so much
    /// longer that even the last but one ends before the last begins.
    private static func fits(_ layout: PNGLayout, _ count: Int, in bitmap: Int) -> Bool {
        let growth = bitmap / layout.size.height - layout.rowBytes - 1
        return growth >= slack && count + slack <= bitmap
    }

    private static func join(
        _ parts: [Range<Int>], count: Int, of bytes: UnsafeRawBufferPointer, pool: PixelBufferPool
    ) -> ScratchBytes? {
        guard let base = bytes.baseAddress, let stream = ScratchBytes(count, cleared: false, pool: pool) else {
            return nil
        }
        var end = stream.base
        for part in parts {
            end.copyMemory(from: base + part.lowerBound, byteCount: part.count)
            end += part.count
        }
        return stream
    }
}

extension PNGChunks {
    /// The contents of a chunk; `nil` if its checksum is not theirs.
    /// - Parameter chunk: all of it, within the bytes.
    static func checkedContents(_ chunk: Range<Int>, of bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let contents = chunk.dropFirst(8).dropLast(4)
        let sum = Inflater.checksum(UnsafeRawBufferPointer(rebasing: bytes[chunk.dropFirst(4).dropLast(4)]))
        return bytes.bigEndian32(at: contents.upperBound) == Int(sum) ? contents : nil
    }

    /// The rows of the still image; `nil` if libpng has to read them.
    func unpackedRows(
        of bytes: UnsafeRawBufferPointer, bitmap: UnsafeMutableRawBufferPointer?, pool: PixelBufferPool
    ) -> PNGUnpackedRows? {
        guard !imageData.isEmpty, let layout = PNGLayout(self, size: header.size, bytes),
            imageData.allSatisfy({ Self.checkedContents($0.lowerBound - 8..<$0.upperBound + 4, of: bytes) != nil })
        else { return nil }
        return PNGUnpackedRows(layout, imageData, of: bytes, bitmap: bitmap, pool: pool)
    }
}
