internal import TintypeImages

/// Decodes those scans of a progressive file that a thumbnail needs.
struct ProgressiveReader: ~Copyable {
    private var frame: ThumbnailFrame
    private let context: ProcessingContext
    /// The scans, and if they are decoded.
    private let scans: [(JPEGScans.Scan, isKept: Bool)]
    /// The last coefficient that is needed of each component, in zigzag order.
    private let last: [Int]
    /// A bit for each coefficient that isn't zero: see ``ProgressiveScan``.
    private var masks: MutablePixelBuffer
    /// The bytes of a scan, without the zeros after FF.
    private var data: MutablePixelBuffer
    private let capacity: Int
    /// The bits that are missing of each coefficient of each component; 64 for a coefficient that hasn't come at all.
    private var missing: [[Int]]

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
        self.scans = zip(scans.scans, keeps).map { ($0, isKept: $1) }
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

    /// Decodes all scans that are needed.
    mutating func readAll(
        _ file: Span<UInt8>, into resampler: inout CoefficientResampler
    ) throws(NotForThumbnails) {
        for (scan, isKept) in scans {
            try frame.readCodes(file, before: scan)
            try checkOrder(scan)
            if isKept { try read(scan, file, into: &resampler) }
        }
        try checkEnd(file)
    }

    /// Decodes a scan.
    private mutating func read(
        _ header: JPEGScans.Scan, _ file: Span<UInt8>, into resampler: inout CoefficientResampler
    ) throws(NotForThumbnails) {
        let component = header.components[0]
        let tables = try tables(header)
        let scan = ProgressiveScan(
            header: header, places: resampler.places(of: component),
            needed: header.coefficients & (2 << UInt64(last[component]) - 1), tables: tables,
            entries: tables.flatMap(\.entries))
        let mcus = header.components.count == 1 ? frame.blocks(of: component) : frame.mcus
        let rows = (0..<mcus.height).map { blocks(row: $0, mcus.width, header, resampler) }
        let rowsAtOnce = max(1, Self.mcusAtOnce / mcus.width)
        let byteCount = try append(file, header)
        let context = context
        var state = ProgressiveScan.State()
        try data.withBytes { (data) throws(NotForThumbnails) in
            let data = data.extracting(0..<byteCount + ScanBytes.padding)
            try masks.withMutableBytes { (masks) throws(NotForThumbnails) in
                try resampler.withBlocks { (blocks) throws(NotForThumbnails) in
                    for (index, row) in rows.enumerated() {
                        if index % rowsAtOnce == 0 { try NotForThumbnails.checkCancellation(context) }
                        state =
                            if header.isMeans {
                                try scan.readMeans(state, mcus: mcus.width, row.span, data, &blocks)
                            } else if header.isRefinement {
                                try scan.refineCoefficients(state, row[0], data, &blocks, &masks)
                            } else {
                                try scan.readCoefficients(state, row[0], data, &blocks, &masks)
                            }
                    }
                }
            }
        }
        // The last symbol must be in the last byte.
        guard state.run == 0, (0..<8).contains(8 * byteCount - state.reader.position) else {
            throw NotForThumbnails()
        }
    }

    /// The tables of a scan, for each of its components.
    private func tables(_ scan: JPEGScans.Scan) throws(NotForThumbnails) -> [ProgressiveTable] {
        var tables: [ProgressiveTable] = []
        // Bits that refine means have no code.
        guard !scan.isMeans || !scan.isRefinement else { return tables }
        for codes in scan.codes {
            let code = try frame.code(codes, isOfDifferences: scan.isMeans)
            tables.append(
                ProgressiveTable(
                    code, scan.isMeans ? .differences : scan.isRefinement ? .refinement : .coefficients))
        }
        return tables
    }

    /// The blocks of a row of MCUs.
    private func blocks(
        row: Int, _ width: Int, _ scan: JPEGScans.Scan, _ resampler: borrowing CoefficientResampler
    ) -> [ProgressiveScan.Row] {
        var result: [ProgressiveScan.Row] = []
        for (index, component) in scan.components.enumerated() {
            // A component that is alone in a scan isn't interleaved (A.2.2).
            let isAlone = scan.components.count == 1
            let across = isAlone ? 1 : frame.components[component].horizontal
            let down = isAlone ? 1 : frame.components[component].vertical
            for line in 0..<down {
                for column in 0..<across {
                    let (place, step) = resampler.place(row * down + line, column, of: component)
                    result.append(
                        ProgressiveScan.Row(blocks: width, place: place, step: step * across, component: index))
                }
            }
        }
        return result
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
