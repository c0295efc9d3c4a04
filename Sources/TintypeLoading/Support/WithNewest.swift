/// Runs `body` while a worker processes the values that it sends, one at a time. Values that arrive while the worker is busy
/// replace each other, and the newest one is next.
///
/// When `body` ends, the value in progress is completed, and a waiting one is dropped.
func withNewest<Value: Sendable, Result: Sendable>(
    _ work: @escaping @Sendable (Value) async -> Void,
    during body: (_ send: @escaping @Sendable (Value) -> Void) async -> Result
) async -> Result {
    let (values, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let hasEnded = Lock(false)
    async let worker: Void = {
        for await value in values where !hasEnded.withLock({ $0 }) { await work(value) }
    }()
    let result = await body { continuation.yield($0) }
    hasEnded.withLock { $0 = true }
    continuation.finish()
    await worker
    return result
}
