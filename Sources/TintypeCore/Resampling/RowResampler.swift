internal import CResample

/// Makes an image of another size out of rows of 8 bits as they come, top to bottom. ``RowSink`` and
/// ``PixelBuffer/resized(to:pool:)`` take the other formats too.
///
/// The filter is Lanczos with three lobes (Duchon, "Lanczos filtering in one and two dimensions", 1979), stretched to
/// the scale when shrinking, over premultiplied components. Components are within 1/255 of the exact result (4/255
/// where an image becomes much narrower and much higher at once), an area of one color keeps that color, and no
/// color exceeds its alpha.
///
/// Rows are first added up vertically, at the source's width, then filtered horizontally.
///
/// - Complexity: O(source pixels + target pixels), times about six for each direction; memory for at most 32 source
///   rows, or 16 and the sums of eight rows (a source pixel in a sum takes 16 bytes), whatever the scale.
public struct RowResampler: ~Copyable {
    private let source: PixelSize
    private let narrower: RowNarrower?
    private let vertical: FilterWeights
    private let horizontal: HorizontalPass
    private let destination: MutablePixelBuffer
    private let memory: ResamplerMemory
    private let kernels: cresample_kernels
    /// The number of source rows that are added up at once, when the filter is too high to keep all of its rows; else `nil`.
    private let batch: Int?
    private var nextRow = 0
    /// The first destination row that is not finished.
    private var firstOpen = 0

    /// Up to this many rows of the filter, the source rows themselves are kept, and each destination row is added up at
    /// once.
    private static let keptRows = 32
    private static let batchRows = 16

    /// The kernels for this processor's instruction sets, best first.
    static let kernels: [cresample_kernels] = {
        var kernels = [cresample_kernels](repeating: cresample_kernels(), count: 3)
        let count = cresample_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()

    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``
    public init(from source: PixelSize, to target: PixelSize, pool: PixelBufferPool = .shared) throws(ImageError) {
        try self.init(from: source, to: target, pool: pool, kernels: Self.kernels[0])
    }

    /// - Parameters:
    ///   - extent: the part of the source that the target shows; `nil` for all of it.
    ///   - part: The part of the target that is made; `nil` for all of it.
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
        destination = try MutablePixelBuffer(size: part.size, pool: pool)
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

    /// Refuses sides without pixels, and such as no memory holds.
    static func checkSides(_ source: PixelSize, _ target: PixelSize) throws(ImageError) {
        // The tables of weights have about six numbers for each pixel of the longer side, which no other limit bounds.
        let longest = 1 << 22
        guard !source.isEmpty, !target.isEmpty,
            max(source.width, source.height, target.width, target.height) <= longest
        else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "\(source) pixels cannot be resampled to \(target): sides are 1 to \(longest)")
        }
    }

    /// Takes the next row: `source.width` pixels of premultiplied RGBA, 8 bits.
    public mutating func push(_ row: UnsafeRawPointer) {
        memory.keepCopy(of: narrower?.narrow(row) ?? row, at: nextRow)
        advance()
    }

    /// Takes the next row without copying it. The row must stay where it is until the end, and be readable up to a
    /// multiple of 64 bytes.
    mutating func push(lasting row: UnsafeRawPointer) {
        guard narrower == nil else { return push(row) }
        memory.keep(row, at: nextRow)
        advance()
    }

    /// A copy of the rows that are finished; those below are transparent.
    public func snapshot(pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        try destination.snapshot(rows: firstOpen, pool: pool)
    }

    /// The resampled pixels, when all rows have come.
    public consuming func finish() -> PixelBuffer {
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

    /// Adds the rows from `start` up to the last that has come to every destination row that they are part of.
    private mutating func addBatch(from start: Int) {
        var y = firstOpen
        while y < destination.height, vertical.spans[y].first < nextRow {
            let span = vertical.spans[y]
            // Spans begin and end at even rows, and so do batches: a last odd row has a weight of zero behind it.
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
