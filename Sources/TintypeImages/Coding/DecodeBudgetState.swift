/// The decisions of a ``DecodeBudget``: which decodes may run and which wait for memory. It has no lock and does not wait
/// itself.
///
/// The decode with the highest priority is next, and among equals the earliest, or the newest on request. Decodes that come after it in
/// this order never overtake it, even if they would fit. Otherwise a large image would never find room beside a stream of small images.
struct DecodeBudgetState {
    enum Answer: Equatable {
        case granted
        case wait(Int)
    }

    /// The size of the budget.
    private(set) var limit: Int
    /// The bytes that running decodes have reserved.
    private(set) var decodeBytes = 0
    private(set) var decodes = 0
    /// The bytes that decoders of arriving images have reserved.
    private(set) var previewBytes = 0
    /// The bytes of encoded images that loads hold.
    private(set) var bodyBytes = 0
    /// The bytes of those that have arrived, and wait for their decode or are in it.
    private(set) var undecodedBytes = 0
    /// The largest number of bytes that were reserved at the same time.
    private(set) var peakBytes = 0
    /// The bytes of the waiting decodes.
    private var waiters: PriorityQueue<Int>
    /// The downloads that have a slot, and wait for room before they start.
    private var downloads: PriorityQueue<Void>
    /// The reads of each queue: none waits for the reads of another, which may be of a disk that hangs.
    private var reads: [ObjectIdentifier: Reads] = [:]
    /// The tickets of downloads and reads are different.
    private var lastTransfer = 0
    private let newestFirst: Bool

    private struct Reads {
        /// Those that wait for room.
        var waiting: PriorityQueue<Void>
        var running = 0
        /// The number of those that may run at once.
        var most = 1
    }

    /// The largest value of a limit or request, so that sums cannot overflow.
    static let most = 1 << 60

    init(limit: Int, newestFirst: Bool = false) {
        self.limit = min(max(1, limit), Self.most)
        self.newestFirst = newestFirst
        waiters = PriorityQueue(newestFirst: newestFirst)
        downloads = PriorityQueue(newestFirst: newestFirst)
    }

    var waiting: Int { waiters.count }
    var reservedBytes: Int { decodeBytes + previewBytes }
    /// All bytes that count.
    private var bytes: Int { reservedBytes + bodyBytes }

    /// Requests memory to decode an image.
    /// - Parameter bytes: from 0 to ``most``.
    mutating func request(_ bytes: Int, priority: ImagePriority) -> Answer {
        if reserve(bytes, priority: priority) { return .granted }
        return .wait(waiters.add(bytes, priority: priority))
    }

    /// Reserves memory if there is room, and no decode is waiting that comes first.
    mutating func reserve(_ bytes: Int, priority: ImagePriority) -> Bool {
        if !fits(bytes) { return false }
        if let first = waiters.first(), newestFirst ? first.priority > priority : first.priority >= priority {
            return false
        }
        take(bytes)
        return true
    }

    /// Reserves memory for an image that is still arriving. A slow server can make it hold the memory for a long time. So all
    /// such images together get at most a quarter of the budget, and decodes never wait for them.
    mutating func reservePreview(_ bytes: Int) -> Bool {
        guard waiters.isEmpty, previewBytes + bytes <= limit / 4,
            self.bytes + bytes <= limit
        else { return false }
        previewBytes += bytes
        peakBytes = max(peakBytes, reservedBytes)
        return true
    }

    /// Counts bytes of an encoded image, which a loader has taken already. They are never refused, but decodes wait for them; a single
    /// decode may always run, and so the bodies are used up in the end.
    mutating func addBody(_ bytes: Int) { bodyBytes += bytes }

    /// Subtracts bytes of an encoded image.
    /// - Returns: the decodes that no longer wait.
    mutating func removeBody(_ bytes: Int) -> [Int] {
        bodyBytes -= bytes
        return admit()
    }

    // MARK: Transfers

    /// True if a download may start now.
    var hasRoom: Bool { downloads.isEmpty && undecodedBytes < bodyLimit }

    /// True if the bodies that loads hold take more than half of the budget.
    var hasManyBodies: Bool { bodyBytes > bodyLimit }

    /// The bodies that may wait for their decode: half of the budget, because otherwise a single decode would run beside them.
    private var bodyLimit: Int { limit - limit / 2 }

    var waitingTransfers: Int { reads.values.reduce(downloads.count) { $0 + $1.waiting.count } }
    var runningReads: Int { reads.values.reduce(0) { $0 + $1.running } }

    /// Lets a body take room from transfers, from its arrival to the end of its decode.
    ///
    /// Nothing that takes room may wait for a transfer before it returns the room. Then the room comes back, whatever else waits for it.
    mutating func takeRoom(_ bytes: Int) { undecodedBytes += bytes }

    mutating func returnRoom(_ bytes: Int) { undecodedBytes -= bytes }

    /// Asks for room for the body of a download that hasn't started.
    mutating func requestDownload(priority: ImagePriority) -> Answer {
        if hasRoom { return .granted }
        lastTransfer += 1
        downloads.add((), priority: priority, as: lastTransfer)
        return .wait(lastTransfer)
    }

    /// Asks for room for bytes that are about to be read.
    ///
    /// Bytes take room when their load has them. Until then, the number of reads bounds them. A read waits for no transfer, so its turn ends.
    /// - Parameters:
    ///   - queue: The queue that reads.
    ///   - most: The number of its reads that may run at once, at least 1.
    mutating func requestRead(on queue: ObjectIdentifier, most: Int, priority: ImagePriority) -> Answer {
        // In place: a copy would take as long as there are reads that wait.
        reads[queue, default: Reads(waiting: PriorityQueue(newestFirst: newestFirst))].most = most
        if reads[queue]?.waiting.isEmpty == true, mayRead(on: queue) {
            reads[queue]?.running += 1
            return .granted
        }
        lastTransfer += 1
        reads[queue]?.waiting.add((), priority: priority, as: lastTransfer)
        return .wait(lastTransfer)
    }

    mutating func endRead(on queue: ObjectIdentifier) {
        reads[queue]?.running -= 1
        // A program may make any number of queues.
        if reads.count > 8, let own = reads[queue], own.running == 0, own.waiting.isEmpty { reads[queue] = nil }
    }

    private func mayRead(on queue: ObjectIdentifier) -> Bool {
        undecodedBytes < bodyLimit && reads[queue].map { $0.running < $0.most } == true
    }

    /// Removes a waiting transfer.
    /// - Returns: false if it has already been admitted.
    mutating func leaveTransfer(_ id: Int) -> Bool {
        if downloads.remove(id) != nil { return true }
        for queue in reads.keys where reads[queue]?.waiting.remove(id) != nil { return true }
        return false
    }

    mutating func moveTransfer(_ id: Int, to priority: ImagePriority) {
        downloads.move(id, to: priority)
        for queue in reads.keys { reads[queue]?.waiting.move(id, to: priority) }
    }

    /// Returns the transfers that no longer wait, in order.
    mutating func admitTransfers() -> [Int] {
        var admitted: [Int] = []
        while undecodedBytes < bodyLimit, let (id, _) = downloads.popFirst() { admitted.append(id) }
        for queue in reads.keys {
            while mayRead(on: queue), let (id, _) = reads[queue]?.waiting.popFirst() {
                reads[queue]?.running += 1
                admitted.append(id)
            }
        }
        return admitted
    }

    /// Returns memory to the budget.
    /// - Returns: the decodes that no longer wait.
    mutating func release(_ bytes: Int, isPreview: Bool) -> [Int] {
        if isPreview {
            previewBytes -= bytes
        } else {
            decodeBytes -= bytes
            decodes -= 1
        }
        return admit()
    }

    /// Removes a waiting decode.
    /// - Returns: false for `wasWaiting` if the decode has already been admitted.
    mutating func leave(_ id: Int) -> (wasWaiting: Bool, admitted: [Int]) {
        guard waiters.remove(id) != nil else { return (false, []) }
        // Those behind it may fit now.
        return (true, admit())
    }

    mutating func move(_ id: Int, to priority: ImagePriority) -> [Int] {
        waiters.move(id, to: priority) ? admit() : []
    }

    mutating func setLimit(_ limit: Int) -> [Int] {
        self.limit = min(max(1, limit), Self.most)
        return admit()
    }

    /// Returns true if a decode may start. An image that exceeds the whole budget is decoded when nothing else is.
    private func fits(_ bytes: Int) -> Bool { decodes == 0 || self.bytes + bytes <= limit }

    /// Reserves memory, whether there is room or not.
    mutating func take(_ bytes: Int) {
        decodeBytes += bytes
        decodes += 1
        peakBytes = max(peakBytes, reservedBytes)
    }

    /// Admits waiting decodes in order, until the next decode does not fit.
    private mutating func admit() -> [Int] {
        var admitted: [Int] = []
        while let (id, bytes, _) = waiters.first(), fits(bytes) {
            _ = waiters.popFirst()
            take(bytes)
            admitted.append(id)
        }
        return admitted
    }
}
