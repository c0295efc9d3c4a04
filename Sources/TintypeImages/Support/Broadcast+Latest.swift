/// Streams of state for single observers, who each receive the latest that they haven't seen. The state is changed before an event is sent.
extension Broadcast<Void> {
    /// The elements that `take` finds: it is asked first, after events, and once more after the end.
    package func elements<Element: Sendable>(_ take: @escaping @Sendable () -> Element?) -> AsyncStream<Element> {
        let events = stream(backlog: 1)
        return AsyncStream {
            while true {
                if let element = take() { return element }
                var iterator = events.makeAsyncIterator()
                guard await iterator.next() != nil else { return Task.isCancelled ? nil : take() }
            }
        }
    }

    /// The present value, and each later one that differs from the last that was seen.
    package func values<Value: Equatable & Sendable>(_ value: @escaping @Sendable () -> Value) -> AsyncStream<Value> {
        let seen = Lock<Value?>(nil)
        return elements {
            let value = value()
            return seen.withLock { seen in
                guard seen != value else { return nil }
                seen = value
                return value
            }
        }
    }
}
