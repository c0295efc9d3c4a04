internal import TintypeLoading

/// The starting order of downloads of the same priority.
public enum DownloadOrder: Sendable, Hashable, CaseIterable {
    /// The download that has waited longest starts first.
    case firstInFirstOut
    /// The newest download starts first. While a user scrolls, that is the image on the screen.
    case lastInFirstOut
}

/// A state machine that decides which downloads run and which wait.
///
/// At most ``limit`` run at once. The highest priority starts first, and ``order`` decides between equal priorities. The owner
/// starts the downloads that a method returns.
///
/// - Complexity: O(log *n*) in the waiting downloads.
struct DownloadQueue: Sendable {
    /// A number for a download. Later downloads have larger tickets.
    typealias Ticket = PriorityQueue<Void>.Ticket

    /// The number of downloads that may run at once, at least 1.
    private(set) var limit: Int
    /// A Boolean value that is true while no download may start. Downloads that run continue.
    private(set) var isSuspended = false
    private(set) var running: Set<Ticket> = []

    private var waiting: PriorityQueue<Void>

    init(limit: Int, order: DownloadOrder) {
        self.limit = max(1, limit)
        waiting = PriorityQueue(newestFirst: order == .lastInFirstOut)
    }

    var waitingCount: Int { waiting.count }

    /// Starts a download that has no need to wait.
    /// - Returns: its ticket; `nil` if no slot is free, or others wait.
    mutating func start() -> Ticket? {
        guard !isSuspended, running.count < limit, waiting.isEmpty else { return nil }
        let ticket = waiting.skippedTicket()
        running.insert(ticket)
        return ticket
    }

    /// Adds a download.
    /// - Returns: its ticket, and the downloads to start now: this download, or none.
    mutating func add(priority: ImagePriority) -> (ticket: Ticket, started: [Ticket]) {
        let ticket = waiting.add((), priority: priority)
        return (ticket, startable())
    }

    /// Adds a download that runs already, perhaps beyond the limit. Others wait until enough have ended.
    mutating func occupy() -> Ticket {
        let ticket = waiting.skippedTicket()
        running.insert(ticket)
        return ticket
    }

    /// Changes the priority of a waiting download. Its ticket decides its new place.
    mutating func move(_ ticket: Ticket, to priority: ImagePriority) {
        waiting.move(ticket, to: priority)
    }

    /// Removes a waiting download.
    /// - Returns: false if it does not wait, because it runs or has ended.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        waiting.remove(ticket) != nil
    }

    /// Ends a running download.
    /// - Returns: the downloads to start now.
    mutating func finish(_ ticket: Ticket) -> [Ticket] {
        running.remove(ticket)
        return startable()
    }

    /// - Returns: the downloads to start now.
    mutating func setLimit(_ limit: Int) -> [Ticket] {
        self.limit = max(1, limit)
        return startable()
    }

    /// - Returns: the downloads to start now.
    mutating func setSuspended(_ isSuspended: Bool) -> [Ticket] {
        self.isSuspended = isSuspended
        return startable()
    }

    private mutating func startable() -> [Ticket] {
        guard !waiting.isEmpty else { return [] }
        var started: [Ticket] = []
        while !isSuspended, running.count < limit, let (ticket, _) = waiting.popFirst() {
            running.insert(ticket)
            started.append(ticket)
        }
        return started
    }
}
