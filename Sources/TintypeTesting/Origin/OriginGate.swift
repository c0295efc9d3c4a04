#if HTTP
/// A gate in an answer: the server stops there until the test lets it go on.
///
/// It makes a test of what happens in the middle of a transfer exact: the test waits until so much has come, does what is to be
/// tested, and opens the gate.
public final class OriginGate: Sendable {
    private struct State {
        var permits = 0
        var arrivals = 0
    }

    private let state = Watched(State())

    public init() {}

    /// Lets so many waiting answers pass, or as many that come later.
    public func open(_ count: Int = 1) {
        state.update { $0.permits += count }
    }

    /// Lets everything pass from now on.
    public func openForGood() {
        state.update { $0.permits = .max / 2 }
    }

    /// Returns when so many answers, counted from the beginning, have come to the gate.
    public func waitForArrivals(_ count: Int) async throws {
        try await state.wait { $0.arrivals >= count }
    }

    func pass() async throws {
        state.update { $0.arrivals += 1 }
        try await state.take { state in
            guard state.permits > 0 else { return false }
            state.permits -= 1
            return true
        }
    }
}
#endif
