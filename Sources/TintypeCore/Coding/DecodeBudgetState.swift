/// Who may decode now and who waits for memory: the decisions of a ``DecodeBudget``, without its lock and its waiting.
///
/// The most urgent goes first, and of those the one that came first. Nobody is passed by one that is no more urgent, even if that
/// one would fit: else a large image would never find room beside a stream of small ones.
struct DecodeBudgetState {
    enum Answer: Equatable {
        case granted
        case wait(Int)
    }

    private struct Waiter {
        var bytes: Int
        var priority: ImagePriority
    }

    /// What all who decode may take together.
    private(set) var limit: Int
    /// What those who decode have.
    private(set) var decodeBytes = 0
    private(set) var decodes = 0
    /// What decoders of images that still arrive have.
    private(set) var previewBytes = 0
    /// The most that was given away at one time.
    private(set) var peakBytes = 0
    private var waiters: [Int: Waiter] = [:]
    /// For each priority the waiters in order; those who left or moved are passed over.
    private var lines = [[Int]](repeating: [], count: ImagePriority.allCases.count)
    /// How many wait at each priority.
    private var counts = [Int](repeating: 0, count: ImagePriority.allCases.count)
    private var nextID = 0

    /// The most that a limit or a request counts as, so that sums cannot overflow.
    static let most = 1 << 60

    init(limit: Int) { self.limit = min(max(1, limit), Self.most) }

    var waiting: Int { waiters.count }
    var reservedBytes: Int { decodeBytes + previewBytes }

    /// Asks for memory to decode one image with.
    /// - Parameter bytes: from 0 to ``most``.
    mutating func request(_ bytes: Int, priority: ImagePriority) -> Answer {
        if reserve(bytes, priority: priority) { return .granted }
        nextID += 1
        waiters[nextID] = Waiter(bytes: bytes, priority: priority)
        counts[priority.rawValue] += 1
        lines[priority.rawValue].append(nextID)
        return .wait(nextID)
    }

    /// Takes memory if there is some, and nobody waits for it who is as urgent.
    mutating func reserve(_ bytes: Int, priority: ImagePriority) -> Bool {
        guard fits(bytes), counts[priority.rawValue...].allSatisfy({ $0 == 0 }) else { return false }
        take(bytes)
        return true
    }

    /// Takes memory for an image that still arrives. It may be held as long as a slow server likes, so all of them together
    /// get no more than a quarter, and nothing that decodes ever waits for them.
    mutating func reservePreview(_ bytes: Int) -> Bool {
        guard waiters.isEmpty, previewBytes + bytes <= limit / 4,
            reservedBytes + bytes <= limit
        else { return false }
        previewBytes += bytes
        peakBytes = max(peakBytes, reservedBytes)
        return true
    }

    /// - Returns: those who need not wait any longer.
    mutating func release(_ bytes: Int, isPreview: Bool) -> [Int] {
        if isPreview {
            previewBytes -= bytes
        } else {
            decodeBytes -= bytes
            decodes -= 1
        }
        return admit()
    }

    /// - Returns: false if the waiter has been let in already.
    mutating func leave(_ id: Int) -> (wasWaiting: Bool, admitted: [Int]) {
        guard let waiter = waiters.removeValue(forKey: id) else { return (false, []) }
        counts[waiter.priority.rawValue] -= 1
        // Those behind it may fit.
        return (true, admit())
    }

    mutating func move(_ id: Int, to priority: ImagePriority) -> [Int] {
        guard let waiter = waiters[id], waiter.priority != priority else { return [] }
        waiters[id]?.priority = priority
        counts[waiter.priority.rawValue] -= 1
        counts[priority.rawValue] += 1
        lines[priority.rawValue].append(id)
        return admit()
    }

    mutating func setLimit(_ limit: Int) -> [Int] {
        self.limit = min(max(1, limit), Self.most)
        return admit()
    }

    /// An image that takes more than all there is decodes when nothing else does.
    private func fits(_ bytes: Int) -> Bool { decodes == 0 || reservedBytes + bytes <= limit }

    private mutating func take(_ bytes: Int) {
        decodeBytes += bytes
        decodes += 1
        peakBytes = max(peakBytes, reservedBytes)
    }

    /// Lets in who has room now, in order, until one has not.
    private mutating func admit() -> [Int] {
        var admitted: [Int] = []
        for priority in ImagePriority.allCases.reversed() {
            var passed = 0
            defer { lines[priority.rawValue].removeFirst(passed) }
            for id in lines[priority.rawValue] {
                if let waiter = waiters[id], waiter.priority == priority {
                    guard fits(waiter.bytes) else { return admitted }
                    take(waiter.bytes)
                    waiters[id] = nil
                    counts[priority.rawValue] -= 1
                    admitted.append(id)
                }
                passed += 1
            }
        }
        return admitted
    }
}
