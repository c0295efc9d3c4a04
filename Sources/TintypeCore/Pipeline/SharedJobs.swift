/// Work that is done once for all who ask for it while it is under way.
///
/// The first who asks begins it; others join. Whoever is cancelled leaves, and when the last one has left the work is
/// cancelled. Everybody gets exactly one end: the work's result, or ``ImageError/Code/cancelled``.
final class SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable>: Sendable {
    typealias Outcome = Result<Value, ImageError>

    /// What the work is told and may tell.
    struct Context: Sendable {
        /// The highest priority of those who wait, which may change at any time.
        let priority: WorkPriority
        /// Tells all who wait how far the work is.
        let update: @Sendable (Update) -> Void
    }

    private struct Subscriber {
        var onUpdate: @Sendable (Update) -> Void
        var continuation: CheckedContinuation<Outcome, Never>
    }

    private struct Job {
        var priority: WorkPriority
        var task: Task<Void, Never>?
        var lastUpdate: Update?
    }

    private struct State {
        var machine = SharedJobsState<Key>()
        var subscribers: [Int: Subscriber] = [:]
        var jobs: [Int: Job] = [:]
    }

    /// What is to be done after a change of the table, outside its lock.
    private enum AfterJoin {
        case begin(Int, WorkPriority)
        case replay(Update?, WorkPriority?, ImagePriority)
        case refuse
    }

    private enum AfterLeave {
        case nothing
        case lower(WorkPriority?, ImagePriority)
        case cancel(Task<Void, Never>?)
    }

    private let state = Lock(State())

    var jobCount: Int { state.withLock { $0.machine.jobCount } }
    /// How many wait for work.
    var waitingCount: Int { state.withLock { $0.machine.subscriberCount } }

    /// The result of the work under `key`, which begins unless it is under way.
    ///
    /// Follows the cancellation of the calling task.
    /// - Parameters:
    ///   - priority: how urgent it is to this caller; watched until the end.
    ///   - onUpdate: called from the work's threads; a late comer is told the newest update at once.
    func value(
        for key: Key, priority: WorkPriority, onUpdate: @escaping @Sendable (Update) -> Void,
        work: @escaping @Sendable (Context) async -> Outcome
    ) async -> Outcome {
        let id = state.withLock { $0.machine.makeID() }
        let token = priority.observe { [weak self] in self?.setPriority($0, of: id) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let subscriber = Subscriber(onUpdate: onUpdate, continuation: continuation)
                join(key, as: id, priority: priority, subscriber: subscriber, work: work)
            }
        } onCancel: {
            leave(id)
        }
        priority.stopObserving(token)
        state.withLock { $0.machine.depart(id) }
        return outcome
    }

    /// Ends the waiting of everybody with ``ImageError/Code/cancelled``, and the work with it.
    func cancelAll() {
        for id in state.withLock({ $0.machine.subscribers }) { leave(id, mayJoinLater: false) }
    }

    private func join(
        _ key: Key, as id: Int, priority: WorkPriority, subscriber: Subscriber,
        work: @escaping @Sendable (Context) async -> Outcome
    ) {
        let next: AfterJoin = state.withLock { state in
            switch state.machine.join(key, as: id, priority: priority.value) {
            case .begin(let job):
                let shared = WorkPriority(priority.value)
                state.subscribers[id] = subscriber
                state.jobs[job] = Job(priority: shared)
                return .begin(job, shared)
            case .wait(let job, let highest):
                state.subscribers[id] = subscriber
                return .replay(state.jobs[job]?.lastUpdate, state.jobs[job]?.priority, highest)
            case .refuse:
                return .refuse
            }
        }
        switch next {
        case .begin(let job, let shared):
            begin(job, priority: shared, work: work)
        case .replay(let update, let shared, let highest):
            shared?.value = highest
            if let update { subscriber.onUpdate(update) }
        case .refuse:
            subscriber.continuation.resume(returning: .failure(.gaveUp))
        }
    }

    private func begin(_ job: Int, priority: WorkPriority, work: @escaping @Sendable (Context) async -> Outcome) {
        let context = Context(priority: priority) { [weak self] in self?.tell($0, to: job) }
        // Detached: the work belongs to all who wait, not to the task of the one who came first.
        let task = Task.detached { [weak self] in
            let outcome = await work(context)
            self?.finish(job, outcome)
        }
        let isStillWanted = state.withLock { state in
            guard state.jobs[job] != nil else { return false }
            state.jobs[job]?.task = task
            return true
        }
        // Cancelled, or even finished, in between; cancelling finished work does nothing.
        if !isStillWanted { task.cancel() }
    }

    private func tell(_ update: Update, to job: Int) {
        let receivers = state.withLock { state in
            state.jobs[job]?.lastUpdate = update
            return state.machine.waiting(for: job).compactMap { state.subscribers[$0]?.onUpdate }
        }
        for receive in receivers { receive(update) }
    }

    private func finish(_ job: Int, _ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.jobs[job] = nil
            return state.machine.finish(job).compactMap { state.subscribers.removeValue(forKey: $0)?.continuation }
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    private func leave(_ id: Int, mayJoinLater: Bool = true) {
        let (subscriber, next): (Subscriber?, AfterLeave) = state.withLock { state in
            let action = state.machine.leave(id, mayJoinLater: mayJoinLater)
            let subscriber = state.subscribers.removeValue(forKey: id)
            switch action {
            case .nothing: return (subscriber, .nothing)
            case .left(let job, let highest): return (subscriber, .lower(state.jobs[job]?.priority, highest))
            case .cancel(let job): return (subscriber, .cancel(state.jobs.removeValue(forKey: job)?.task))
            }
        }
        switch next {
        case .nothing: break
        case .lower(let shared, let highest): shared?.value = highest
        case .cancel(let task): task?.cancel()
        }
        subscriber?.continuation.resume(returning: .failure(.gaveUp))
    }

    private func setPriority(_ priority: ImagePriority, of id: Int) {
        let change = state.withLock { state -> (WorkPriority, ImagePriority)? in
            guard let (job, highest) = state.machine.setPriority(priority, of: id) else { return nil }
            return state.jobs[job].map { ($0.priority, highest) }
        }
        if let (shared, highest) = change { shared.value = highest }
    }
}

extension ImageError {
    /// Somebody stopped waiting.
    static let gaveUp = ImageError(.cancelled, stage: .request, reason: "the load was cancelled")
}
