internal import TintypeLoading

/// A state machine that decides which downloads run and which wait.
///
/// At most ``limit`` run at once. The highest priority starts first, and of equal priorities the oldest or the newest. The owner
/// starts the downloads that a method returns.
///
/// No host holds up the others: of equal priorities, downloads from hosts with less than half of the slots start first. What a host has
/// beyond half of the slots doesn't count while others wait, so that they start at once: up to half as many as the limit in addition.
///
/// - Complexity: O(log *n*) in the waiting downloads, and O(*n*) in the hosts that they belong to.
struct DownloadQueue: Sendable {
    /// A number for a download. Later downloads have larger tickets.
    typealias Ticket = PriorityQueue<Void>.Ticket

    /// The number of downloads that may run at once, at least 1.
    private(set) var limit: Int
    /// The number of downloads of one host that may run at once.
    private let hostLimit: Int
    /// A Boolean value that is true while no download may start. Downloads that run continue.
    private(set) var isSuspended = false

    private let newestFirst: Bool
    private var lastTicket = 0
    /// The hosts of the downloads that run.
    private var active: [Ticket: String] = [:]
    /// The number of downloads that run, of each host.
    private var counts: [String: Int] = [:]
    /// The hosts of the downloads that wait.
    private var hosts: [Ticket: String] = [:]
    /// The downloads that wait, of each host that has some.
    private var waiting: [String: PriorityQueue<Void>] = [:]

    /// - Parameter hostLimit: the number of downloads of one host that may run at once, at least 1; `nil` for no limit of its own.
    init(limit: Int, hostLimit: Int? = nil, newestFirst: Bool) {
        self.limit = max(1, limit)
        self.hostLimit = max(1, hostLimit ?? .max)
        self.newestFirst = newestFirst
    }

    var running: Set<Ticket> { Set(active.keys) }
    var runningCount: Int { active.count }
    var waitingCount: Int { hosts.count }

    /// The slots that one host may hold while others wait: half of them, rounded up.
    private var share: Int { limit - limit / 2 }

    /// Starts a download that has no need to wait.
    /// - Returns: its ticket; `nil` if no slot is free, or others wait.
    mutating func start(host: String) -> Ticket? {
        guard !isSuspended, active.count < limit, hosts.isEmpty, counts[host] ?? 0 < hostLimit else { return nil }
        lastTicket += 1
        run(lastTicket, host)
        return lastTicket
    }

    /// Adds a download.
    /// - Returns: its ticket, and the downloads to start now: this one, or none.
    mutating func add(host: String, priority: ImagePriority) -> (ticket: Ticket, started: [Ticket]) {
        lastTicket += 1
        hosts[lastTicket] = host
        waiting[host, default: PriorityQueue(newestFirst: newestFirst)]
            .add((), priority: priority, as: lastTicket)
        return (lastTicket, startable())
    }

    /// Changes the priority of a waiting download. Its ticket decides its new place.
    mutating func move(_ ticket: Ticket, to priority: ImagePriority) {
        guard let host = hosts[ticket] else { return }
        waiting[host]?.move(ticket, to: priority)
    }

    /// Changes the host of a running download, even if the new one has its limit already.
    /// - Returns: the downloads to start now.
    mutating func move(_ ticket: Ticket, toHost host: String) -> [Ticket] {
        guard let old = active.updateValue(host, forKey: ticket) else {
            active[ticket] = nil
            return []
        }
        leave(old)
        counts[host, default: 0] += 1
        return startable()
    }

    /// Removes a waiting download.
    /// - Returns: false if it does not wait, because it runs or has ended.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        guard let host = hosts.removeValue(forKey: ticket) else { return false }
        _ = waiting[host]?.remove(ticket)
        if waiting[host]?.isEmpty == true { waiting[host] = nil }
        return true
    }

    /// Ends a running download.
    /// - Returns: the downloads to start now.
    mutating func finish(_ ticket: Ticket) -> [Ticket] {
        if let host = active.removeValue(forKey: ticket) { leave(host) }
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

    private mutating func run(_ ticket: Ticket, _ host: String) {
        active[ticket] = host
        counts[host, default: 0] += 1
    }

    private mutating func leave(_ host: String) {
        guard let count = counts[host] else { return }
        counts[host] = count > 1 ? count - 1 : nil
    }

    private mutating func startable() -> [Ticket] {
        var started: [Ticket] = []
        while !isSuspended, let host = nextHost(), let (ticket, _) = waiting[host]?.popFirst() {
            if waiting[host]?.isEmpty == true { waiting[host] = nil }
            hosts[ticket] = nil
            run(ticket, host)
            started.append(ticket)
        }
        return started
    }

    /// The host whose first download is next; `nil` if none may start.
    private mutating func nextHost() -> String? {
        let isFull = active.count >= limit
        // Downloads that move to another host could let any number start.
        guard !waiting.isEmpty, active.count - limit < limit / 2,
            !isFull || counts.values.reduce(0, { $0 + min($1, share) }) < limit
        else { return nil }
        var best: (host: String, place: Place)?
        var next = waiting.startIndex
        while next < waiting.endIndex {
            let index = next
            waiting.formIndex(after: &next)
            guard let first = waiting.values[index].first() else { continue }
            let host = waiting.keys[index]
            let count = counts[host] ?? 0
            let place = Place(priority: first.priority, hasShare: count >= share, ticket: first.ticket)
            guard count < hostLimit, !(isFull && place.hasShare),
                best.map({ place.isBefore($0.place, newestFirst: newestFirst) }) ?? true
            else { continue }
            best = (host, place)
        }
        return best?.host
    }

    /// The place of the first download of a host among those of other hosts.
    private struct Place {
        var priority: ImagePriority
        /// True if its host has half of the slots.
        var hasShare: Bool
        var ticket: Ticket

        func isBefore(_ other: Place, newestFirst: Bool) -> Bool {
            if priority != other.priority { return priority > other.priority }
            if hasShare != other.hasShare { return other.hasShare }
            return newestFirst ? ticket > other.ticket : ticket < other.ticket
        }
    }
}
