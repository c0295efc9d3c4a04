/// Blocks the calling thread until an asynchronous function, which must not need that thread, returns a result.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let signal = BlockingSignal()
    let result = Lock<Value?>(nil)
    Task.detached {
        let value = await body()
        result.withLock { $0 = value }
        signal.send(true)
    }
    while true {
        if signal.wait(milliseconds: 60_000) != nil, let value = result.withLock({ $0 }) { return value }
    }
}
