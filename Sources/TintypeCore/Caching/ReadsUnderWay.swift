/// The reads of images that are being decoded. They ensure that an image that is removed or replaced meanwhile doesn't come
/// back.
///
/// An overtaken read still delivers its image to the callers that wait for it. The image isn't stored in memory, and later
/// callers don't share it.
struct ReadsUnderWay {
    private var reads: [Int: ImageRead] = [:]
    private var lastID = 0
    /// The number of changes that overtook a read. Equal reads of different epochs are different work.
    private(set) var epoch = 0

    /// Begins a read.
    /// - Returns: the number to end it with.
    mutating func begin(_ read: ImageRead) -> Int {
        lastID += 1
        reads[lastID] = read
        return lastID
    }

    /// Returns true if no change has overtaken the read.
    func isCurrent(_ id: Int) -> Bool { reads[id] != nil }

    /// Ends a read.
    /// - Returns: false if something overtook it.
    @discardableResult mutating func end(_ id: Int) -> Bool { reads.removeValue(forKey: id) != nil }

    /// Marks the reads for which `isConcerned` is true as overtaken.
    mutating func overtake(_ isConcerned: (ImageRead) -> Bool) {
        guard !reads.isEmpty else { return }
        let count = reads.count
        reads = reads.filter { !isConcerned($0.value) }
        if reads.count < count { epoch += 1 }
    }
}
