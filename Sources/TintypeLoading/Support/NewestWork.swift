/// A worker that processes the values that it is sent, never two at once. Values that arrive while it is busy replace each other, and the
/// newest is next. The first value starts its task.
final class NewestWork<Value: Sendable>: Sendable {
    private struct State {
        var next: Value?
        /// Fulfilled when no value is left; `nil` while there is none.
        var completion: Promise<Void>?
        var task: Task<Void, Never>?
        var hasEnded = false
        var isCancelled = false
    }

    private let state = Lock(State())
    private let work: @Sendable (Value) async -> Void

    init(_ work: @escaping @Sendable (Value) async -> Void) { self.work = work }

    func send(_ value: Value) {
        let begun = state.withLock { state -> Promise<Void>? in
            guard !state.hasEnded else { return nil }
            state.next = value
            guard state.completion == nil else { return nil }
            state.completion = Promise()
            return state.completion
        }
        guard let begun else { return }
        let task = Task.immediateDetached { [self] in while let value = take() { await work(value) } }
        let isCancelled = state.withLock { state in
            // Otherwise it is done already.
            if state.completion === begun { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func take() -> Value? {
        let (value, completion) = state.withLock { state in
            let value = state.next.take()
            if value == nil { state.task = nil }
            return (value, value == nil ? state.completion.take() : nil)
        }
        completion?.fulfill(())
        return value
    }

    /// Waits until the value in progress is completed, and drops a waiting value and all that are sent later. If the calling task is
    /// canceled, so is the work.
    func end() async {
        let completion = state.withLock { state in
            state.hasEnded = true
            state.next = nil
            return state.completion
        }
        await withTaskCancellationHandler {
            await completion?.value
        } onCancel: {
            // The task isn't known while the sender starts it.
            state.withLock { state in
                state.isCancelled = true
                return state.task
            }?.cancel()
        }
    }
}
