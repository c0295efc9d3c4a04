/// The code of a job, which starts for a key.
protocol SharedJob: Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    /// Returns the value.
    func run(_ job: SharedWork<Self>.Job) async throws(ImageError) -> Value
    /// Stores a value in the layers of the wishes, before the job leaves the table.
    func store(_ value: Value, _ wishes: LoadWishes) async
    /// True if others may get the value until the jobs that use it have ended.
    func keeps(_ value: Value) -> Bool
}

/// Runs jobs for the callers and jobs that wait for them: ``SharedWorkState``, with their continuations and tasks.
///
/// Each job has a task of its own, so that no caller's cancellation reaches another. Every caller gets exactly one result.
final class SharedWork<Work: SharedJob>: Sendable {
    typealias Key = Work.Key
    typealias Value = Work.Value
    typealias State = SharedWorkState<Key>
    typealias Outcome = Result<Value, ImageError>
    typealias OnUpdate = @Sendable (LoadUpdate) -> Void

    /// A job, as its code sees it. Its priority is the highest among its waiters, at every moment.
    struct Job: Sendable {
        fileprivate let work: SharedWork
        let id: State.ID
        let priority: WorkPriority

        var wishes: LoadWishes { work.tables.withLock { [id] in $0.state.wishes(of: id) } }
        func close() { work.perform { [id] tables, _ in tables.state.close(id) } }

        func publish(_ update: LoadUpdate) {
            let receivers = work.tables.withLock { [id] tables in
                tables.runs.change(id) { $0.updates.take(update) }
                return tables.state.waiters(of: id).compactMap { tables.waits[$0]?.onUpdate }
            }
            for receive in receivers { receive(update) }
        }

        /// Returns the value of another job, which others may join until the calling job ends or asks again.
        /// - Parameter joinsEnded: False for a newer value than the one that the job has.
        func value(
            _ key: Key, joinsEnded: Bool = true, onUpdate: OnUpdate? = nil, _ work: Work
        ) async throws(ImageError) -> Value {
            let id = SharedWorkID.next()
            return try await self.work.wait(id, onUpdate, work) { [asking = self.id] state, effects in
                if !joinsEnded { state.closeValue(of: asking) }
                return state.join(key, as: id, nil, by: asking, &effects)
            }.get()
        }
    }

    struct Run: Sendable {
        let priority: WorkPriority
        var task: Task<Void, Never>?
        var updates = LatestUpdates()
        /// The value of a job that has ended, and is kept.
        var value: Value?
    }

    struct Wait: Sendable {
        // Unsafe: the state machine ends each wait once, and a checked continuation doubles the cost of joining.
        let continuation: UnsafeContinuation<Outcome, Never>
        let onUpdate: OnUpdate?
    }

    struct Tables: Sendable {
        var state = State()
        var waits: [State.ID: Wait] = [:]
        var runs: [State.ID: Run] = [:]
    }

    let tables = Lock(Tables())

    var hasJobs: Bool { tables.withLock { $0.runs.contains { $0.value.value == nil } } }

    /// Returns the value of the job for a key, which starts unless it is under way. Honors the cancellation of the calling task.
    /// - Parameter priority: The priority of the caller, if it can change, in place of the wishes' priority.
    func value(
        _ key: Key, _ wishes: LoadWishes, following priority: WorkPriority? = nil, onUpdate: OnUpdate? = nil,
        _ work: Work
    ) async throws(ImageError) -> Value {
        let id = SharedWorkID.next()
        let token = priority?.observe { [weak self] priority in
            self?.perform { $0.state.setWishes(of: id, to: wishes.with(priority), &$1) }
        }
        defer { if let token { priority?.stopObserving(token) } }
        return try await withTaskCancellationHandler {
            await wait(id, onUpdate, work) { state, effects in
                // The mark of a cancellation whose handler came too early to find the waiter.
                guard !Task.isCancelled else { return .refuse }
                let wishes = wishes.with(priority?.value ?? wishes.priority)
                return state.join(key, as: id, wishes, by: SharedWorkID.currentJob, &effects)
            }
        } onCancel: {
            perform { $0.state.leave(id, &$1) }
        }.get()
    }

    /// Keeps the value of a job that has ended, if any, until the returned closure is called.
    func keepValue(of key: Key) -> @Sendable () -> Void {
        let id = SharedWorkID.next()
        perform { _ = $0.state.join(key, as: id, nil, by: nil, &$1) }
        return { [self] in perform { $0.state.leave(id, &$1) } }
    }

    /// Ends every wait of a caller with ``ImageError/Code/cancelled``, and with it all work.
    func cancelAll() { perform { for id in $0.state.callers { $0.state.leave(id, &$1) } } }

    private func wait(
        _ id: State.ID, _ onUpdate: OnUpdate?, _ work: Work, join: (inout State, inout State.Effects) -> State.Join
    ) async -> Outcome {
        await withUnsafeContinuation { continuation in
            let (ready, begun, updates) = perform { tables, effects -> (Outcome?, Job?, [LoadUpdate]) in
                switch join(&tables.state, &effects) {
                case .wait(let job):
                    tables.waits[id] = Wait(continuation: continuation, onUpdate: onUpdate)
                    if let run = tables.runs[job] { return (nil, nil, run.updates.all) }
                    let run = Run(priority: WorkPriority(tables.state.wishes(of: job).priority))
                    tables.runs[job] = run
                    return (nil, Job(work: self, id: job, priority: run.priority), [])
                case .ready(let job):
                    return (tables.runs[job]?.value.map { .success($0) } ?? .failure(.cancelled), nil, [])
                case .refuse: return (.failure(.cancelled), nil, [])
                case .cycle: return (.failure(.waitsForItself), nil, [])
                }
            }
            if let ready { continuation.resume(returning: ready) }
            if let begun { begin(begun, work) }
            if let onUpdate { updates.forEach(onUpdate) }
        }
    }

    private func begin(_ job: Job, _ work: Work) {
        // Immediate: until it first waits, it stays on this thread.
        let task = Task.immediateDetached { [self] in
            do throws(ImageError) {
                let value = try await work.run(job)
                var stored: StoredLayers = []
                while var wishes = end(job, .success(value), stored, keeping: work.keeps(value) ? value : nil) {
                    wishes.layers.subtract(stored)
                    await work.store(value, wishes)
                    stored.formUnion(wishes.layers)
                }
            } catch {
                _ = end(job, .failure(error), nil, keeping: nil)
            }
        }
        let isRunning = perform { tables, _ in
            let change: Void? = tables.runs.change(job.id) { run in if run.value == nil { run.task = task } }
            return change != nil
        }
        if !isRunning { task.cancel() }
    }

    /// Ends a job.
    /// - Returns: The present wishes, if more has to be stored first.
    private func end(_ job: Job, _ outcome: Outcome, _ stored: StoredLayers?, keeping value: Value?) -> LoadWishes? {
        // The updates are released without the lock. Nobody receives them any more, and they may hold bytes that count in a budget.
        let (wishes, _) = perform(outcome) { tables, effects -> (LoadWishes?, LatestUpdates?) in
            guard tables.state.finish(job.id, stored: stored, isKept: value != nil, &effects)
            else { return (tables.state.wishes(of: job.id), nil) }
            let updates = tables.runs[job.id]?.updates
            tables.runs.change(job.id) { ($0.value, $0.task, $0.updates) = (value, nil, LatestUpdates()) }
            return (nil, updates)
        }
        return wishes
    }

    /// Changes the state, and carries out the effects without the lock.
    /// - Parameter outcome: The outcome of the waits that end. A job that ends waits for no other.
    @discardableResult private func perform<Answer: Sendable>(
        _ outcome: Outcome = .failure(.cancelled), _ change: (inout Tables, inout State.Effects) -> Answer
    ) -> Answer {
        // What is removed is released without the lock, too: it may own anything.
        var ends = FewElements<Wait>()
        var runs = FewElements<Run>()
        var priorities = FewElements<@Sendable () -> Void>()
        let answer = tables.withLockUnchecked { tables in
            var effects = State.Effects()
            let answer = change(&tables, &effects)
            for id in effects.ended { if let wait = tables.waits.removeValue(forKey: id) { ends.append(wait) } }
            for (job, priority) in effects.priorities {
                // Numbered under the lock that computed it.
                if let apply = tables.runs[job]?.priority.reserveChange(to: priority) { priorities.append(apply) }
            }
            for id in effects.removedJobs { if let run = tables.runs.removeValue(forKey: id) { runs.append(run) } }
            return answer
        }
        for apply in priorities { apply() }
        for run in runs { run.task?.cancel() }
        for wait in ends { wait.continuation.resume(returning: outcome) }
        return answer
    }
}
