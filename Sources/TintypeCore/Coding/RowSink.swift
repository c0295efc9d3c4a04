/// Takes the rows of an image as a coder decodes them, and makes the upright pixels of the size that was asked for.
///
/// Without a change of size, rows are decoded straight into the buffer that is shown; else each goes through one scratch row
/// into a ``RowResampler``, so that the full bitmap is never made.
///
/// ```swift
/// var sink = try RowSink(stored: size, output: output, orientation: .right, context: context)
/// for _ in 0..<size.height {
///     decodeRow(into: sink.rowToFill())       // premultiplied RGBA, size.width pixels
///     try sink.commitRow()
/// }
/// let pixels = try sink.finish()
/// ```
public struct RowSink: ~Copyable {
    private let stored: PixelSize
    private let orientation: Orientation
    private let context: DecodeContext
    private var full: MutablePixelBuffer?
    private var scratch: MutablePixelBuffer?
    private var resampler: RowResampler?
    /// How many rows have been committed.
    public private(set) var rows = 0

    /// - Parameters:
    ///   - stored: the size of the rows that come, before the orientation.
    ///   - output: the size that is wanted, upright.
    public init(
        stored: PixelSize, output: PixelSize, orientation: Orientation = .up, context: DecodeContext
    ) throws(ImageError) {
        self.stored = stored
        self.orientation = orientation
        self.context = context
        let target = orientation.stored(output)
        if target == stored {
            full = try MutablePixelBuffer(size: stored, pool: context.pool)
        } else {
            scratch = try MutablePixelBuffer(size: PixelSize(width: stored.width, height: 1), pool: context.pool)
            resampler = try RowResampler(from: stored, to: target, pool: context.pool)
        }
    }

    /// Where the next row's pixels go: room for the stored width in premultiplied RGBA of 8 bits.
    public func rowToFill() -> UnsafeMutableRawPointer {
        if scratch != nil { return scratch!.row(0) }
        return full!.row(min(rows, stored.height - 1))
    }

    /// Takes the row that was filled. Looks now and then whether anybody still wants the image.
    public mutating func commitRow() throws(ImageError) {
        precondition(rows < stored.height, "more rows than the image has")
        if scratch != nil { resampler!.push(UnsafeRawPointer(scratch!.row(0))) }
        rows += 1
        if rows & 127 == 0 { try context.checkCancellation() }
    }

    /// An upright copy of the picture so far. Rows that have not come yet are transparent.
    public func snapshot() throws(ImageError) -> PixelBuffer {
        let copy: PixelBuffer
        if resampler != nil {
            copy = try resampler!.snapshot(pool: context.pool)
        } else {
            copy = try full!.snapshot(rows: rows, pool: context.pool)
        }
        return try copy.oriented(orientation, pool: context.pool)
    }

    /// The upright pixels. Rows that never came are transparent.
    public consuming func finish() throws(ImageError) -> PixelBuffer {
        while rows < stored.height {
            rowToFill().initializeMemory(as: UInt8.self, repeating: 0, count: stored.width * 4)
            try commitRow()
        }
        let upright: PixelBuffer
        if resampler != nil { upright = resampler.take()!.finish() } else { upright = full.take()!.freeze() }
        return try upright.oriented(orientation, pool: context.pool)
    }
}
