/// The memory of one load's decode, however many coders try it.
///
/// Holds what has been reserved until the decode ends. Where there is no room it remembers how much was asked for, gives up what
/// it has, and the decode ends with ``ImageError/Code/overBudget``, to be begun again with a ticket that has that much: nobody ever
/// waits while holding.
final class DecodeTicket: Sendable {
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

    /// What was asked for in vain.
    var wanted: Int? { state.withLock { $0.wanted } }

    /// Makes sure that the ticket has so many bytes.
    func claim(_ bytes: Int, from budget: DecodeBudget) -> Bool {
        let old: DecodeReservation? = state.withLock { state in
            if let held = state.held, held.bytes >= bytes { return nil }
            defer { state.held = nil }
            state.wanted = bytes
            return state.held
        }
        guard wanted != nil else { return true }
        // Given back first: with it, the image that runs alone would stand in its own way.
        old?.release()
        guard let held = budget.tryReserve(bytes, priority: priority) else { return false }
        state.withLock { state in
            state.held = held
            state.wanted = nil
        }
        return true
    }

    /// Says that the decode has ended.
    func release() { state.withLock { $0.held.take() }?.release() }
}
