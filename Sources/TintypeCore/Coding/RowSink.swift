/// Takes the rows of an image as a coder decodes them, and makes the upright pixels of the size that was asked for.
///
/// Without a change of size, rows are decoded straight into the buffer that is shown, or turned upright a few at a time; else each
/// goes through one scratch row into a ``RowResampler``, so that the full bitmap is never made.
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
    /// The whole picture, or the one row that goes into the resampler.
    private var pixels: MutablePixelBuffer
    private var resampler: RowResampler?
    /// In the place of ``pixels`` for pictures that are not stored upright, at their size.
    private var turned: TurnedRows?
    /// In the place of ``resampler`` for formats of more than 8 bits.
    private var deepResampler: DeepRowResampler?
    /// From one row to fill to the next: nothing where there is only one.
    private let rowStep: Int
    /// How many rows have been committed.
    public private(set) var rows = 0

    /// - Parameters:
    ///   - stored: the size of the rows that come, before the orientation.
    ///   - output: the size that is wanted, upright.
    ///   - format: how the rows that come, and the pixels that are made of them, lie in memory.
    public init(
        stored: PixelSize, output: PixelSize, orientation: Orientation = .up, format: PixelFormat = .rgba8,
        context: DecodeContext
    ) throws(ImageError) {
        try self.init(
            stored: stored, extent: ResampledExtent(stored), output: output, orientation: orientation, format: format,
            context: context)
    }

    /// - Parameter extent: the part of the stored size that the output shows.
    package init(
        stored: PixelSize, extent: ResampledExtent, output: PixelSize, orientation: Orientation = .up,
        format: PixelFormat = .rgba8, context: DecodeContext
    ) throws(ImageError) {
        self.stored = stored
        self.orientation = orientation
        self.context = context
        let target = orientation.stored(output)
        let isDirect = target == stored && extent == ResampledExtent(stored)
        let isTurned = isDirect && orientation != .up
        let room = isDirect && !isTurned ? stored : PixelSize(width: stored.width, height: 1)
        let pixels = try MutablePixelBuffer(size: room, format: format, pool: context.pool)
        let isDeep = format != .rgba8
        resampler =
            isDirect || isDeep ? nil : try RowResampler(from: stored, extent: extent, to: target, pool: context.pool)
        deepResampler =
            isDirect || !isDeep
            ? nil
            : try DeepRowResampler(
                from: stored, extent: extent, to: target, format: format, pool: context.pool)
        turned =
            isTurned
            ? try TurnedRows(stored: stored, orientation: orientation, format: format, pool: context.pool) : nil
        rowStep = isDirect && !isTurned ? 1 : 0
        self.pixels = pixels
    }

    /// Where the next row's pixels go: room for the stored width in premultiplied RGBA of the format.
    public func rowToFill() -> UnsafeMutableRawPointer {
        turned?.rowToFill() ?? pixels.row(min(rows, stored.height - 1) * rowStep)
    }

    /// The memory of the whole picture, if rows are decoded straight into it: a coder may work in the part behind the row that
    /// it fills. `nil` if rows are resampled or turned.
    package var bitmap: UnsafeMutableRawBufferPointer? {
        guard rowStep > 0 else { return nil }
        return UnsafeMutableRawBufferPointer(start: pixels.row(0), count: pixels.byteCount)
    }

    /// Takes the row that was filled. Looks now and then whether anybody still wants the image.
    public mutating func commitRow() throws(ImageError) {
        precondition(rows < stored.height, "more rows than the image has")
        resampler?.push(UnsafeRawPointer(pixels.row(0)))
        deepResampler?.push(UnsafeRawPointer(pixels.row(0)))
        turned?.commitRow()
        rows += 1
        if rows & 127 == 0 { try context.checkCancellation() }
    }

    /// An upright copy of the picture so far. Rows that have not come yet are transparent.
    public func snapshot() throws(ImageError) -> PixelBuffer {
        let pool = context.pool
        if let resampled = try resampler?.snapshot(pool: pool) {
            return try resampled.oriented(orientation, pool: pool)
        }
        if let upright = try turned?.snapshot(pool: pool) { return upright }
        if let resampled = try deepResampler?.snapshot(pool: pool) {
            return try resampled.oriented(orientation, pool: pool)
        }
        return try pixels.snapshot(rows: rows, pool: pool).oriented(orientation, pool: pool)
    }

    /// The upright pixels. Rows that never came are transparent.
    public consuming func finish() throws(ImageError) -> PixelBuffer {
        while rows < stored.height {
            rowToFill().initializeMemory(
                as: UInt8.self, repeating: 0, count: stored.width * pixels.format.bytesPerPixel)
            try commitRow()
        }
        if let turned = turned.take() { return turned.finish() }
        let orientation = orientation
        let pool = context.pool
        let upright: PixelBuffer
        if let resampler = resampler.take() {
            upright = resampler.finish()
        } else if let resampler = deepResampler.take() {
            upright = resampler.finish()
        } else {
            upright = pixels.freeze()
        }
        return try upright.oriented(orientation, pool: pool)
    }
}
