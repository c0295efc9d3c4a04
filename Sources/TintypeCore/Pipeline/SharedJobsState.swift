/// Who waits for which work: a table of jobs by key and of the subscribers of each, as a value without side effects.
///
/// A job lives while somebody waits for it. Its priority is the highest of those who wait. A job that the last one left
/// is gone from the table at once, so that whoever comes next begins anew and never joins work that is being cancelled.
struct SharedJobsState<Key: Hashable> {
    typealias JobID = Int
    typealias SubscriberID = Int

    private struct Job {
        var key: Key
        var subscribers: [SubscriberID: ImagePriority] = [:]
        var priority: ImagePriority { subscribers.values.max() ?? .veryLow }
    }

    private var jobs: [JobID: Job] = [:]
    private var jobsByKey: [Key: JobID] = [:]
    private var jobsBySubscriber: [SubscriberID: JobID] = [:]
    /// Subscribers that left before they joined: a task may be cancelled at any moment.
    private var leftEarly: Set<SubscriberID> = []
    private var lastID = 0

    var jobCount: Int { jobs.count }
    var subscriberCount: Int { jobsBySubscriber.count }
    var subscribers: [SubscriberID] { Array(jobsBySubscriber.keys) }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    enum JoinAction: Equatable {
        /// Nobody does this work yet: begin it.
        case begin(JobID)
        /// Somebody does; its priority is to be this.
        case wait(JobID, ImagePriority)
        /// The subscriber has left already.
        case refuse
    }

    mutating func join(_ key: Key, as subscriber: SubscriberID, priority: ImagePriority) -> JoinAction {
        if leftEarly.remove(subscriber) != nil { return .refuse }
        let isNew = jobsByKey[key] == nil
        let id = jobsByKey[key] ?? makeID()
        jobsByKey[key] = id
        jobs[id, default: Job(key: key)].subscribers[subscriber] = priority
        jobsBySubscriber[subscriber] = id
        return isNew ? .begin(id) : .wait(id, jobs[id]?.priority ?? priority)
    }

    enum LeaveAction: Equatable {
        /// The subscriber has not joined yet, or its job has ended.
        case nothing
        /// Others still wait; the job's priority is to be this.
        case left(JobID, ImagePriority)
        /// Nobody waits any more: cancel the work.
        case cancel(JobID)
    }

    /// - Parameter mayJoinLater: whether the subscriber could still come, and is then to be refused.
    mutating func leave(_ subscriber: SubscriberID, mayJoinLater: Bool = true) -> LeaveAction {
        guard let id = jobsBySubscriber.removeValue(forKey: subscriber) else {
            if mayJoinLater { leftEarly.insert(subscriber) }
            return .nothing
        }
        jobs[id]?.subscribers[subscriber] = nil
        guard let job = jobs[id], job.subscribers.isEmpty else {
            return .left(id, jobs[id]?.priority ?? .veryLow)
        }
        forget(id, key: job.key)
        return .cancel(id)
    }

    /// The subscriber is served: it will not come again.
    mutating func depart(_ subscriber: SubscriberID) { leftEarly.remove(subscriber) }

    /// The job's priority, if it changes with that of one of its subscribers.
    mutating func setPriority(_ priority: ImagePriority, of subscriber: SubscriberID) -> (JobID, ImagePriority)? {
        guard let id = jobsBySubscriber[subscriber], let before = jobs[id]?.priority else { return nil }
        jobs[id]?.subscribers[subscriber] = priority
        guard let after = jobs[id]?.priority, after != before else { return nil }
        return (id, after)
    }

    /// Who waits for a job now.
    func waiting(for id: JobID) -> [SubscriberID] { jobs[id].map { Array($0.subscribers.keys) } ?? [] }

    /// Ends a job and tells who waited for it; nobody if it was cancelled before.
    mutating func finish(_ id: JobID) -> [SubscriberID] {
        guard let job = jobs[id] else { return [] }
        forget(id, key: job.key)
        for subscriber in job.subscribers.keys { jobsBySubscriber[subscriber] = nil }
        return Array(job.subscribers.keys)
    }

    private mutating func forget(_ id: JobID, key: Key) {
        jobs[id] = nil
        if jobsByKey[key] == id { jobsByKey[key] = nil }
    }
}
