/// The reads of images that are being decoded, so that whatever is removed or replaced meanwhile stays so.
///
/// A read that was overtaken still answers those who wait for it, but its image doesn't go into memory, and later callers don't
/// share it.
struct ReadsUnderWay {
    private var reads: [Int: ImageRead] = [:]
    private var lastID = 0
    /// Rises with each change that overtook a read: equal reads of different epochs are different work.
    private(set) var epoch = 0

    /// Begins a read.
    /// - Returns: the number to end it with.
    mutating func begin(_ read: ImageRead) -> Int {
        lastID += 1
        reads[lastID] = read
        return lastID
    }

    /// Whether nothing has overtaken the read yet.
    func isCurrent(_ id: Int) -> Bool { reads[id] != nil }

    /// Ends a read.
    /// - Returns: false if something overtook it.
    @discardableResult mutating func end(_ id: Int) -> Bool { reads.removeValue(forKey: id) != nil }

    /// Overtakes the reads for which `isConcerned` is true.
    mutating func overtake(_ isConcerned: (ImageRead) -> Bool) {
        guard !reads.isEmpty else { return }
        let count = reads.count
        reads = reads.filter { !isConcerned($0.value) }
        if reads.count < count { epoch += 1 }
    }
}
