/// Runs work once for all callers that ask for it while it is under way.
///
/// The first caller begins the work; others join it. A cancelled caller leaves at once, and when the last one has left, the work is
/// cancelled. Every caller gets exactly one end: the result of the work, or ``ImageError/Code/cancelled``.
final class TaskCoalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, ImageError>

    /// The connection of a job to its subscribers.
    struct Context: Sendable {
        /// The highest priority of the subscribers, which may change at any time.
        let priority: WorkPriority
        /// Tells all subscribers how far the job is.
        let update: @Sendable (LoadUpdate) -> Void
    }

    private struct Subscriber {
        /// `nil` for one that only waits for the end.
        var onUpdate: (@Sendable (LoadUpdate) -> Void)?
        // Unsafe: the state machine resumes each continuation once, and a checked one doubles the cost of joining.
        var continuation: UnsafeContinuation<Outcome, Never>
    }

    private struct Job {
        var priority: WorkPriority
        var task: Task<Void, Never>?
        /// For subscribers that join later.
        var arriving: ArrivingData?
        var progress: ImageProgress?
        var preview: Image?
    }

    private struct State {
        var machine = TaskCoalescerState<Key>()
        var subscribers: [Int: Subscriber] = [:]
        var jobs: [Int: Job] = [:]
    }

    /// The action that follows a change of the table, outside its lock.
    private enum AfterJoin {
        case begin(Int, WorkPriority)
        case replay(Job, PriorityChange?)
        case refuse
    }

    /// A new priority of a job, numbered under the lock that computed it, so that a change that is overtaken has no effect.
    private struct PriorityChange {
        var target: WorkPriority
        var value: ImagePriority
        var number: Int

        init?(_ job: Job?, _ value: ImagePriority) {
            guard let target = job?.priority, let number = target.reserveChange(to: value) else { return nil }
            (self.target, self.value, self.number) = (target, value, number)
        }

        func apply() { target.set(value, change: number) }
    }

    private let state = Lock(State())

    var jobCount: Int { state.withLock { $0.machine.jobCount } }
    /// The number of callers that wait.
    var waitingCount: Int { state.withLock { $0.machine.subscriberCount } }

    /// True if work for the key is under way.
    func isRunning(_ key: Key) -> Bool { state.withLock { $0.machine.hasJob(for: key) } }

    /// Returns the result of the work for `key`, which begins unless it is under way.
    ///
    /// Honors the cancellation of the calling task.
    /// - Parameters:
    ///   - priority: the caller's priority, watched until the end.
    ///   - onUpdate: called from the threads of the job. A late subscriber first receives the most recent progress and preview.
    func value(
        for key: Key, priority: LoadPriority, onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil,
        work: @escaping @Sendable (Context) async -> Outcome
    ) async -> Outcome {
        let id = state.withLock { $0.machine.makeID() }
        let token = priority.live?.observe { [weak self] in self?.setPriority($0, of: id) }
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let subscriber = Subscriber(onUpdate: onUpdate, continuation: continuation)
                join(key, as: id, priority: priority.value, subscriber: subscriber, work: work)
            }
        } onCancel: {
            leave(id)
        }
        if let token { priority.live?.stopObserving(token) }
        state.withLock { $0.machine.finishSubscriber(id) }
        return outcome
    }

    /// Ends every wait with ``ImageError/Code/cancelled``, and with it all work.
    func cancelAll() {
        for id in state.withLock({ $0.machine.subscribers }) { leave(id, mayJoinLater: false) }
    }

    private func join(
        _ key: Key, as id: Int, priority: ImagePriority, subscriber: Subscriber,
        work: @escaping @Sendable (Context) async -> Outcome
    ) {
        let next: AfterJoin = state.withLock { state in
            switch state.machine.join(key, as: id, priority: priority) {
            case .begin(let job):
                let shared = WorkPriority(priority)
                state.subscribers[id] = subscriber
                state.jobs[job] = Job(priority: shared)
                return .begin(job, shared)
            case .wait(let id2, let highest):
                state.subscribers[id] = subscriber
                guard let job = state.jobs[id2] else { return .refuse }
                return .replay(job, PriorityChange(job, highest))
            case .refuse:
                return .refuse
            }
        }
        switch next {
        case .begin(let job, let shared):
            begin(job, priority: shared, work: work)
        case .replay(let job, let change):
            change?.apply()
            if let arriving = job.arriving { subscriber.onUpdate?(.arriving(arriving)) }
            if let progress = job.progress { subscriber.onUpdate?(.progress(progress)) }
            if let preview = job.preview { subscriber.onUpdate?(.preview(preview)) }
        case .refuse:
            subscriber.continuation.resume(returning: .failure(.cancelled))
        }
    }

    private func begin(_ job: Int, priority: WorkPriority, work: @escaping @Sendable (Context) async -> Outcome) {
        let context = Context(priority: priority) { [weak self] in self?.tell($0, to: job) }
        // Detached: the work belongs to all subscribers, not to the task of the first one.
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

    private func tell(_ update: LoadUpdate, to job: Int) {
        let receivers = state.withLock { state -> [@Sendable (LoadUpdate) -> Void] in
            switch update {
            case .arriving(let data): state.jobs[job]?.arriving = data
            case .progress(let progress): state.jobs[job]?.progress = progress
            case .preview(let image): state.jobs[job]?.preview = image
            }
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
        let (subscriber, change, task) = state.withLock { state -> (Subscriber?, PriorityChange?, Task<Void, Never>?) in
            let action = state.machine.leave(id, mayJoinLater: mayJoinLater)
            let subscriber = state.subscribers.removeValue(forKey: id)
            switch action {
            case .nothing: return (subscriber, nil, nil)
            case .left(let job, let highest): return (subscriber, PriorityChange(state.jobs[job], highest), nil)
            case .cancel(let job): return (subscriber, nil, state.jobs.removeValue(forKey: job)?.task)
            }
        }
        change?.apply()
        task?.cancel()
        subscriber?.continuation.resume(returning: .failure(.cancelled))
    }

    private func setPriority(_ priority: ImagePriority, of id: Int) {
        let change = state.withLock { state -> PriorityChange? in
            guard let (job, highest) = state.machine.setPriority(priority, of: id) else { return nil }
            return PriorityChange(state.jobs[job], highest)
        }
        change?.apply()
    }
}

/// The priority of one caller: fixed, or one that may change while the caller waits.
struct LoadPriority: Sendable {
    private let fixed: ImagePriority
    /// `nil` for a fixed priority, which costs nothing to watch.
    let live: WorkPriority?

    init(_ fixed: ImagePriority) { (self.fixed, live) = (fixed, nil) }
    init(_ live: WorkPriority) { (fixed, self.live) = (.normal, live) }

    var value: ImagePriority { live?.value ?? fixed }
}

/// A step of a load that is under way.
enum LoadUpdate: Sendable {
    /// A transfer begins whose bytes can be decoded as they come. Told within the pipeline only.
    case arriving(ArrivingData)
    case progress(ImageProgress)
    case preview(Image)
}

extension ImageError {
    /// The end of a wait that its caller cancelled.
    static let cancelled = ImageError(.cancelled, stage: .request, reason: "the load was cancelled")
}
