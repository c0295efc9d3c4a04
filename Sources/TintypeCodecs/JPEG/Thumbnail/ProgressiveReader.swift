internal import TintypeImages

/// Decodes those scans of a progressive file that a thumbnail needs.
struct ProgressiveReader: ~Copyable {
    private var frame: ThumbnailFrame
    private let context: ProcessingContext
    /// The scans that are still to come, and if they are decoded.
    private var scans: ArraySlice<(JPEGScans.Scan, isKept: Bool)>
    /// The last coefficient that is needed of each component, in zigzag order.
    private let last: [Int]
    /// A bit for each coefficient that isn't zero: see ``ProgressiveScan``.
    private var masks: MutablePixelBuffer
    /// The bytes of a scan, without the zeros after FF.
    private var data: MutablePixelBuffer
    private let capacity: Int
    /// The bits that are missing of each coefficient of each component; 64 for a coefficient that hasn't come at all.
    private var missing: [[Int]]

    /// The scan that is being decoded.
    private var scan: ProgressiveScan?
    private var components: [Int] = []
    private var state = ProgressiveScan.State()
    /// The next row of its MCUs, and their number.
    private var row = 0
    private var mcus = PixelSize.zero
    private var byteCount = 0

    /// More scans are left to libjpeg-turbo. Encoders write about ten.
    private static let mostScans = 32
    /// Values of ten bits have so many more at most.
    private static let mostShift = 5
    /// The MCUs to decode before cancellation is looked for again: a fifth of a millisecond, and twice that where nothing is zero.
    private static let mcusAtOnce = 4_096

    /// - Parameters:
    ///   - last: the last coefficient that is needed of each component, in zigzag order.
    ///   - blockBytes: the memory for coefficients.
    ///   - isWanted: false for a scan that is left out, unless another builds on it.
    init(
        _ frame: ThumbnailFrame, _ scans: JPEGScans, last: [Int], blockBytes: Int, context: ProcessingContext,
        isWanted: (JPEGScans.Scan) -> Bool
    ) throws(ImageError) {
        self.frame = frame
        self.context = context
        self.last = last
        let keeps = scans.keeps(isWanted)
        self.scans = zip(scans.scans, keeps).map { ($0, isKept: $1) }[...]
        capacity = Self.longest(scans)
        missing = frame.components.map { _ in [Int](repeating: 64, count: 64) }
        let masks = try MutablePixelBuffer(size: PixelSize(width: blockBytes / 8, height: 1), pool: context.pool)
        let data = try MutablePixelBuffer(
            size: PixelSize(width: (capacity + ScanBytes.padding) / 4 + 1, height: 1), cleared: false,
            pool: context.pool)
        self.masks = masks
        self.data = data
    }

    private static func longest(_ scans: JPEGScans) -> Int { scans.scans.reduce(0) { max($0, $1.range.count) } }

    /// The blocks of memory that a reader takes.
    static func working(_ scans: JPEGScans, blockBytes: Int) -> [Int] {
        [blockBytes / 2, longest(scans) + ScanBytes.padding]
    }

    /// True if all scans have been decoded.
    var isAtEnd: Bool { scan == nil && scans.isEmpty }

    /// Decodes some rows of a scan.
    mutating func next(_ file: Span<UInt8>, _ resampler: inout CoefficientResampler) throws(NotForThumbnails) {
        try NotForThumbnails.checkCancellation(context)
        if scan == nil { try begin(file, resampler) }
        guard let scan else { return }
        let end = min(mcus.height, row + max(1, Self.mcusAtOnce / mcus.width))
        let rows = row..<end
        var state = self.state
        let (places, width, byteCount) = (places(rows, resampler), mcus.width, self.byteCount + ScanBytes.padding)
        try data.withBytes { (data) throws(NotForThumbnails) in
            let data = data.extracting(0..<byteCount)
            try masks.withMutableBytes { (masks) throws(NotForThumbnails) in
                try resampler.withBlocks { (blocks) throws(NotForThumbnails) in
                    for row in places {
                        state =
                            if scan.first == 0 {
                                try scan.readMeans(state, mcus: width, row.span, data, &blocks)
                            } else if scan.isRefinement {
                                try scan.refineCoefficients(state, row[0], data, &blocks, &masks)
                            } else {
                                try scan.readCoefficients(state, row[0], data, &blocks, &masks)
                            }
                    }
                }
            }
        }
        self.state = state
        row = end
        guard row == mcus.height else { return }
        // The last symbol must be in the last byte.
        guard state.run == 0, (0..<8).contains(8 * self.byteCount - state.reader.position) else {
            throw NotForThumbnails()
        }
        self.scan = nil
        if scans.isEmpty { try checkEnd(file) }
    }

    /// The blocks of each row of MCUs.
    private func places(_ rows: Range<Int>, _ resampler: borrowing CoefficientResampler) -> [[ProgressiveScan.Row]] {
        rows.map { row in
            var result: [ProgressiveScan.Row] = []
            for (index, component) in components.enumerated() {
                // A component that is alone in a scan isn't interleaved (A.2.2).
                let isAlone = components.count == 1
                let (across, down) =
                    isAlone ? (1, 1) : (frame.components[component].horizontal, frame.components[component].vertical)
                for line in 0..<down {
                    for column in 0..<across {
                        let (place, step) = resampler.place(row * down + line, column, of: component)
                        result.append(
                            ProgressiveScan.Row(
                                blocks: mcus.width, place: place, step: step * across, component: index))
                    }
                }
            }
            return result
        }
    }

    // MARK: Scans

    /// Starts with the next scan that is decoded.
    private mutating func begin(
        _ file: Span<UInt8>, _ resampler: borrowing CoefficientResampler
    ) throws(NotForThumbnails) {
        while let (next, isKept) = scans.popFirst() {
            try frame.readCodes(file, before: next)
            try checkOrder(next)
            guard isKept else { continue }
            let isMeans = next.isMeans
            var tables: [ProgressiveTable] = []
            if !isMeans || !next.isRefinement {
                for codes in next.codes {
                    let code = try frame.code(isMeans ? codes >> 4 : codes & 15, isOfDifferences: isMeans)
                    tables.append(
                        ProgressiveTable(
                            code, isMeans ? .differences : next.isRefinement ? .refinement : .coefficients))
                }
            }
            let component = next.components[0]
            scan = ProgressiveScan(
                first: next.band.lowerBound, last: next.band.upperBound, shift: next.missingBits,
                isRefinement: next.isRefinement, places: resampler.places(of: component),
                needed: next.coefficients & (2 << UInt64(last[component]) - 1), tables: tables,
                entries: tables.flatMap(\.entries))
            components = next.components
            mcus = components.count == 1 ? frame.blocks(of: component) : frame.mcus
            state = ProgressiveScan.State()
            row = 0
            byteCount = try append(file, next)
            return
        }
        try checkEnd(file)
    }

    /// Copies the data of a scan.
    /// - Returns: the number of bytes.
    private mutating func append(_ file: Span<UInt8>, _ scan: JPEGScans.Scan) throws(NotForThumbnails) -> Int {
        var offset = scan.dataStart
        var count = 0
        while true {
            try NotForThumbnails.checkCancellation(context)
            let capacity = min(self.capacity, count + ScanBytes.piece)
            let marker = data.withMutableBytes { ScanBytes.append(file, &offset, to: &$0, &count, capacity: capacity) }
            if marker == nil, count == capacity, count < self.capacity { continue }
            // Restarts are rare here.
            guard marker != nil, offset == scan.range.upperBound else { throw NotForThumbnails() }
            return count
        }
    }

    /// Refuses files that libjpeg-turbo warns about, and values with more bits than the records have.
    private mutating func checkOrder(_ scan: JPEGScans.Scan) throws(NotForThumbnails) {
        guard scan.missingBits <= Self.mostShift else { throw NotForThumbnails() }
        for component in scan.components {
            guard scan.isMeans || missing[component][0] < 64 else { throw NotForThumbnails() }
            for k in scan.band {
                guard missing[component][k] == (scan.isRefinement ? scan.missingBits + 1 : 64) else {
                    throw NotForThumbnails()
                }
                missing[component][k] = scan.missingBits
            }
        }
    }

    /// Checks that nothing but the end comes after the last scan, and that no bit of a coefficient is missing, which libjpeg-turbo would
    /// make up.
    private func checkEnd(_ file: Span<UInt8>) throws(NotForThumbnails) {
        // libjpeg-turbo looks at the first fifteen, whatever is needed.
        let isComplete = zip(missing, last).allSatisfy { $0[...max(14, $1)].allSatisfy { $0 == 0 } }
        guard isComplete, file[frame.scan + 1] == 0xD9 else { throw NotForThumbnails() }
    }
}
