#if HTTP
internal import TintypeLoading

/// A load that can be canceled from outside of its task: by its downloader, or by a time limit.
///
/// The load runs in the task of its caller, since another task would cost a quarter of a small download. So everything that it waits for
/// is registered here, and canceled individually. A time limit cancels the present attempt, and the downloader cancels the load.
final class RunningLoad: Sendable {
    private struct State {
        var isCancelled = false
        /// The number of the present attempt.
        var attempt = 0
        var isAttemptCancelled = false
        var waits: [Wait] = []
        var lastID = 0
    }

    /// Something that the load waits for.
    private struct Wait: Sendable {
        let id: Int
        let cancel: @Sendable () -> Void
    }

    private let state = Lock(State())

    /// True after the load was canceled by its downloader.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Starts an attempt.
    /// - Returns: a closure that cancels it, and does nothing after its end.
    /// - Throws: ``ImageError/Code/cancelled``.
    func beginAttempt() throws(ImageError) -> @Sendable () -> Void {
        guard !isCancelled, !Task.isCancelled else { throw .cancelledTransfer }
        let attempt = state.withLock { $0.attempt }
        return { [self] in
            cancelWaits {
                guard $0.attempt == attempt else { return false }
                $0.isAttemptCancelled = true
                return true
            }
        }
    }

    /// Ends the present attempt, and with it its cancellation.
    func endAttempt() {
        state.withLock { state in
            state.attempt += 1
            state.isAttemptCancelled = false
        }
    }

    /// Cancels the load.
    func cancel() {
        cancelWaits {
            $0.isCancelled = true
            return true
        }
    }

    private func cancelWaits(if condition: (inout State) -> Bool) {
        // An array of its own: ThreadSanitizer doesn't see the reference counts by which the lock's array is known to be unshared again.
        let cancels = state.withLock { condition(&$0) ? $0.waits.map(\.cancel) : [] }
        for cancel in cancels { cancel() }
    }

    /// Registers a wait. If the load or the attempt is canceled already, the wait is canceled at once.
    /// - Returns: a number for ``endWait(_:)``.
    func beginWait(_ cancel: @escaping @Sendable () -> Void) -> Int {
        let (id, isCancelled) = state.withLock { state in
            state.lastID += 1
            state.waits.append(Wait(id: state.lastID, cancel: cancel))
            return (state.lastID, state.isCancelled || state.isAttemptCancelled)
        }
        if isCancelled { cancel() }
        return id
    }

    func endWait(_ id: Int) { state.withLock { $0.waits.removeAll { $0.id == id } } }

    /// Runs a closure of the program. A cancellation cancels its task, and ends the wait even if the closure goes on.
    func runClosure<Value: Sendable>(
        _ closure: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        try await run { () throws(ImageError) -> Value in
            let end = Promise<Result<Value, ImageError>>()
            let task = Task.immediate { end.fulfill(await Result<Value, ImageError>(catching: closure)) }
            let result = await withTaskCancellationHandler {
                await end.valueUnlessCanceled
            } onCancel: {
                task.cancel()
            }
            guard let result else { throw .cancelledTransfer }
            return try result.get()
        }
    }

    /// Runs work that ends soon after the cancellation of its task, and that only this ends, in a task of its own.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard !Task.isCancelled else { throw .cancelledTransfer }
        // Until it first waits, it stays on this thread.
        let task = Task.immediate { await Result<Value, ImageError>(catching: work) }
        let wait = beginWait { task.cancel() }
        defer { endWait(wait) }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
#endif
