internal import CKernels

/// Scales an image of 16-bit components, integers or half-precision numbers, as its rows arrive.
///
/// The filter is the same as in ``RowResampler``, applied to premultiplied components in single precision: integers are within
/// 1/65,535 of the exact result. No integer color exceeds its alpha. The colors of high dynamic range are not limited.
///
/// The direction that shortens rows is processed first, so that the work is proportional to the pixels and not to the
/// product of the long sides.
///
/// - Complexity: O(source pixels + target pixels), times about six for each direction; memory for a source row and at most
///   eight rows of the narrower width.
struct DeepRowResampler: ~Copyable {
    private let source: PixelSize
    private let format: PixelFormat
    private let destination: MutablePixelBuffer
    private let kernels: cresample_deep_kernels
    private let vertical: DeepFilterWeights
    private let horizontal: DeepFilterWeights
    /// True if rows are narrowed before they are summed, instead of widened afterward.
    private let narrowsFirst: Bool
    /// True if the sums of unfinished rows are stored instead of source rows.
    private let keepsSums: Bool
    /// The number of stored rows of the smaller width, and the number of components in each.
    private let keptRows: Int
    private let rowCount: Int
    private let memory: PixelMemory
    private let kept: UnsafeMutablePointer<Float>
    /// A source row, or a finished row.
    private let wide: UnsafeMutablePointer<Float>
    private let sum: UnsafeMutablePointer<Float>
    private var nextRow = 0
    /// The first unfinished destination row.
    private var firstOpen = 0

    /// The kernels for this processor's instruction sets, best first.
    static let kernels: [cresample_deep_kernels] = {
        var kernels = [cresample_deep_kernels](repeating: cresample_deep_kernels(), count: 3)
        let count = cresample_deep_available(&kernels)
        return Array(kernels.prefix(Int(count)))
    }()

    /// Creates a resampler.
    /// - Parameters:
    ///   - extent: the part of the source that the target shows; `nil` for all of it.
    ///   - part: the part of the target to calculate; `nil` for all of it.
    /// - Throws: ``ImageError/Code/limitExceeded`` and ``ImageError/Code/outOfMemory``
    init(
        from source: PixelSize, extent: ResampledExtent? = nil, to target: PixelSize, part: ResampledPart? = nil,
        format: PixelFormat, pool: PixelBufferPool = .shared, kernels: cresample_deep_kernels = Self.kernels[0]
    ) throws(ImageError) {
        precondition(format != .rgba8, "8 bits have a resampler of their own")
        let part = part ?? ResampledPart(target)
        let shown = part.size
        try RowResampler.checkSides(source, shown)
        let vertical = DeepFilterWeights(
            source: source.height, extent: extent?.height, target: target.height, part: part.rows)
        let keptRows = min(vertical.mostOpen, vertical.longestSpan)
        let rowCount = min(source.width, shown.width) * 4
        let wideCount = max(source.width, shown.width) * 4
        let bytes = ((keptRows + 1) * rowCount + wideCount) * MemoryLayout<Float>.stride
        guard let memory = pool.take(bytes, cleared: false) else {
            throw ImageError(
                .outOfMemory, stage: .decode,
                reason: "there isn't enough memory to resample the image, which takes \(ByteCount(bytes))")
        }
        destination = try MutablePixelBuffer(size: shown, format: format, cleared: false, pool: pool)
        kept = memory.base.bindMemory(to: Float.self, capacity: bytes / MemoryLayout<Float>.stride)
        sum = kept + keptRows * rowCount
        wide = kept + (keptRows + 1) * rowCount
        horizontal = DeepFilterWeights(
            source: source.width, extent: extent?.width, target: target.width, part: part.columns)
        narrowsFirst = shown.width <= source.width
        keepsSums = vertical.mostOpen <= vertical.longestSpan
        self.memory = memory
        self.vertical = vertical
        self.keptRows = keptRows
        self.rowCount = rowCount
        self.source = source
        self.format = format
        self.kernels = kernels
    }

    /// Adds the next row: `source.width` premultiplied pixels of the format.
    mutating func push(_ row: UnsafeRawPointer) {
        precondition(nextRow < source.height, "more rows than the image has")
        let components = row.assumingMemoryBound(to: UInt16.self)
        let isKept = !keepsSums
        // Rows that are neither narrowed nor summed immediately are unpacked directly into storage.
        let unpacked = narrowsFirst ? wide : isKept ? keptRow(nextRow) : sum
        let read = format == .rgba16 ? kernels.from_uint16 : kernels.from_half
        read?(unpacked, components, source.width * 4)
        var narrow = unpacked
        if narrowsFirst {
            narrow = isKept ? keptRow(nextRow) : sum
            convolve(unpacked, to: narrow)
        }
        nextRow += 1
        if keepsSums { addUp(narrow) } else { finishRows() }
    }

    /// Returns a copy of the finished rows; the rows below are transparent.
    func snapshot(pool: PixelBufferPool = .shared) throws(ImageError) -> PixelBuffer {
        try destination.snapshot(rows: firstOpen, pool: pool)
    }

    /// Returns the resampled pixels after all rows have arrived.
    consuming func finish() -> PixelBuffer {
        precondition(nextRow == source.height, "\(nextRow) of \(source.height) rows have come")
        return destination.freeze()
    }

    private func keptRow(_ index: Int) -> UnsafeMutablePointer<Float> { kept + index % keptRows * rowCount }

    private func end(_ y: Int) -> Int { Int(vertical.spans[y].first) + Int(vertical.spans[y].count) }

    /// Adds the last row to every destination row that it contributes to.
    private mutating func addUp(_ row: UnsafeMutablePointer<Float>) {
        let current = nextRow - 1
        var y = firstOpen
        while y < destination.height, Int(vertical.spans[y].first) <= current {
            let offset = current - Int(vertical.spans[y].first)
            let weight = vertical.weights[Int(vertical.spans[y].first_weight) + offset]
            kernels.add(keptRow(y), row, weight, offset == 0, rowCount)
            if end(y) == nextRow {
                write(keptRow(y), to: y)
                firstOpen = y + 1
            }
            y += 1
        }
    }

    /// Sums every destination row whose last source row has arrived.
    private mutating func finishRows() {
        while firstOpen < destination.height, end(firstOpen) <= nextRow {
            let span = vertical.spans[firstOpen]
            for offset in 0..<Int(span.count) {
                let weight = vertical.weights[Int(span.first_weight) + offset]
                kernels.add(sum, keptRow(Int(span.first) + offset), weight, offset == 0, rowCount)
            }
            write(sum, to: firstOpen)
            firstOpen += 1
        }
    }

    private func write(_ row: UnsafeMutablePointer<Float>, to y: Int) {
        var finished = row
        if !narrowsFirst {
            convolve(row, to: wide)
            finished = wide
        }
        let target = destination.row(y).assumingMemoryBound(to: UInt16.self)
        let write = format == .rgba16 ? kernels.to_uint16 : kernels.to_half
        write?(target, finished, destination.width)
    }

    private func convolve(_ row: UnsafeMutablePointer<Float>, to pixels: UnsafeMutablePointer<Float>) {
        kernels.convolve(pixels, row, horizontal.spans, horizontal.weights, horizontal.spans.count)
    }
}
