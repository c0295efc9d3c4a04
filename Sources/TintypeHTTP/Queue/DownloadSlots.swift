internal import TintypeLoading

/// The slots of a downloader; downloads wait for the turn that a ``DownloadQueue`` gives them.
final class DownloadSlots: Sendable {
    typealias Ticket = DownloadQueue.Ticket
    /// A wait for a slot, which ends with true if the download has a slot.
    private typealias Turn = QueuedWait<Bool>

    private struct State {
        var queue: DownloadQueue
        var turns: [Ticket: Turn] = [:]
    }

    private let state: Lock<State>

    /// - Parameter hostLimit: the number of slots of one host; `nil` for no limit of its own.
    init(limit: Int, hostLimit: Int?, newestFirst: Bool) {
        state = Lock(State(queue: DownloadQueue(limit: limit, hostLimit: hostLimit, newestFirst: newestFirst)))
    }

    /// Takes a slot.
    /// - Returns: a ticket to pass to ``release(_:)``; `nil` if no slot is free, or others wait for one.
    func acquireFree(_ host: String) -> Ticket? { state.withLock { $0.queue.start(host: host) } }

    /// Waits for a slot.
    /// - Returns: a ticket to pass to ``release(_:)``.
    /// - Throws: ``ImageError/Code/cancelled``.
    func acquire(_ host: String, _ priority: WorkPriority) async throws(ImageError) -> Ticket {
        guard !Task.isCancelled else { throw Self.cancellation }
        let turn = Turn()
        let ticket = start { state in
            let (ticket, started) = state.queue.add(host: host, priority: priority.value)
            state.turns[ticket] = turn
            return (started, ticket)
        }
        let hasTurn = await turn.value(following: priority) {
            ticket
        } move: { [state] ticket in
            state.withLock { $0.queue.move(ticket, to: priority.value) }
        } leave: { [state] ticket in
            let turn = state.withLock { $0.queue.cancel(ticket) ? $0.turns.removeValue(forKey: ticket) : nil }
            turn?.end(false)
        }
        guard hasTurn else { throw Self.cancellation }
        return ticket
    }

    private static let cancellation = ImageError(
        .cancelled, stage: .load, reason: "the load was canceled before its request was sent")

    /// Lets a slot count for another host, even beyond its limit.
    func move(_ ticket: Ticket, to host: String) { start { ($0.queue.move(ticket, toHost: host), ()) } }

    func release(_ ticket: Ticket) { start { ($0.queue.finish(ticket), ()) } }

    var limit: Int {
        get { state.withLock { $0.queue.limit } }
        set { start { ($0.queue.setLimit(newValue), ()) } }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.queue.isSuspended } }
        set { start { ($0.queue.setSuspended(newValue), ()) } }
    }

    var counts: (active: Int, waiting: Int) {
        state.withLock { ($0.queue.runningCount, $0.queue.waitingCount) }
    }

    /// Changes the state, and ends the waits of the downloads that the change starts, after the lock is free.
    private func start<Result: Sendable>(_ change: (inout State) -> (started: [Ticket], result: Result)) -> Result {
        let (turns, result) = state.withLock { state -> ([Turn], Result) in
            let (started, result) = change(&state)
            guard !started.isEmpty else { return ([], result) }
            return (started.compactMap { state.turns.removeValue(forKey: $0) }, result)
        }
        for turn in turns { turn.end(true) }
        return result
    }
}
