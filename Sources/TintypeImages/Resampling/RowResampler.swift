internal import CKernels

/// Scales an image of 8-bit components as its rows arrive, from top to bottom. ``RowSink`` and
/// ``PixelBuffer/resized(to:pool:)`` support the other formats too.
///
/// The filter is Lanczos with three lobes (Duchon, "Lanczos filtering in one and two dimensions", 1979), stretched to the scale
/// when it shrinks an image, and applied to premultiplied components. Components are within 1/255 of the exact result (10/255 if
/// an image becomes much narrower and much higher at once). An area of a uniform color keeps that color, and no color exceeds its
/// alpha.
///
/// Rows are first summed vertically, at the source's width, then filtered horizontally.
///
/// - Complexity: O(source pixels + target pixels), times about six for each direction; memory for at most 32 source
///   rows, or 16 and the sums of eight rows (a source pixel in a sum takes 16 bytes), at every scale.
package struct RowResampler: ~Copyable {
    private let source: PixelSize
    private let narrower: RowNarrower?
    private let vertical: FilterWeights
    private let horizontal: HorizontalPass
    private let destination: MutablePixelBuffer
    private let memory: ResamplerMemory
    private let kernels: cresample_kernels
    /// The number of source rows that are summed at once if the filter is too high to store all of its rows; otherwise `nil`.
    private let batch: Int?
    private var nextRow = 0
    /// The first unfinished destination row.
    private var firstOpen = 0

    /// The largest height of the filter, in rows, up to which source rows are stored as they are and each destination row is summed at once.
    private static let keptRows = 32
    private static let batchRows = 16

    /// The kernels for this processor's instruction sets, best first.
    static let kernels: [cresample_kernels] = {
        var kernels = [cresample_kernels](repeating: cresample_kernels(), count: 3)
        let count = cresample_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()

    /// Creates a resampler.
    /// - Parameters:
    ///   - source: the size of the source.
    ///   - target: the size of the result.
    ///   - pool: the memory for the pixels.
    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``
    package init(from source: PixelSize, to target: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) {
        try self.init(from: source, to: target, pool: pool, kernels: Self.kernels[0])
    }

    /// Creates a resampler for a part of a source.
    /// - Parameters:
    ///   - extent: the part of the source that the target shows; `nil` for all of it.
    ///   - part: the part of the target to calculate; `nil` for all of it.
    init(
        from source: PixelSize, extent: ResampledExtent? = nil, to target: PixelSize, part: ResampledPart? = nil,
        pool: PixelBufferPool, kernels: cresample_kernels = Self.kernels[0]
    ) throws(ImageError) {
        let part = part ?? ResampledPart(target)
        try Self.checkSides(source, part.size)
        let extent = extent ?? ResampledExtent(source)
        let vertical = FilterWeights(
            source: source.height, extent: extent.height, target: target.height, part: part.rows, group: 2,
            maximumBits: 22)
        let batch = vertical.longestSpan <= Self.keptRows ? nil : Self.batchRows
        let narrower = try RowNarrower(
            from: source, extent: extent, to: target, part: part, pool: pool, kernels: kernels)
        let width = narrower == nil ? source.width : part.size.width
        let memory = try ResamplerMemory(
            width: width, rows: batch ?? vertical.longestSpan, sums: batch == nil ? 0 : 8, pool: pool)
        destination = try MutablePixelBuffer(size: part.size, cleared: false, pool: pool)
        horizontal =
            narrower == nil
            ? HorizontalPass(
                source: width, extent: extent.width, target: target.width, part: part.columns, kernels: kernels)
            : HorizontalPass(source: width, target: width, kernels: kernels)
        self.narrower = narrower
        self.source = source
        self.vertical = vertical
        self.batch = batch
        self.memory = memory
        self.kernels = kernels
    }

    /// Rejects empty sides, and sides that no memory can hold.
    static func checkSides(_ source: PixelSize, _ target: PixelSize) throws(ImageError) {
        // The tables of weights have about six numbers for each pixel of the longer side, which no other limit restricts.
        let longest = 1 << 22
        guard !source.isEmpty, !target.isEmpty,
            max(source.width, source.height, target.width, target.height) <= longest
        else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "\(source) pixels can't be resampled to \(target): each side must have 1 to \(longest) pixels")
        }
    }

    /// Adds the next row.
    /// - Parameter row: `source.width` pixels of premultiplied RGBA, 8 bits.
    package mutating func push(_ row: UnsafeRawPointer) {
        rowToFill().copyMemory(from: row, byteCount: source.width * 4)
        commitRow()
    }

    /// Returns the memory that the next row is filtered from, with room for `source.width` pixels: a coder that decodes into it saves the
    /// copy.
    mutating func rowToFill() -> UnsafeMutableRawPointer { narrower?.rowToFill() ?? memory.row(nextRow) }

    /// Adds the row that was filled.
    mutating func commitRow() {
        let row = memory.row(nextRow)
        narrower?.narrow(to: row)
        memory.keep(row, at: nextRow)
        advance()
    }

    /// Adds the next row without copying it. The row must stay valid until the end, and be readable up to a multiple of 64
    /// bytes.
    mutating func push(lasting row: UnsafeRawPointer) {
        guard narrower == nil else { return push(row) }
        memory.keep(row, at: nextRow)
        advance()
    }

    /// Returns a copy of the finished rows; the rows below are transparent.
    /// - Parameter pool: the pool to take memory from.
    /// - Throws: ``ImageError/Code/outOfMemory``
    package func snapshot(pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        try destination.snapshot(rows: firstOpen, pool: pool)
    }

    /// Returns the resampled pixels after all rows have arrived.
    package consuming func finish() -> PixelBuffer {
        precondition(nextRow == source.height, "\(nextRow) of \(source.height) rows have come")
        return destination.freeze()
    }

    private mutating func advance() {
        precondition(nextRow < source.height, "more rows than the image has")
        nextRow += 1
        if let batch {
            if nextRow % batch == 0 || nextRow == source.height { addBatch(from: (nextRow - 1) / batch * batch) }
        } else {
            while firstOpen < destination.height, isComplete(vertical.spans[firstOpen]) {
                let span = vertical.spans[firstOpen]
                add(rows: span.first..<span.end, to: firstOpen, begins: true)
                firstOpen += 1
            }
        }
    }

    /// Adds the rows from `start` to the last to every destination row that they contribute to.
    private mutating func addBatch(from start: Int) {
        var y = firstOpen
        while y < destination.height, vertical.spans[y].first < nextRow {
            let span = vertical.spans[y]
            // Spans and batches start and end at even rows: a last odd row is followed by a weight of zero.
            let end = min(span.end, nextRow + nextRow % 2)
            add(rows: max(span.first, start)..<end, to: y, begins: span.first >= start)
            y += 1
            if isComplete(span) { firstOpen = y }
        }
    }

    private func isComplete(_ span: FilterWeights.Span) -> Bool { min(span.end, source.height) <= nextRow }

    /// Adds source rows to a destination row, and writes its pixels if it is complete.
    private func add(rows: Range<Int>, to y: Int, begins: Bool) {
        let span = vertical.spans[y]
        let completes = isComplete(span)
        vertical.weights.withUnsafeBufferPointer { weights in
            guard let base = weights.baseAddress else { return }
            kernels.accumulate(
                completes ? memory.pairs : nil, memory.sums(of: y), begins, memory.rows(from: rows.lowerBound),
                base + span.offset + rows.lowerBound - span.first, rows.count, Int32(vertical.bits), memory.blocks)
        }
        guard completes else { return }
        horizontal.filter(memory.pairs, to: destination.row(y))
    }
}
