/// The subscribers of each job, by key: the decisions of a ``TaskCoalescer``, as a value without side effects.
///
/// A job lives while somebody waits for it, and its priority is the highest of its subscribers'. A job that its last subscriber
/// left is gone from the table at once, so that the next subscriber begins anew and never joins work that is being cancelled.
///
/// - Complexity: every operation takes constant time, but for ``finish(_:)``, which is linear in the subscribers of the job.
struct TaskCoalescerState<Key: Hashable> {
    typealias JobID = Int
    typealias SubscriberID = Int

    private struct Job {
        var key: Key
        var subscribers: [SubscriberID: ImagePriority] = [:]
        /// The number of subscribers of each priority, of which there are fewer than eight; unlike an array, this takes no memory of its own.
        var counts = SIMD8<Int>()

        var priority: ImagePriority {
            ImagePriority.allCases.last { counts[$0.rawValue] > 0 } ?? .veryLow
        }

        mutating func set(_ priority: ImagePriority?, for subscriber: SubscriberID) {
            let old = subscribers[subscriber]
            subscribers[subscriber] = priority
            if let old { counts[old.rawValue] -= 1 }
            if let priority { counts[priority.rawValue] += 1 }
        }
    }

    private var jobs: [JobID: Job] = [:]
    private var jobsByKey: [Key: JobID] = [:]
    private var jobsBySubscriber: [SubscriberID: JobID] = [:]
    /// Subscribers that were cancelled before they joined: a task may be cancelled at any moment.
    private var cancelledBeforeJoining: Set<SubscriberID> = []
    private var lastID = 0

    var jobCount: Int { jobs.count }
    var subscriberCount: Int { jobsBySubscriber.count }
    var subscribers: [SubscriberID] { Array(jobsBySubscriber.keys) }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// True if there is a job for a key.
    func hasJob(for key: Key) -> Bool { jobsByKey[key] != nil }

    enum JoinAction: Equatable {
        /// There is no job for the key yet: begin it.
        case begin(JobID)
        /// The job is under way; its priority becomes this.
        case wait(JobID, ImagePriority)
        /// The subscriber was cancelled before it joined.
        case refuse
    }

    mutating func join(_ key: Key, as subscriber: SubscriberID, priority: ImagePriority) -> JoinAction {
        if !cancelledBeforeJoining.isEmpty, cancelledBeforeJoining.remove(subscriber) != nil { return .refuse }
        if let id = jobsByKey[key] {
            jobs[id]?.set(priority, for: subscriber)
            jobsBySubscriber[subscriber] = id
            return .wait(id, jobs[id]?.priority ?? priority)
        }
        let id = makeID()
        var job = Job(key: key)
        job.set(priority, for: subscriber)
        jobs[id] = job
        jobsByKey[key] = id
        jobsBySubscriber[subscriber] = id
        return .begin(id)
    }

    /// The job of a subscriber that is its only one.
    func jobOfOnlySubscriber(_ subscriber: SubscriberID) -> JobID? {
        guard let id = jobsBySubscriber[subscriber], jobs[id]?.subscribers.count == 1 else { return nil }
        return id
    }

    enum LeaveAction: Equatable {
        /// The subscriber has not joined yet, or its job has ended.
        case nothing
        /// Others still wait; the job's priority becomes this.
        case left(JobID, ImagePriority)
        /// Nobody waits any more: cancel the job.
        case cancel(JobID)
    }

    /// Removes a subscriber that was cancelled.
    /// - Parameter mayJoinLater: true if the subscriber may still be about to join, and is then refused.
    mutating func leave(_ subscriber: SubscriberID, mayJoinLater: Bool = true) -> LeaveAction {
        guard let id = jobsBySubscriber.removeValue(forKey: subscriber) else {
            if mayJoinLater { cancelledBeforeJoining.insert(subscriber) }
            return .nothing
        }
        jobs[id]?.set(nil, for: subscriber)
        guard let job = jobs[id], job.subscribers.isEmpty else {
            return .left(id, jobs[id]?.priority ?? .veryLow)
        }
        remove(id, key: job.key)
        return .cancel(id)
    }

    /// Drops what is remembered of a subscriber that has its result: it never joins again.
    mutating func finishSubscriber(_ subscriber: SubscriberID) {
        if !cancelledBeforeJoining.isEmpty { cancelledBeforeJoining.remove(subscriber) }
    }

    /// Changes the priority of a subscriber.
    /// - Returns: the job and its new priority, if that changes.
    mutating func setPriority(_ priority: ImagePriority, of subscriber: SubscriberID) -> (JobID, ImagePriority)? {
        guard let id = jobsBySubscriber[subscriber], let before = jobs[id]?.priority else { return nil }
        jobs[id]?.set(priority, for: subscriber)
        guard let after = jobs[id]?.priority, after != before else { return nil }
        return (id, after)
    }

    /// The subscribers of a job.
    func waiting(for id: JobID) -> [SubscriberID] { jobs[id].map { Array($0.subscribers.keys) } ?? [] }

    /// Ends a job.
    /// - Returns: its subscribers; none if it was cancelled before.
    mutating func finish(_ id: JobID) -> [SubscriberID] {
        guard let job = jobs[id] else { return [] }
        remove(id, key: job.key)
        for subscriber in job.subscribers.keys { jobsBySubscriber[subscriber] = nil }
        return Array(job.subscribers.keys)
    }

    private mutating func remove(_ id: JobID, key: Key) {
        jobs[id] = nil
        if jobsByKey[key] == id { jobsByKey[key] = nil }
    }
}
