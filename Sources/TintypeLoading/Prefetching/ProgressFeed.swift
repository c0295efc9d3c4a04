/// A value for any number of observers, who each receive the latest value that they haven't seen.
final class ProgressFeed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var version = 0
        var isFinished = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var closed: Set<Int> = []
        var observers = 0
    }

    private let state: Lock<State>

    init(_ value: Value) { state = Lock(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    /// Replaces the value, unless a later value came first.
    /// - Parameters:
    ///   - version: the number of the change. Threads may publish changes in another order than they made them.
    ///   - isLast: true if none follows.
    func publish(_ value: Value, version: Int, isLast: Bool = false) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard version > state.version else { return [] }
            state.value = value
            state.version = version
            state.isFinished = isLast
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The present value and later ones, for a single observer.
    var values: AsyncStream<Value> {
        let id = state.withLock { state in
            state.observers += 1
            return state.observers
        }
        let seen = Lock(-1)
        return AsyncStream { [self] in
            await next(for: id, after: seen)
        } onCancel: { [self] in
            let waiting = state.withLock { state in
                state.closed.insert(id)
                return state.waiting.removeValue(forKey: id)
            }
            waiting?.resume()
        }
    }

    private func next(for id: Int, after seen: Lock<Int>) async -> Value? {
        let last = seen.withLock { $0 }
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = state.version > last || state.isFinished || state.closed.contains(id)
                if !isReady { state.waiting[id] = continuation }
                return isReady
            }
            if isReady { continuation.resume() }
        }
        let (value, version) = state.withLock { state -> (Value?, Int) in
            guard state.closed.remove(id) == nil, state.version > last else { return (nil, last) }
            return (state.value, state.version)
        }
        seen.withLock { $0 = version }
        return value
    }
}
