internal import TintypeImages

/// Decodes a piece of a scan with several streams.
///
/// Where a scan has restart markers, each stream gets an interval. Without them it isn't known where in the middle of a scan an MCU starts.
/// But Huffman codes synchronize themselves: a decoder that starts anywhere makes mistakes at first, and after a while, 8 to 154 bytes in
/// photographs and at most 1.6 KB, finds itself where a code really starts (Klein and Wiseman, "Parallel Huffman decoding with applications
/// to JPEG files", 2003). So a stream runs up through the bytes before its part, and guesses that it is right by then.
///
/// Nothing depends on the guess being right: its result counts only if the stream before arrives, at the end of its own part, at
/// exactly the bit where it started, between two MCUs. Otherwise that stream takes the part over.
struct ScanWindow {
    private let coding: ScanCoding
    private let context: ProcessingContext
    private(set) var lanes: [ScanLane]
    /// The number of bytes before its part that a guessed stream runs through.
    var warmUp = 1_024
    /// The number of parts that were taken over.
    private(set) var takeovers = 0
    /// The bit after the last MCU of a piece that was decoded.
    private(set) var end = 0

    static let mostLanes = 3
    /// The most bits of an MCU: ten blocks of a difference and 63 coefficients.
    static let mostMCUBits = 10 * (16 + 11 + 63 * (16 + 10))
    /// The most groups of lookups before cancellation is looked for again, about a tenth of a millisecond.
    private static let mostGroups = 4_096

    /// - Parameter records: the bytes for the records of each stream.
    init(_ coding: ScanCoding, records: Int, context: ProcessingContext) {
        self.coding = coding
        self.context = context
        lanes = (0..<Self.mostLanes).map {
            ScanLane(records: $0 * records..<($0 + 1) * records, recordSize: coding.recordSize)
        }
    }

    /// Decodes whole intervals, each with a stream.
    /// - Parameters:
    ///   - intervals: their bits, padded to whole bytes.
    ///   - mcus: the number of MCUs of each.
    mutating func decode(
        intervals: [Range<Int>], mcus: [Int], _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        begin(intervals)
        try runTogether(data, &records)
        for (index, mcus) in mcus.enumerated() {
            let needed = mcus * coding.blocks
            try advance(index, to: lanes[index].end, records: needed, data, &records)
            // The last MCU ends in the last byte.
            guard lanes[index].records == needed, (0..<8).contains(lanes[index].end - lanes[index].stream.position)
            else { throw NotForThumbnails() }
            lanes[index].mcus = mcus
        }
    }

    /// True if a piece isn't worth a guess.
    func isShort(_ piece: Range<Int>) -> Bool {
        piece.count - Self.mostMCUBits < 8 * 4 * warmUp * Self.mostLanes
    }

    /// Decodes a piece of a scan: the MCUs from its first bit on that are surely whole, and whose records have room.
    mutating func decode(
        piece: Range<Int>, _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        let limit = piece.upperBound - Self.mostMCUBits
        let count = isShort(piece) ? 1 : Self.mostLanes
        // Guesses start with a byte, which isn't likelier than any other bit.
        let starts = (0..<count).map { piece.lowerBound + (limit - piece.lowerBound) / count * $0 & ~7 }
        let ends = starts.dropFirst() + [limit]
        begin(zip(starts, ends).map { $0..<max($0, $1) })
        if count > 1 { try synchronize(data, &records) }
        try runTogether(data, &records)
        // In the order of the parts, each stream has to arrive where the next started.
        var current = 0
        for next in 1...count {
            let target = next < count ? lanes[next].begin : limit
            // Streams end between MCUs, so that a last one has to fit.
            let most = lanes[current].capacity - 2 * coding.blocks
            try advance(current, to: target, records: most, data, &records)
            lanes[current].mcus = lanes[current].records / coding.blocks
            // Without room for more records, the rest is for the next window.
            guard next < count, lanes[current].stream.position >= target else { break }
            if lanes[current].stream.position == target, !lanes[next].hasFailed {
                current = next
            } else {
                takeovers += 1
            }
        }
        end = lanes[current].stream.position
        // Something must come of it, and the decoded bits must have been there.
        guard end > piece.lowerBound, end <= piece.upperBound else { throw NotForThumbnails() }
    }

    /// Gives the streams their parts. More streams than there are parts have nothing to do.
    private mutating func begin(_ parts: [Range<Int>]) {
        for index in lanes.indices {
            let part = index < parts.count ? parts[index] : 0..<0
            lanes[index].begin = part.lowerBound
            lanes[index].end = part.upperBound
            lanes[index].mcus = 0
            lanes[index].restart(at: part.lowerBound)
        }
    }

    /// Runs the streams that guess through the bytes before their parts, which then begin with the MCUs that were found.
    private mutating func synchronize(_ data: RawSpan, _ records: inout MutableRawSpan) throws(NotForThumbnails) {
        for index in 1..<Self.mostLanes {
            let (begin, end) = (lanes[index].begin, lanes[index].end)
            lanes[index].restart(at: begin - 8 * warmUp)
            while !lanes[index].stream.isAtMCU || lanes[index].stream.position < begin,
                lanes[index].stream.position < end
            {
                let groups = lanes[index].groups(to: begin)
                if groups > 0 {
                    try run([index], groups, data, &records)
                } else if !lanes[index].step(coding, data, &records) {
                    lanes[index].hasFailed = true
                }
                if lanes[index].hasFailed {
                    // A code that doesn't exist only shows that the guess is still wrong: the next byte is tried.
                    lanes[index].restart(at: (lanes[index].stream.position + 8) & ~7)
                } else {
                    lanes[index].forget()
                }
            }
            lanes[index].hasFailed = !lanes[index].stream.isAtMCU
            lanes[index].begin = lanes[index].stream.position
            lanes[index - 1].end = lanes[index].begin
        }
    }

    /// Decodes up to the first MCU that starts at a bit or after it, or has so many records before it.
    private mutating func advance(
        _ index: Int, to bit: Int, records most: Int, _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        while !lanes[index].stream.isAtMCU || lanes[index].stream.position < bit && lanes[index].records < most {
            let groups = min(lanes[index].groups(to: bit), (most - lanes[index].records) / 3)
            if groups > 0 {
                try run([index], groups, data, &records)
            } else if !lanes[index].step(coding, data, &records) {
                throw NotForThumbnails()
            }
            if lanes[index].hasFailed { throw NotForThumbnails() }
        }
    }

    // MARK: Running

    /// Runs all streams nearly to the ends of their parts.
    private mutating func runTogether(_ data: RawSpan, _ records: inout MutableRawSpan) throws(NotForThumbnails) {
        while true {
            let active = lanes.indices.filter { !lanes[$0].hasFailed && lanes[$0].groups(to: lanes[$0].end) > 7 }
            guard !active.isEmpty else { return }
            let groups = active.reduce(Self.mostGroups) { min($0, lanes[$1].groups(to: lanes[$1].end)) }
            try run(active, groups, data, &records)
        }
    }

    /// Does groups of lookups with some of the streams, as many as may be done at once.
    private mutating func run(
        _ which: [Int], _ groups: Int, _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        try NotForThumbnails.checkCancellation(context)
        var left = min(groups, Self.mostGroups)
        while left > 0 {
            guard let stopped = Self.run(&lanes, which, &left, coding, data, &records) else { return }
            let index = which[stopped]
            if !lanes[index].step(coding, data, &records) {
                lanes[index].hasFailed = true
                return
            }
        }
    }

    /// - Returns: the stream that has met a symbol that no entry holds.
    @inline(never)
    private static func run(
        _ lanes: inout [ScanLane], _ which: [Int], _ left: inout Int, _ coding: ScanCoding, _ data: RawSpan,
        _ records: inout MutableRawSpan
    ) -> Int? {
        let (entries, steps) = (coding.tables.entries.span, coding.steps.span)
        let isLong = coding.recordSize > 16
        var loop = ScanLoop(a: lanes[which[0]].stream, left: left)
        if which.count > 1 { loop.b = lanes[which[1]].stream }
        if which.count > 2 { loop.c = lanes[which[2]].stream }
        switch which.count {
        case 1: loop = loop.run(1, data, entries, steps, &records, isLong: isLong)
        case 2: loop = loop.run(2, data, entries, steps, &records, isLong: isLong)
        default: loop = loop.run(3, data, entries, steps, &records, isLong: isLong)
        }
        lanes[which[0]].stream = loop.a
        if which.count > 1 { lanes[which[1]].stream = loop.b }
        if which.count > 2 { lanes[which[2]].stream = loop.c }
        left = loop.left
        return loop.stopped
    }
}
