internal import CUnfilter
internal import TintypeImages

/// The rows of a PNG whose data has been decompressed all at once, as straight RGBA of 8 or 16 bits.
///
/// It takes less than half the time of libpng, which decompresses with zlib and reverses filters byte by byte, and produces the
/// same pixels. It is only for complete and undamaged data. For everything else, libpng reports the error and decodes as much
/// as possible.
///
/// The data is decompressed into the end of the bitmap, where it fits. Its rows are then written from the start of the bitmap, and never
/// reach the rows that are still to be read. A thumbnail has no bitmap, and rows with alpha or of 16 bits are longer than the bitmap's: they
/// take memory of their own, thumbnails much of it only if the budget has that room at once.
struct PNGUnpackedRows {
    private let layout: PNGLayout
    private let kernels: PNGKernels
    /// The filtered rows.
    private let rows: UnsafeMutableRawPointer
    /// The memory for them, if they are not in the bitmap.
    private let memory: ScratchBytes?
    /// The room in the budget for them, if the decode didn't reserve it before.
    private let room: DecodeReservation?
    /// Rows without filters: the last that were made at once, and those before them, in turns.
    private let lines: ScratchBytes
    private let lineBytes: Int
    private var next = 0
    /// The rows that have been made, and the lines of the last and the first of those that were made at once.
    private var made = 0
    private var lastLine = 0
    private var firstLine = 0

    /// The rows of the Paeth filter that are made at once.
    private static let group = Int(CUNFILTER_ROWS)

    /// The bytes that may be read and written beyond the end of a row.
    private static let slack = 16
    /// Decompression can't be canceled: this much takes a quarter of a second.
    static let mostUnpacked = 192 << 20
    /// A thumbnail that is made row by row takes far less memory than the full bitmap, and five times as long. More than this is unpacked only
    /// if there is room for it.
    static let mostUnpackedForThumbnail = 16 << 20

    /// True if rows of so many bytes may be unpacked from parts of a file. Nothing is taken for sizes that so few bytes cannot unpack to.
    static func mayUnpack(_ rows: Int, from parts: [Range<Int>], limits: DecodeLimits) -> Bool {
        let packed = parts.reduce(0) { $0 + $1.count }
        return rows <= min(mostUnpacked, Inflater.mostUnpacked(packed), limits.maximumBytes.bytes)
    }

    /// Unpacks the data.
    ///
    /// - Parameters:
    ///   - parts: where the data is in the bytes.
    ///   - bitmap: the rows' destination, if it is the whole picture: it is overwritten even if the result is `nil`.
    ///   - context: the memory, its limits, and its budget.
    /// - Returns: `nil` if libpng has to do it.
    init?(
        _ layout: PNGLayout, _ parts: [Range<Int>], of bytes: UnsafeRawBufferPointer,
        bitmap: UnsafeMutableRawBufferPointer?, kernels: PNGKernels = PNGKernels.available[0],
        context: ProcessingContext
    ) {
        let pool = context.pool
        let packed = parts.reduce(0) { $0 + $1.count }
        let count = layout.unpackedBytes
        guard Self.mayUnpack(count, from: parts, limits: context.limits), let inflater = Inflater() else { return nil }
        if bitmap == nil, count > Self.mostUnpackedForThumbnail {
            let blocks = Self.rowBytes(count) + Self.workingBytes(layout.rowBytes, parts)
            guard let room = context.reserveMore(working: blocks) else { return nil }
            self.room = room
        } else {
            room = nil
        }
        lineBytes = layout.rowBytes + Self.slack
        // Cleared: there is nothing above the first row, which is taken for zeros.
        guard let lines = ScratchBytes(2 * Self.group * lineBytes, pool: pool) else { return nil }
        if let bitmap, let base = bitmap.baseAddress,
            Self.fits(layout.size, rowBytes: layout.rowBytes, in: bitmap.count)
        {
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

    /// Writes the next row; their number is the layout's height.
    mutating func read(to row: UnsafeMutableRawPointer) {
        precondition(next < layout.size.height, "more rows than the image has")
        if next == made { make() }
        let line = lines.base + (lastLine + 1 - (made - next)) * lineBytes
        layout.expand(line.assumingMemoryBound(to: UInt8.self), to: row)
        next += 1
    }

    /// Reverses the filters of the next row, or of the next four at once.
    private mutating func make() {
        func bytes(_ line: Int) -> UnsafeMutablePointer<UInt8> {
            (lines.base + line * lineBytes).assumingMemoryBound(to: UInt8.self)
        }
        let above = bytes(lastLine)
        firstLine = firstLine == 0 ? Self.group : 0
        let stride = layout.rowBytes + 1
        let source = (rows + next * stride).assumingMemoryBound(to: UInt8.self)
        let count = isGroup ? Self.group : 1
        if count == 1 {
            kernels.undo(
                bytes(firstLine), source + 1, above, layout.rowBytes, Int32(layout.filterStep), Int32(source[0]))
        } else {
            kernels.undo_rows(
                bytes(firstLine), lineBytes, source + 1, stride, above, layout.rowBytes, Int32(layout.filterStep))
        }
        made += count
        lastLine = firstLine + count - 1
    }

    /// True if the next rows all have the Paeth filter, and pixels of whole bytes that have a kernel.
    private var isGroup: Bool {
        guard layout.filterStep == 3 || layout.filterStep == 4, layout.size.width >= Self.group,
            next + Self.group <= layout.size.height
        else { return false }
        return (next..<next + Self.group).allSatisfy {
            rows.load(fromByteOffset: $0 * (layout.rowBytes + 1), as: UInt8.self) == 4
        }
    }

    /// The most that is taken beside the rows: eight of them, and the data in a single piece.
    static func workingBytes(_ rowBytes: Int, _ parts: [Range<Int>]) -> [Int] {
        let lines = 2 * group * (rowBytes + slack)
        return parts.count > 1 ? [lines, parts.reduce(0) { $0 + $1.count }] : [lines]
    }

    /// The block for filtered rows that are not in the bitmap.
    static func rowBytes(_ count: Int) -> [Int] { [count + slack] }

    /// True if rows that are written from the start of a bitmap stay behind the rows that are read from its end: each is so much
    /// longer that even the last but one ends before the last starts.
    static func fits(_ size: PixelSize, rowBytes: Int, in bitmap: Int) -> Bool {
        let growth = bitmap / size.height - rowBytes - 1
        return growth >= slack && PNGLayout.unpackedBytes(size, rowBytes: rowBytes) + slack <= bitmap
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
        of bytes: UnsafeRawBufferPointer, format: PixelFormat, bitmap: UnsafeMutableRawBufferPointer?,
        context: ProcessingContext
    ) -> PNGUnpackedRows? {
        guard !imageData.isEmpty, let layout = PNGLayout(self, size: header.size, bytes, format: format),
            imageData.allSatisfy({ Self.checkedContents($0.lowerBound - 8..<$0.upperBound + 4, of: bytes) != nil })
        else { return nil }
        return PNGUnpackedRows(layout, imageData, of: bytes, bitmap: bitmap, context: context)
    }
}
