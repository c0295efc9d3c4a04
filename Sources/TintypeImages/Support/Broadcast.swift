/// Tells observers of events, on the thread that sends them, and not under a lock.
package final class Broadcast<Event: Sendable>: Sendable {
    private struct Observer {
        var tell: @Sendable (Event) -> Void
        var end: @Sendable () -> Void
    }

    private struct State {
        var observers: [Int: Observer] = [:]
        var last = 0
        var hasEnded = false
    }

    private let state = Lock(State())

    package init() {}

    /// Calls `tell` with each event from now on, and `end` after the last one, until the returned number is removed.
    package func add(
        _ tell: @escaping @Sendable (Event) -> Void, end: @escaping @Sendable () -> Void = {}
    ) -> Int {
        let (number, hasEnded) = state.withLock { state in
            state.last += 1
            if !state.hasEnded { state.observers[state.last] = Observer(tell: tell, end: end) }
            return (state.last, state.hasEnded)
        }
        if hasEnded { end() }
        return number
    }

    package func remove(_ number: Int) {
        let old = state.withLock { $0.observers.removeValue(forKey: number) }
        _ = old  // Released outside the lock, because it may own anything.
    }

    /// Tells all observers before it returns.
    package func send(_ event: Event) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer.tell(event) }
    }

    /// Ends all observations, those to come too.
    package func end() {
        let observers = state.withLock { state in
            state.hasEnded = true
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        for observer in observers { observer.end() }
    }

    /// Returns a stream of all events from now on. One that is read slowly misses the oldest.
    /// - Parameter backlog: the most events that it holds.
    package func stream(backlog: Int) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(backlog)) { continuation in
            let number = add {
                continuation.yield($0)
            } end: {
                continuation.finish()
            }
            continuation.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }
}

extension Broadcast<Void> {
    package func send() { send(()) }
}
