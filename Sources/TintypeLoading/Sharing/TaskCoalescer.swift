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
        /// For jobs that this one begins, and runs in its own task.
        let cancellation: JobCancellation
        /// Tells all subscribers how far the job is.
        let update: @Sendable (LoadUpdate) -> Void
    }

    private struct Subscriber {
        /// `nil` for one that only waits for the end.
        var onUpdate: (@Sendable (LoadUpdate) -> Void)?
        /// `nil` for one that runs the job itself.
        // Unsafe: the state machine resumes each continuation once, and a checked one doubles the cost of joining.
        var continuation: UnsafeContinuation<Outcome, Never>?
        /// `nil` for one that leaves at once.
        var lingering: Lingering?
        /// True after the caller has left.
        var isLingering = false
    }

    /// The way in which a job that is nearly finished goes on for a while after its last caller has left.
    struct Lingering: Sendable {
        /// The progress of a job that is worth it, from 0 to 1.
        let minimumFraction: Double
        /// Called after the caller has left, with a closure that ends the job unless others have joined it.
        let begin: @Sendable (_ leave: @escaping @Sendable () -> Void) -> Void
        /// Called at the end of the job, or after `leave`; possibly before `begin`.
        let end: @Sendable (Outcome) -> Void
    }

    private struct Job {
        var priority: WorkPriority
        var cancellation: JobCancellation
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
        case begin(Int, Job)
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
    ///   - outer: the job that the calling task runs. Work that it begins runs in the same task; without one, in a task of its own.
    ///   - lingering: lets the job go on when this caller was the last one; `nil` to end it at once.
    ///   - onUpdate: called from the threads of the job. A late subscriber first receives the most recent progress and preview.
    func value(
        for key: Key, priority: LoadPriority, within outer: JobCancellation? = nil,
        lingering: Lingering? = nil, onUpdate: (@Sendable (LoadUpdate) -> Void)? = nil,
        work: @escaping @Sendable (Context) async -> Outcome
    ) async -> Outcome {
        let id = state.withLock { $0.machine.makeID() }
        let token = priority.live?.observe { [weak self] in self?.setPriority($0, of: id) }
        let outcome: Outcome
        if let outer,
            let (job, context) = begin(key, as: id, priority: priority.value, within: outer, lingering, onUpdate)
        {
            // It has joined: a request to leave that comes after the end leaves nothing behind.
            let inner = await outer.runInnerJob(leave: { [self] in leave(id, mayJoinLater: false) }) {
                let outcome = await work(context)
                return finish(job, outcome).contains(id) ? outcome : .failure(.cancelled)
            }
            outcome = inner ?? .failure(.cancelled)
        } else {
            outcome = await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let subscriber = Subscriber(
                        onUpdate: onUpdate, continuation: continuation, lingering: lingering)
                    join(key, as: id, priority: priority.value, subscriber: subscriber, work: work)
                }
            } onCancel: {
                leave(id)
            }
        }
        if let token { priority.live?.stopObserving(token) }
        state.withLock { $0.machine.finishSubscriber(id) }
        return outcome
    }

    /// Ends every wait with ``ImageError/Code/cancelled``, and with it all work.
    func cancelAll() {
        for id in state.withLock({ $0.machine.subscribers }) { leave(id, mayJoinLater: false, lingers: false) }
    }

    /// Ends all work that nobody waits for.
    func cancelLingering() {
        let ids = state.withLock { state in state.subscribers.filter { $0.value.isLingering }.map(\.key) }
        for id in ids { leave(id, mayJoinLater: false, lingers: false) }
    }

    private func join(
        _ key: Key, as id: Int, priority: ImagePriority, subscriber: Subscriber,
        work: @escaping @Sendable (Context) async -> Outcome
    ) {
        let next: AfterJoin = state.withLock { state in
            switch state.machine.join(key, as: id, priority: priority) {
            case .begin(let number):
                let job = Job(priority: WorkPriority(priority), cancellation: JobCancellation())
                state.subscribers[id] = subscriber
                state.jobs[number] = job
                return .begin(number, job)
            case .wait(let id2, let highest):
                state.subscribers[id] = subscriber
                guard let job = state.jobs[id2] else { return .refuse }
                return .replay(job, PriorityChange(job, highest))
            case .refuse:
                return .refuse
            }
        }
        switch next {
        case .begin(let number, let job):
            begin(number, job, work: work)
        case .replay(let job, let change):
            change?.apply()
            if let arriving = job.arriving { subscriber.onUpdate?(.arriving(arriving)) }
            if let progress = job.progress { subscriber.onUpdate?(.progress(progress)) }
            if let preview = job.preview { subscriber.onUpdate?(.preview(preview)) }
        case .refuse:
            subscriber.continuation?.resume(returning: .failure(.cancelled))
        }
    }

    private func begin(_ number: Int, _ job: Job, work: @escaping @Sendable (Context) async -> Outcome) {
        let context = context(of: number, job)
        // Detached: the work belongs to all subscribers, not to the task of the first one. Immediate: until it first waits, it stays on
        // this thread.
        let task = Task.immediateDetached { [weak self] in
            let outcome = await work(context)
            _ = self?.finish(number, outcome)
        }
        job.cancellation.setTask(task)
    }

    /// Begins a job that the calling task runs.
    /// - Returns: `nil` if the job is under way, so that the caller can join it.
    private func begin(
        _ key: Key, as id: Int, priority: ImagePriority, within outer: JobCancellation,
        _ lingering: Lingering?, _ onUpdate: (@Sendable (LoadUpdate) -> Void)?
    ) -> (Int, Context)? {
        let begun: (Int, Job)? = state.withLock { state in
            guard !state.machine.hasJob(for: key),
                case .begin(let number) = state.machine.join(key, as: id, priority: priority)
            else { return nil }
            let job = Job(priority: WorkPriority(priority), cancellation: JobCancellation(within: outer))
            state.subscribers[id] = Subscriber(onUpdate: onUpdate, lingering: lingering)
            state.jobs[number] = job
            return (number, job)
        }
        return begun.map { number, job in (number, context(of: number, job)) }
    }

    private func context(of number: Int, _ job: Job) -> Context {
        Context(priority: job.priority, cancellation: job.cancellation) { [weak self] in self?.tell($0, to: number) }
    }

    private func tell(_ update: LoadUpdate, to job: Int) {
        let receivers = state.withLock { state -> [@Sendable (LoadUpdate) -> Void] in
            switch update {
            case .arriving(let data): state.jobs[job]?.arriving = data
            case .progress(let progress): state.jobs[job]?.progress = progress
            case .preview(let image): state.jobs[job]?.preview = image
            case .placeholder: break  // Those who come later see the image soon.
            }
            return state.machine.waiting(for: job).compactMap { state.subscribers[$0]?.onUpdate }
        }
        for receive in receivers { receive(update) }
    }

    /// Ends a job.
    /// - Returns: its subscribers.
    private func finish(_ job: Int, _ outcome: Outcome) -> [Int] {
        let (subscribers, waiting) = state.withLock { state in
            state.jobs[job] = nil
            let subscribers = state.machine.finish(job)
            return (subscribers, subscribers.compactMap { state.subscribers.removeValue(forKey: $0) })
        }
        for subscriber in waiting { end(subscriber, outcome) }
        return subscribers
    }

    private func end(_ subscriber: Subscriber, _ outcome: Outcome) {
        if subscriber.isLingering { subscriber.lingering?.end(outcome) }
        subscriber.continuation?.resume(returning: outcome)
    }

    /// Lets a subscriber stay whose caller leaves, if its job is worth finishing.
    /// - Returns: false if the subscriber has to leave.
    private func linger(_ id: Int) -> Bool {
        let (isStaying, caller) = state.withLock { state -> (Bool, Subscriber?) in
            guard let subscriber = state.subscribers[id], let lingering = subscriber.lingering else {
                return (false, nil)
            }
            guard !subscriber.isLingering else { return (true, nil) }
            guard let job = state.machine.jobOfOnlySubscriber(id), let fraction = state.jobs[job]?.progress?.fraction,
                fraction >= lingering.minimumFraction
            else { return (false, nil) }
            state.subscribers[id] = Subscriber(lingering: lingering, isLingering: true)
            return (true, subscriber)
        }
        if let caller {
            caller.lingering?.begin { [weak self] in self?.leave(id, mayJoinLater: false, lingers: false) }
            caller.continuation?.resume(returning: .failure(.cancelled))
        }
        return isStaying
    }

    private func leave(_ id: Int, mayJoinLater: Bool = true, lingers: Bool = true) {
        if lingers, linger(id) { return }
        let (subscriber, change, cancellation) = state.withLock { state in
            let action = state.machine.leave(id, mayJoinLater: mayJoinLater)
            let subscriber = state.subscribers.removeValue(forKey: id)
            switch action {
            case .nothing: return (subscriber, nil as PriorityChange?, nil as JobCancellation?)
            case .left(let job, let highest): return (subscriber, PriorityChange(state.jobs[job], highest), nil)
            case .cancel(let job): return (subscriber, nil, state.jobs.removeValue(forKey: job)?.cancellation)
            }
        }
        change?.apply()
        cancellation?.request()
        if let subscriber { end(subscriber, .failure(.cancelled)) }
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
package struct LoadPriority: Sendable {
    private let fixed: ImagePriority
    /// `nil` for a fixed priority, which costs nothing to watch.
    let live: WorkPriority?

    package init(_ fixed: ImagePriority) { (self.fixed, live) = (fixed, nil) }
    init(_ live: WorkPriority) { (fixed, self.live) = (.normal, live) }

    var value: ImagePriority { live?.value ?? fixed }
}

/// A step of a load that is under way.
enum LoadUpdate: Sendable {
    /// A transfer begins whose bytes can be decoded as they come. Told within the pipeline only.
    case arriving(ArrivingData)
    case progress(ImageProgress)
    case preview(Image)
    /// The placeholder of an image that was found on disk, and will be decoded.
    case placeholder(ThumbHash)
}

extension ImageError {
    /// The end of a wait that its caller cancelled.
    static let cancelled = ImageError(.cancelled, stage: .request, reason: "the load was cancelled")
}
