internal import TintypeLoading

/// The error of a wait that exceeds its time limit.
public struct WaitTimeout: Error, Sendable, Hashable, CustomStringConvertible {
    /// The time limit.
    public let limit: Duration

    /// Creates the error.
    /// - Parameter limit: the time limit.
    public init(limit: Duration) { self.limit = limit }

    /// The time limit that passed.
    public var description: String { "the condition did not become true within \(limit)" }
}

/// A value that a test can wait for, instead of sleeping until it has probably changed.
///
/// ```swift
/// let received = Watched(0)
/// request.receive = { progress in received.update { $0 = progress.receivedBytes } }
/// try await received.wait { $0 >= 100 }
/// ```
public final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        /// Returns true if the wait is over. It may change the value, but only if it then returns true.
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

    /// Creates a watched value.
    /// - Parameter value: the initial value.
    public init(_ value: Value) { state = Lock(State(value: value)) }

    /// The current value.
    public var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes the waits whose condition now holds.
    /// - Parameter change: a closure that changes the value. It runs under a lock and must not use this object.
    /// - Returns: the result of the closure.
    @discardableResult
    public func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, over) = state.withLock { state in
            let result = change(&state.value)
            return (result, Self.endWaits(&state))
        }
        for continuation in over { continuation.resume() }
        return result
    }

    /// Removes the waits that are over, oldest first. What one takes may end another.
    private static func endWaits(_ state: inout State) -> [CheckedContinuation<Void, any Error>] {
        var value = state.value
        var over: [CheckedContinuation<Void, any Error>] = []
        while let index = state.waiters.firstIndex(where: { $0.isOver(&value) }) {
            over.append(state.waiters.remove(at: index).continuation)
        }
        state.value = value
        return over
    }

    /// Waits until a condition holds.
    /// - Parameters:
    ///   - timeLimit: the longest wait; `nil` for no limit. The default is ten minutes.
    ///   - condition: the condition. It runs under a lock, after each change, and must not use this object.
    /// - Throws: `CancellationError` if the task is canceled, and ``WaitTimeout`` after the time limit.
    public func wait(
        timeLimit: Duration? = .seconds(600), until condition: @escaping @Sendable (Value) -> Bool
    ) async throws {
        try await take(timeLimit: timeLimit) { condition($0) }
    }

    /// Waits until a closure has taken what it needs from the value.
    ///
    /// Concurrent waits are served oldest first.
    /// - Parameters:
    ///   - timeLimit: the longest wait; `nil` for no limit. The default is ten minutes.
    ///   - isOver: a closure that may change the value, and must return true if it did, which ends the wait. It runs under a lock, after
    ///     each change.
    /// - Throws: `CancellationError` if the task is canceled, and ``WaitTimeout`` after the time limit.
    public func take(
        timeLimit: Duration? = .seconds(600), _ isOver: @escaping @Sendable (inout Value) -> Bool
    ) async throws {
        guard let timeLimit else { return try await takeWithoutLimit(isOver) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.takeWithoutLimit(isOver)
                return true
            }
            group.addTask {
                try await Task.sleep(for: timeLimit.boundedLimit)
                return false
            }
            defer { group.cancelAll() }
            if try await group.next() == false { throw WaitTimeout(limit: timeLimit) }
        }
    }

    private func takeWithoutLimit(_ isOver: @escaping @Sendable (inout Value) -> Bool) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, over) = state.withLock { state -> (Bool, [CheckedContinuation<Void, any Error>]) in
                    guard state.cancelled.remove(id) == nil else { return (true, []) }
                    state.waiters.append(Waiter(id: id, isOver: isOver, continuation: continuation))
                    return (false, Self.endWaits(&state))
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for continuation in over { continuation.resume() }
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
