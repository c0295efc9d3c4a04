/// A receiver for the rows of an image as a coder decodes them. It produces upright pixels of the requested size.
///
/// If the size does not change, rows are decoded directly into the final buffer, or rotated a few at a time. Otherwise they are decoded
/// into the memory of a resampler, so the full bitmap never exists.
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
    // What is called for each row is mutating even if it changes nothing: to call a function that only reads, the compiler moves all
    // fields of a structure that can't be copied to the stack and back, here some hundred bytes (Swift 6.3).

    private let stored: PixelSize
    private let orientation: Orientation
    private let context: ProcessingContext
    /// The whole picture, or the row for ``deepResampler``. ``resampler`` and ``turned`` have rows of their own.
    private var pixels: MutablePixelBuffer
    private var resampler: RowResampler?
    /// Used instead of ``pixels`` for pictures that are not stored upright and keep their size.
    private var turned: OrientedRows?
    /// Used instead of ``resampler`` for formats of more than 8 bits.
    private var deepResampler: DeepRowResampler?
    /// The distance from one row to fill to the next: zero for a single row.
    private let rowStep: Int
    /// The number of committed rows.
    package private(set) var rows = 0

    /// Creates a sink.
    /// - Parameters:
    ///   - stored: the size of the stored picture, before its orientation is applied.
    ///   - output: the upright size of the result.
    ///   - orientation: the orientation of the stored picture.
    ///   - format: the pixel format of the rows and of the result.
    ///   - context: the limits, the memory, and the check for cancellation.
    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``
    public init(
        stored: PixelSize, output: PixelSize, orientation: Orientation = .up, format: PixelFormat = .rgba8,
        context: ProcessingContext
    ) throws(ImageError) {
        try self.init(
            stored: stored, extent: ResampledExtent(stored), output: output, orientation: orientation, format: format,
            context: context)
    }

    /// Creates a sink for a part of the stored picture.
    /// - Parameter extent: the part of the stored size that the output shows.
    package init(
        stored: PixelSize, extent: ResampledExtent, output: PixelSize, orientation: Orientation = .up,
        format: PixelFormat = .rgba8, context: ProcessingContext
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
            ? try OrientedRows(stored: stored, orientation: orientation, format: format, pool: context.pool) : nil
        rowStep = isDirect && !isTurned ? 1 : 0
        self.pixels = pixels
    }

    /// Returns the address for the next row's pixels, with room for the stored width in premultiplied RGBA of the format.
    ///
    /// The contents are zero or an earlier row of this image. ``commitRow()`` changes the address.
    public mutating func rowToFill() -> UnsafeMutableRawPointer {
        resampler?.rowToFill() ?? turned?.rowToFill() ?? pixels.row(min(rows, stored.height - 1) * rowStep)
    }

    /// The memory of the whole picture, if rows are decoded directly into it: a coder may use the part after the row that it
    /// fills as working memory. `nil` if rows are resampled or rotated.
    package var bitmap: UnsafeMutableRawBufferPointer? {
        mutating get {
            guard rowStep > 0 else { return nil }
            return UnsafeMutableRawBufferPointer(start: pixels.row(0), count: pixels.byteCount)
        }
    }

    /// Accepts the filled row. Regularly checks for cancellation.
    /// - Throws: ``ImageError/Code/cancelled``
    public mutating func commitRow() throws(ImageError) {
        precondition(rows < stored.height, "more rows than the image has")
        resampler?.commitRow()
        deepResampler?.push(UnsafeRawPointer(pixels.row(0)))
        turned?.commitRow()
        rows += 1
        if rows & 127 == 0 { try context.checkCancellation() }
    }

    /// Returns an upright copy of the picture so far. Rows that haven't arrived yet are transparent.
    /// - Throws: ``ImageError/Code/outOfMemory``
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

    /// Returns the upright pixels. Rows that never arrived are transparent.
    /// - Throws: ``ImageError/Code/outOfMemory``
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
