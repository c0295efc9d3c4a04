/// A worker that processes the values that it is sent, never two at once. Values that arrive while it is busy replace each other, and the
/// newest is next. The first value starts its task.
final class NewestWork<Value: Sendable>: Sendable {
    private struct State {
        var next: Value?
        /// Fulfilled when no value is left; `nil` while there is none.
        var completion: Promise<Void>?
        var task: Task<Void, Never>?
        var hasEnded = false
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
        // Unless it is done already, and another has started.
        state.withLock { if $0.completion === begun { $0.task = task } }
    }

    private func take() -> Value? {
        let (value, completion) = state.withLock { state in
            let value = state.next.take()
            return (value, value == nil ? state.completion.take() : nil)
        }
        completion?.fulfill(())
        return value
    }

    /// Waits until the value in progress is completed, and drops a waiting value and all that are sent later. If the calling task is
    /// canceled, so is the work.
    func end() async {
        let (completion, task) = state.withLock { state in
            state.hasEnded = true
            state.next = nil
            return (state.completion, state.task)
        }
        await withTaskCancellationHandler {
            // The task isn't known while the sender starts it.
            if let completion { await completion.value }
            if let task { await task.value }
        } onCancel: {
            task?.cancel()
        }
    }
}
