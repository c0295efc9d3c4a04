internal import TintypeCore

/// A value that a test can wait for, instead of sleeping until it is probably there.
///
/// ```swift
/// let received = Watched(0)
/// request.receive = { progress in received.update { $0 = progress.receivedBytes } }
/// try await received.wait { $0 >= 100 }
/// ```
public final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        /// Whether the wait is over; may take something from the value, and then must say yes.
        let isOver: @Sendable (inout Value) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state: Lock<State>

    public init(_ value: Value) { state = Lock(State(value: value)) }

    public var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes those who waited for what it is now.
    @discardableResult
    public func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, over) = state.withLock { state in
            let result = change(&state.value)
            var over: [CheckedContinuation<Void, any Error>] = []
            state.waiters.removeAll { waiter in
                guard waiter.isOver(&state.value) else { return false }
                over.append(waiter.continuation)
                return true
            }
            return (result, over)
        }
        for continuation in over { continuation.resume() }
        return result
    }

    /// Returns as soon as the condition holds.
    /// - Throws: `CancellationError`.
    public func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws {
        try await take { condition($0) }
    }

    /// Returns as soon as the closure says that it took what it wanted from the value.
    ///
    /// Those who wait are asked in the order in which they came.
    /// - Throws: `CancellationError`.
    public func take(_ isOver: @escaping @Sendable (inout Value) -> Bool) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if isOver(&state.value) { return .success(()) }
                    state.waiters.append(Waiter(id: id, isOver: isOver, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.waiters.remove(at: index).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }
}
