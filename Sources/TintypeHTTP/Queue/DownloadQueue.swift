internal import TintypeCore

/// In which order the downloads of one priority begin.
public enum DownloadOrder: Sendable, Hashable, CaseIterable {
    /// The one that has waited longest first.
    case firstInFirstOut
    /// The newest first: when somebody scrolls, that is what is on the screen.
    case lastInFirstOut
}

/// Which downloads may run and which wait: at most ``limit`` at once, the most urgent first, and those that are equally urgent
/// by ``order`` of arrival.
///
/// It only decides; whoever holds it starts what a method returns.
///
/// - Complexity: O(n) in the waiting downloads of one priority, for moving that many integers in memory (2 µs for 10,000).
struct DownloadQueue: Sendable {
    /// Stands for one download; later arrivals have larger tickets.
    typealias Ticket = Int

    /// How many may run at once; at least 1.
    private(set) var limit: Int
    let order: DownloadOrder
    /// While true nothing is started; what runs goes on.
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

    /// A ticket for a download that is to be added.
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

    /// Gives a waiting download another priority; its place there is as if it had always been there.
    mutating func move(_ ticket: Ticket, to priority: ImagePriority) {
        guard let old = priorities[ticket], old != priority else { return }
        remove(ticket, from: old)
        place(ticket, priority)
    }

    /// Removes a download that waits.
    /// - Returns: false if it does not wait, because it runs or is over.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        guard let priority = priorities.removeValue(forKey: ticket) else { return false }
        remove(ticket, from: priority)
        return true
    }

    /// Ends a download that runs.
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
