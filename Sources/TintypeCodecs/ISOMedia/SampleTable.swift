#if AVIF || HEIF
internal import TintypeImages

/// The samples of a track: where the bytes of each are and when it is shown (ISO/IEC 14496-12, sections 8.5 to 8.7).
struct SampleTable {
    struct Sample: Equatable {
        /// The range of its bytes in the file, which may lie behind the end of a file that is cut.
        var bytes = 0..<0
        /// The duration in the order of decoding, in units of the track.
        var duration = 0
        /// When it is shown, in units of the track.
        var start = 0
        /// True if the file says that decoding can start with this sample.
        var isSync = true
    }

    /// In the order of decoding.
    private(set) var samples: [Sample]
    /// For each place in the order of showing, the place in the order of decoding.
    private(set) var order: [Int] = []
    /// For each place in the order of decoding, the place in the order of showing.
    private(set) var ranks: [Int] = []

    /// - Parameters:
    ///   - box: an `stbl` box.
    ///   - maximumCount: the largest number of samples, which is checked before memory is allocated for them.
    init(_ box: MediaBox, maximumCount: Int) throws(ImageError) {
        samples = try Self.places(box, maximumCount: maximumCount).map { Sample(bytes: $0) }
        try time(box)
        try markSync(box)
        let samples = samples
        order = samples.indices.sorted { (samples[$0].start, $0) < (samples[$1].start, $1) }
        ranks = order
        for (rank, index) in order.enumerated() { ranks[index] = rank }
    }

    var count: Int { samples.count }

    /// The offset of the first byte behind all samples.
    var end: Int { samples.map(\.bytes.upperBound).max() ?? 0 }

    /// The offset of the first byte behind the samples of an `stbl` box, without their times.
    static func end(of box: MediaBox, maximumCount: Int) throws(ImageError) -> Int {
        try places(box, maximumCount: maximumCount).map(\.upperBound).max() ?? 0
    }

    /// The time that each sample is shown, in the order of showing and units of the track: until the next sample is. The last
    /// sample takes as long as it does for decoding.
    var durations: [Int] {
        order.indices.map { rank in
            let sample = samples[order[rank]]
            return rank + 1 < count ? samples[order[rank + 1]].start - sample.start : sample.duration
        }
    }

    /// The place in the order of decoding to start with in order to show a sample: the nearest sync sample that is not shown
    /// after it, or the first sample. Samples that are decoded after a sync sample, but shown before it, may need the previous sync
    /// sample.
    /// - Parameter standsAlone: Returns true if the picture of a sync sample needs no other. Some writers list samples at regular
    ///   distances, whatever their pictures need.
    func decodingStart(
        forRank rank: Int, where standsAlone: (Sample) throws(ImageError) -> Bool
    ) throws(ImageError) -> Int {
        let target = order[rank]
        for place in stride(from: target, to: 0, by: -1) {
            let sample = samples[place]
            guard sample.isSync, sample.start <= samples[target].start, try standsAlone(sample) else { continue }
            return place
        }
        return 0
    }

    // MARK: Reading

    /// The sizes in bytes: `stsz`, or `stz2` with 4, 8 or 16 bits for each.
    private static func sizes(_ box: MediaBox, maximumCount: Int) throws(ImageError) -> [Int] {
        func checked(_ count: Int) throws(ImageError) -> Int {
            guard count <= maximumCount else {
                throw ImageError(
                    .limitExceeded, stage: .decode,
                    reason: "the animation has \(count) frames, over the limit of \(maximumCount)")
            }
            return count
        }
        if let box = try box.first("stsz") {
            var reader = box.reader
            _ = try reader.fullBox()
            let size = try reader.uint32()
            let count = try checked(try reader.uint32())
            return size > 0 ? [Int](repeating: size, count: count) : try list(count, bits: 32, &reader)
        }
        var reader = try box.box("stz2").reader
        _ = try reader.fullBox()
        let bits = try reader.uint32() & 0xFF
        guard [4, 8, 16].contains(bits) else {
            throw .corrupt("the file states frame sizes in \(bits) bits, which isn't valid")
        }
        return try list(try checked(try reader.uint32()), bits: bits, &reader)
    }

    private static func list(_ count: Int, bits: Int, _ reader: inout BoxReader) throws(ImageError) -> [Int] {
        let bytes = try reader.take((count * bits + 7) / 8)
        return (0..<count).map { index in
            if bits == 4 { return Int(bytes[index / 2]) >> (index % 2 == 0 ? 4 : 0) & 15 }
            return (0..<bits / 8).reduce(0) { $0 << 8 | Int(bytes[index * bits / 8 + $1]) }
        }
    }

    /// Samples lie behind each other in chunks: `stsc`, with `stco` or `co64`.
    /// - Parameter isExact: True to refuse chunks with more samples than there are sizes: libavif goes by the chunks.
    static func places(
        _ box: MediaBox, maximumCount: Int, isExact: Bool = false
    ) throws(ImageError) -> [Range<Int>] {
        let sizes = try sizes(box, maximumCount: maximumCount)
        var places: [Range<Int>] = []
        places.reserveCapacity(sizes.count)
        let has64Bits = try box.first("stco") == nil
        var offsets = try box.box(has64Bits ? "co64" : "stco").reader
        var runs = try box.box("stsc").reader
        _ = try offsets.fullBox()
        _ = try runs.fullBox()
        let chunkCount = try offsets.uint32()
        var runCount = try runs.uint32()
        var next = runCount > 0 ? try runs.uint32() : 0
        var (chunk, perChunk, left) = (1, 0, 0)
        while places.count < sizes.count, chunk <= chunkCount {
            while runCount > 0, next <= chunk {
                perChunk = try runs.uint32()
                guard try runs.uint32() == 1 else {
                    throw ImageError(
                        .formatNotEnabled, stage: .decode,
                        reason: "the frames of the file are coded in several ways, which isn't supported")
                }
                runCount -= 1
                next = runCount > 0 ? try runs.uint32() : 0
            }
            var offset = has64Bits ? try offsets.uint64() : try offsets.uint32()
            // Far beyond any file, and far from overflow.
            guard offset < 1 << 60 else {
                throw .corrupt("the file states the byte offset \(offset), which isn't valid")
            }
            left = max(0, perChunk - (sizes.count - places.count))
            for _ in 0..<min(perChunk, sizes.count - places.count) {
                let size = sizes[places.count]
                places.append(offset..<offset + size)
                offset += size
            }
            chunk += 1
        }
        guard !isExact || left == 0 && chunk > chunkCount else {
            throw .corrupt("the file states locations for more than \(sizes.count) frames")
        }
        guard places.count == sizes.count else {
            throw .corrupt("the file states locations for only \(places.count) of \(sizes.count) frames")
        }
        return places
    }

    /// Reads durations from `stts`, and from `ctts` the delay from the decoding of a sample to its display.
    private mutating func time(_ box: MediaBox) throws(ImageError) {
        var start = 0
        var place = 0
        try Self.runs(try box.box("stts"), count: count) { duration in
            samples[place].start = start
            samples[place].duration = duration
            start += duration
            place += 1
        }
        while place < count {
            samples[place].start = start
            place += 1
        }
        guard let box = try box.first("ctts") else { return }
        place = 0
        // Offsets are signed in the box's version 1, and in boxes that some writers call version 0.
        try Self.runs(box, count: count) { offset in
            samples[place].start += Int(Int32(truncatingIfNeeded: offset))
            place += 1
        }
    }

    /// Gives the values of a box of runs, at most `count` of them.
    private static func runs(_ box: MediaBox, count: Int, _ body: (Int) -> Void) throws(ImageError) {
        var reader = box.reader
        _ = try reader.fullBox()
        var runs = try reader.uint32()
        var remaining = count
        while runs > 0, remaining > 0 {
            let length = min(try reader.uint32(), remaining)
            let value = try reader.uint32()
            for _ in 0..<length { body(value) }
            remaining -= length
            runs -= 1
        }
    }

    /// `stss` lists the sync samples, from 1; without it all are.
    private mutating func markSync(_ box: MediaBox) throws(ImageError) {
        guard let box = try box.first("stss") else { return }
        for index in samples.indices { samples[index].isSync = false }
        var reader = box.reader
        _ = try reader.fullBox()
        for _ in 0..<(try reader.uint32()) {
            let number = try reader.uint32()
            if number >= 1, number <= count { samples[number - 1].isSync = true }
        }
    }
}
#endif
