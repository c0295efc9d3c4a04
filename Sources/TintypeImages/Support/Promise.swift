/// A value that is set once, and that any number of callers can await.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [@Sendable (Value) -> Void] = []
    }

    private let state = Lock(State())

    package init() {}

    /// Sets the value, unless it has been set.
    package func fulfill(_ value: Value) {
        let waiting = state.withLock { state in
            if state.value == nil { state.value = value }
            defer { state.waiting = [] }
            return state.waiting
        }
        for receive in waiting { receive(value) }
    }

    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                whenFulfilled { continuation.resume(returning: $0) }
            }
        }
    }

    /// The value; `nil` if the calling task is canceled before there is one.
    package var valueUnlessCanceled: Value? {
        get async {
            let first = Promise<Value?>()
            whenFulfilled { first.fulfill($0) }
            return await withTaskCancellationHandler {
                await first.value
            } onCancel: {
                first.fulfill(nil)
            }
        }
    }

    private func whenFulfilled(_ receive: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.waiting.append(receive) }
            return state.value
        }
        if let value { receive(value) }
    }
}
