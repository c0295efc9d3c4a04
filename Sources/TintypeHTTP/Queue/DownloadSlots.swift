internal import TintypeCore

/// The slots of a downloader, in which downloads wait for the turn that a ``DownloadQueue`` gives them.
final class DownloadSlots: Sendable {
    typealias Ticket = DownloadQueue.Ticket
    private typealias Turn = CheckedContinuation<Bool, Never>

    private struct State {
        var queue: DownloadQueue
        var turns: [Ticket: Turn] = [:]
        /// Tickets that were cancelled before their downloads began to wait.
        var cancelledEarly: Set<Ticket> = []

        mutating func take(_ tickets: [Ticket]) -> [Turn] { tickets.compactMap { turns.removeValue(forKey: $0) } }
    }

    private let state: Lock<State>

    init(limit: Int, order: DownloadOrder) {
        state = Lock(State(queue: DownloadQueue(limit: limit, order: order)))
    }

    /// Waits for a slot.
    /// - Returns: a ticket to pass to ``release(_:)``.
    /// - Throws: ``ImageError/Code/cancelled``.
    func acquire(_ priority: WorkPriority) async throws(ImageError) -> Ticket {
        let ticket = state.withLock { $0.queue.makeTicket() }
        // The value is read under the lock, so that of two changes at the same time the last one counts.
        let observer = priority.observe { [state] _ in
            state.withLock { $0.queue.move(ticket, to: priority.value) }
        }
        defer { priority.stopObserving(observer) }

        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                resume { state in
                    if state.cancelledEarly.remove(ticket) != nil { return ([], refused: turn) }
                    state.turns[ticket] = turn
                    let started = state.queue.add(ticket, priority: priority.value)
                    return (state.take(started), nil)
                }
            }
        } onCancel: {
            resume { state in
                if state.queue.cancel(ticket) { return ([], refused: state.turns.removeValue(forKey: ticket)) }
                if !state.queue.running.contains(ticket) { state.cancelledEarly.insert(ticket) }
                return ([], nil)
            }
        }
        guard hasTurn else {
            throw ImageError(.cancelled, stage: .load, reason: "the load was cancelled before its request was sent")
        }
        return ticket
    }

    func release(_ ticket: Ticket) {
        resume { state in
            let started = state.queue.finish(ticket)
            return (state.take(started), nil)
        }
    }

    var limit: Int {
        get { state.withLock { $0.queue.limit } }
        set {
            resume { state in
                let started = state.queue.setLimit(newValue)
                return (state.take(started), nil)
            }
        }
    }

    var isSuspended: Bool {
        get { state.withLock { $0.queue.isSuspended } }
        set {
            resume { state in
                let started = state.queue.setSuspended(newValue)
                return (state.take(started), nil)
            }
        }
    }

    var counts: (active: Int, waiting: Int) {
        state.withLock { ($0.queue.running.count, $0.queue.waitingCount) }
    }

    /// Changes the state, and resumes the waiting downloads that the change returns after the lock is free.
    private func resume(_ change: (inout State) -> (turns: [Turn], refused: Turn?)) {
        let (turns, refused) = state.withLock { change(&$0) }
        for turn in turns { turn.resume(returning: true) }
        refused?.resume(returning: false)
    }
}
