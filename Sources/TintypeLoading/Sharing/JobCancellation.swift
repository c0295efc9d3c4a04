/// The cancellation of a shared job.
///
/// A job that begins another one runs it in its own task: a load runs the transfer that it needs. Others may join the inner job, and
/// still need it when the last subscriber of the outer job leaves. Therefore the outer job isn't cancelled at once, but gives up its place among the
/// subscribers of the inner job. The task is cancelled when nobody waits for either.
final class JobCancellation: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isTaskCancelled = false
        var isRequested = false
        /// Gives up the job's place in the inner job that its task runs at present.
        var leaveInnerJob: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    /// The job whose task runs this one; `nil` for a job with its own task.
    private let outer: JobCancellation?

    init(within outer: JobCancellation? = nil) { self.outer = outer }

    /// Sets the task that runs the job, and cancels it if that was requested before.
    func setTask(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isTaskCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Cancels the job, whose last subscriber has left.
    func request() {
        let leaveInnerJob = state.withLock { state in
            state.isRequested = true
            return state.leaveInnerJob
        }
        if let leaveInnerJob { leaveInnerJob() } else { cancelTask() }
    }

    private func cancelTask() {
        if let outer { return outer.cancelTask() }
        let task = state.withLock { state in
            state.isTaskCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Runs an inner job in the task of this one.
    /// - Parameter leave: gives up this job's place among the subscribers of the inner job; called at most once.
    /// - Returns: the value of the inner job; `nil` if nobody waits for this job any longer.
    func runInnerJob<Value: Sendable>(
        leave: @escaping @Sendable () -> Void, _ body: () async -> Value
    ) async -> Value? {
        let wasRequested = state.withLock { state in
            state.leaveInnerJob = leave
            return state.isRequested
        }
        if wasRequested { leave() }
        let value = await body()
        let isRequested = state.withLock { state in
            state.leaveInnerJob = nil
            return state.isRequested
        }
        guard isRequested else { return value }
        // Now only this job would need the task. It may be so young that it isn't known yet, and can't be cancelled: therefore no value.
        cancelTask()
        return nil
    }
}
