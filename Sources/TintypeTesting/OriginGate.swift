/// A gate in a response: an ``OriginServer`` or a ``TestLoader`` stops there until the test opens it.
///
/// With a gate, a test can act at an exact point of a load: it waits until the response has arrived at the gate, performs the tested
/// action, and opens the gate.
///
/// ```swift
/// let gate = OriginGate()
/// loader.answer(url, with: .data(png).waiting(at: gate))
/// let task = manager.task(for: url)
/// try await gate.waitForArrivals(1)
/// task.cancel()
/// gate.open()
/// ```
public final class OriginGate: Sendable {
    private struct State {
        var permits = 0
        var arrivals = 0
    }

    private let state = Watched(State())

    /// Creates a closed gate.
    public init() {}

    /// The number of responses that have arrived at the gate since it was created.
    public var arrivals: Int { state.value.arrivals }

    /// Lets a number of responses pass: first those that are waiting, then those that arrive next.
    /// - Parameter count: the number of responses.
    public func open(_ count: Int = 1) {
        state.update { $0.permits += count }
    }

    /// Lets all responses pass from now on.
    public func openForGood() {
        state.update { $0.permits = .max / 2 }
    }

    /// Waits until a number of responses have arrived at the gate.
    /// - Parameters:
    ///   - count: the number of responses since the gate was created.
    ///   - timeLimit: the longest wait; `nil` for no limit. The default is ten minutes.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the time limit.
    public func waitForArrivals(_ count: Int, timeLimit: Duration? = .seconds(600)) async throws {
        try await state.wait(timeLimit: timeLimit) { $0.arrivals >= count }
    }

    /// Arrives at the gate and waits until it lets the caller pass.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after ten minutes.
    public func pass() async throws {
        state.update { $0.arrivals += 1 }
        try await state.take { state in
            guard state.permits > 0 else { return false }
            state.permits -= 1
            return true
        }
    }
}
