/// The memory of a load's decode, shared by all coders that try it.
///
/// It holds the reserved memory until the decode ends. Without room, it stores the requested size and releases its
/// memory, and the decode ends with `overBudget`. The decode then starts again with a ticket for the
/// requested size. So no decode waits while it holds memory.
package final class DecodeTicket: Sendable {
    private struct State {
        var held: DecodeReservation?
        var wanted: Int?
    }

    private let priority: ImagePriority
    private let state: Lock<State>

    init(_ held: DecodeReservation? = nil, priority: ImagePriority) {
        state = Lock(State(held: held))
        self.priority = priority
    }

    /// The requested size that was not available.
    var wanted: Int? { state.withLock { $0.wanted } }

    /// Ensures that the ticket has reserved a number of bytes.
    func claim(_ bytes: Int, from budget: DecodeBudget) -> Bool {
        let old: DecodeReservation? = state.withLock { state in
            if let held = state.held, held.bytes >= bytes { return nil }
            defer { state.held = nil }
            state.wanted = bytes
            return state.held
        }
        guard wanted != nil else { return true }
        // Released first. Otherwise an image that must run alone would block itself.
        old?.release()
        guard let held = budget.tryReserve(bytes, priority: priority) else { return false }
        state.withLock { state in
            state.held = held
            state.wanted = nil
        }
        return true
    }

    /// Ends the reservation.
    func release() { state.withLock { $0.held.take() }?.release() }
}
