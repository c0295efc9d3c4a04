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
    /// The bit after the last MCU that was decoded.
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

    // MARK: Intervals

    /// Decodes whole intervals, each with its own stream.
    /// - Parameters:
    ///   - intervals: their bits, padded to whole bytes.
    ///   - mcus: the number of MCUs of each.
    mutating func decode(
        intervals: [Range<Int>], mcus: [Int], _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        for index in lanes.indices {
            lanes[index].isVoid = index >= intervals.count
            guard index < intervals.count else { continue }
            begin(index, intervals[index])
            lanes[index].beginsInterval = true
        }
        try runTogether(data, &records)
        for index in intervals.indices {
            try complete(index, mcus: mcus[index], data, &records)
            lanes[index].mcus = mcus[index]
        }
    }

    // MARK: Pieces of an interval

    /// Decodes a piece of an interval.
    /// - Parameters:
    ///   - piece: its bits, from the start of an MCU on.
    ///   - mcus: the number of MCUs that the interval still has.
    ///   - isLast: true if the interval ends with the piece; otherwise some of its end may be left.
    mutating func decode(
        piece: Range<Int>, mcus: Int, isLast: Bool, beginsInterval: Bool, _ data: RawSpan,
        _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        // Short pieces aren't worth a guess.
        let count = piece.count < 8 * 4 * warmUp * Self.mostLanes ? 1 : Self.mostLanes
        for index in lanes.indices {
            lanes[index].isVoid = index >= count
            lanes[index].beginsInterval = index == 0 && beginsInterval
            guard index < count else { continue }
            // Guesses start with a byte, which isn't likelier than any other bit.
            let first = index == 0 ? piece.lowerBound : piece.lowerBound + piece.count / count * index & ~7
            let last = piece.lowerBound + piece.count / count * (index + 1) & ~7
            // The last MCU must be whole.
            let end = isLast ? piece.upperBound : piece.upperBound - Self.mostMCUBits
            begin(index, first..<max(first, index == count - 1 ? end : last))
        }
        if count > 1 { try synchronize(data, &records) }
        try runTogether(data, &records)
        try join(piece, mcus: mcus, isLast: isLast, count: count, data, &records)
    }

    private mutating func begin(_ index: Int, _ bits: Range<Int>) {
        lanes[index].begin = bits.lowerBound
        lanes[index].end = bits.upperBound
        lanes[index].mcus = 0
        lanes[index].restart(at: bits.lowerBound)
    }

    /// Runs the streams that guess through the bytes before their parts, and the first stream through the start of its own.
    private mutating func synchronize(_ data: RawSpan, _ records: inout MutableRawSpan) throws(NotForThumbnails) {
        let guesses = 1..<Self.mostLanes
        for index in guesses { lanes[index].restart(at: lanes[index].begin - 8 * warmUp) }
        while true {
            let groups = guesses.reduce(min(256, lanes[0].groups(to: lanes[0].end))) {
                min($0, lanes[$1].groups(to: lanes[$1].begin))
            }
            guard groups > 3 else { break }
            try run(Array(lanes.indices), groups, data, &records)
            if lanes[0].hasFailed { throw NotForThumbnails() }
            for index in guesses { forget(index) }
        }
        for index in guesses {
            while !lanes[index].stream.isAtMCU || lanes[index].stream.position < lanes[index].begin {
                if !lanes[index].step(coding, data, &records) { lanes[index].hasFailed = true }
                forget(index)
                guard lanes[index].stream.position < lanes[index].end else { break }
            }
            lanes[index].hasFailed = !lanes[index].stream.isAtMCU
            lanes[index].begin = lanes[index].stream.position
        }
        for index in guesses { lanes[index - 1].end = lanes[index].begin }
    }

    /// A code that doesn't exist only shows that a guess is still wrong: the next byte is tried.
    private mutating func forget(_ index: Int) {
        if lanes[index].hasFailed {
            lanes[index].restart(at: (lanes[index].stream.position + 8) & ~7)
        } else {
            lanes[index].forget()
        }
    }

    /// Checks in the order of the parts that each stream arrives where the next started, and counts the MCUs.
    private mutating func join(
        _ piece: Range<Int>, mcus: Int, isLast: Bool, count: Int, _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        var left = mcus
        var current = 0
        var next = 1
        while next < count {
            let target = lanes[next].begin
            let arrives = try advance(current, to: target, data, &records)
            if arrives, lanes[current].stream.position == target, !lanes[next].hasFailed {
                left -= try countMCUs(of: current)
                current = next
            } else if arrives {
                lanes[next].isVoid = true
                takeovers += 1
            } else {
                // The room for records is used up. The rest is for the next window.
                for index in next..<count { lanes[index].isVoid = true }
                break
            }
            next += 1
        }
        if next == count {
            guard left > 0 || !isLast else { throw NotForThumbnails() }
            let hasRoom = try advance(current, to: piece.upperBound - Self.mostMCUBits, data, &records)
            if isLast, hasRoom, lanes[current].room > left * coding.blocks - lanes[current].records {
                lanes[current].end = piece.upperBound
                try complete(current, mcus: left, data, &records)
                lanes[current].mcus = left
                end = piece.upperBound
                return
            }
        }
        left -= try countMCUs(of: current)
        // More data must come, and something to come of it; and the decoded bits must have been there.
        end = lanes[current].stream.position
        guard left > 0, end > piece.lowerBound, end <= piece.upperBound else { throw NotForThumbnails() }
    }

    /// Counts the MCUs of a stream, which is between two.
    private mutating func countMCUs(of index: Int) throws(NotForThumbnails) -> Int {
        guard lanes[index].records % coding.blocks == 0 else { throw NotForThumbnails() }
        lanes[index].mcus = lanes[index].records / coding.blocks
        return lanes[index].mcus
    }

    /// Decodes up to the first MCU that starts at a bit or after it.
    /// - Returns: false if there was no room for the records up to there; the stream is then between two MCUs too.
    private mutating func advance(
        _ index: Int, to bit: Int, _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) -> Bool {
        while !lanes[index].stream.isAtMCU || lanes[index].stream.position < bit {
            if lanes[index].stream.isAtMCU, lanes[index].room < 2 * coding.blocks { return false }
            let groups = lanes[index].groups(to: bit)
            if groups > 0 {
                try run([index], groups, data, &records)
            } else if !lanes[index].step(coding, data, &records) {
                throw NotForThumbnails()
            }
            if lanes[index].hasFailed { throw NotForThumbnails() }
        }
        return true
    }

    /// Decodes the rest of an interval: exactly the MCUs that it has to have, which end in its last byte.
    private mutating func complete(
        _ index: Int, mcus: Int, _ data: RawSpan, _ records: inout MutableRawSpan
    ) throws(NotForThumbnails) {
        let needed = mcus * coding.blocks
        while lanes[index].records < needed {
            let groups = min(lanes[index].groups(to: lanes[index].end), (needed - lanes[index].records) / 3)
            if groups > 0 {
                try run([index], groups, data, &records)
            } else if !lanes[index].step(coding, data, &records) {
                throw NotForThumbnails()
            }
            guard !lanes[index].hasFailed, lanes[index].stream.position <= lanes[index].end else {
                throw NotForThumbnails()
            }
        }
        let stream = lanes[index].stream
        guard lanes[index].records == needed, stream.isAtMCU, (0..<8).contains(lanes[index].end - stream.position)
        else {
            throw NotForThumbnails()
        }
    }

    // MARK: Running

    /// Runs all streams nearly to the ends of their parts.
    private mutating func runTogether(_ data: RawSpan, _ records: inout MutableRawSpan) throws(NotForThumbnails) {
        var active = lanes.indices.filter { !lanes[$0].isVoid }
        while true {
            active = active.filter { !lanes[$0].hasFailed && lanes[$0].groups(to: lanes[$0].end) > 7 }
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
        let (entries, steps) = (coding.tables.entries.span, coding.transitions.steps.span)
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
