internal import TintypeCore

/// The order in which downloads of the same priority begin.
public enum DownloadOrder: Sendable, Hashable, CaseIterable {
    /// The download that has waited longest begins first.
    case firstInFirstOut
    /// The newest download begins first. While a user scrolls, it is the one on the screen.
    case lastInFirstOut
}

/// A state machine that decides which downloads run and which wait.
///
/// At most ``limit`` run at once. The highest priority begins first, and ``order`` decides between equal priorities. The owner
/// starts the downloads that a method returns.
///
/// - Complexity: O(n) in the waiting downloads of one priority, to move that many integers in memory (2 µs for 10,000).
struct DownloadQueue: Sendable {
    /// A number for one download. Later downloads have larger tickets.
    typealias Ticket = Int

    /// The number of downloads that may run at once, at least 1.
    private(set) var limit: Int
    let order: DownloadOrder
    /// A Boolean value that is true while no download may begin. Downloads that run continue.
    private(set) var isSuspended = false
    private(set) var running: Set<Ticket> = []

    /// The waiting tickets of each priority, ascending.
    private var waiting: [[Ticket]] = Array(repeating: [], count: ImagePriority.allCases.count)
    private var priorities: [Ticket: ImagePriority] = [:]
    private var lastTicket: Ticket = 0

    init(limit: Int, order: DownloadOrder) {
        self.limit = max(1, limit)
        self.order = order
    }

    var waitingCount: Int { priorities.count }

    /// Returns a ticket for a new download.
    mutating func makeTicket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    /// Adds a download.
    /// - Returns: the downloads to start now: this one, or none.
    mutating func add(_ ticket: Ticket, priority: ImagePriority) -> [Ticket] {
        place(ticket, priority)
        return startable()
    }

    /// Changes the priority of a waiting download. Its ticket decides its new place.
    mutating func move(_ ticket: Ticket, to priority: ImagePriority) {
        guard let old = priorities[ticket], old != priority else { return }
        remove(ticket, from: old)
        place(ticket, priority)
    }

    /// Removes a waiting download.
    /// - Returns: false if it does not wait, because it runs or has ended.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        guard let priority = priorities.removeValue(forKey: ticket) else { return false }
        remove(ticket, from: priority)
        return true
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
        var started: [Ticket] = []
        while !isSuspended, running.count < limit, let ticket = popNext() {
            running.insert(ticket)
            started.append(ticket)
        }
        return started
    }

    private mutating func popNext() -> Ticket? {
        guard let level = waiting.indices.last(where: { !waiting[$0].isEmpty }) else { return nil }
        let ticket = order == .firstInFirstOut ? waiting[level].removeFirst() : waiting[level].removeLast()
        priorities[ticket] = nil
        return ticket
    }

    private mutating func place(_ ticket: Ticket, _ priority: ImagePriority) {
        priorities[ticket] = priority
        waiting[priority.rawValue].insert(ticket, at: position(of: ticket, in: waiting[priority.rawValue]))
    }

    private mutating func remove(_ ticket: Ticket, from priority: ImagePriority) {
        waiting[priority.rawValue].remove(at: position(of: ticket, in: waiting[priority.rawValue]))
    }

    /// The index of the first ticket that is not smaller.
    private func position(of ticket: Ticket, in tickets: [Ticket]) -> Int {
        var low = 0
        var high = tickets.count
        while low < high {
            let middle = (low + high) / 2
            if tickets[middle] < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
