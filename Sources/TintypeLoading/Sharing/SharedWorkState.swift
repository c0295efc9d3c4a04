/// The jobs of a manager, and the callers and jobs that wait for them: the decisions of ``SharedWork``, as a value without side effects.
///
/// A job lives while somebody waits for it, and its wishes are those of all who do. Its number is that of the first waiter.
struct SharedWorkState<Key: Hashable & Sendable>: Hashable, Sendable {
    typealias ID = Int

    private struct Waiter: Hashable {
        let job: ID
        /// The job that needs the other one, or, for a caller, the job whose code calls, as a loader may.
        let asking: ID?
        let isCaller: Bool
        var wishes: LoadWishes
    }

    private struct Job: Hashable {
        let key: Key
        var waiters: Set<ID> = []
        var counts = WishCounts()
        /// The waiter by which this job waits for another one, or uses its value.
        var need: ID?
        /// True for a job that has ended, and whose value others use.
        var isKept = false
    }

    enum Join: Hashable {
        case begin, wait(ID)
        /// The job has ended, and its value is kept.
        case ready(ID)
        /// The job that asks was cancelled.
        case refuse
        /// The load would wait for itself.
        case cycle
    }

    /// The consequences of a change, which are carried out without the lock.
    struct Effects {
        /// Waiters that get the result of their job, and those that left before its end.
        var served: [ID] = [], left: [ID] = []
        /// Jobs that have left the table; those that were cancelled have a task that runs.
        var removedJobs: [ID] = []
        var priorities: [(job: ID, priority: ImagePriority)] = []
    }

    private var table: [Key: ID] = [:]
    private var jobs: [ID: Job] = [:]
    private var waiters: [ID: Waiter] = [:]

    /// True if there is a job for a key whose value is kept.
    func isKept(_ key: Key) -> Bool { table[key].map { jobs[$0]?.isKept == true } ?? false }
    /// The number of waiters of each job that has not ended; jobs of one key are counted together.
    var waiting: [Key: Int] {
        jobs.values.reduce(into: [:]) { if !$1.isKept { $0[$1.key, default: 0] += $1.waiters.count } }
    }
    var callers: [ID] { waiters.filter(\.value.isCaller).map(\.key) }
    func waiters(of job: ID) -> Set<ID> { jobs[job]?.waiters ?? [] }
    /// The present wishes of those who wait for a job; none if it was cancelled.
    func wishes(of job: ID) -> LoadWishes { (jobs[job]?.counts ?? WishCounts()).wishes }

    /// Joins the job for a key, or begins it.
    /// - Parameters:
    ///   - wishes: The wishes of a caller; `nil` for a user of the value, who has none and keeps the value until it leaves.
    ///   - asking: The job that uses the value, in place of the one that it asked for before; or the job whose code calls.
    mutating func join(_ key: Key, as id: ID, _ wishes: LoadWishes?, by asking: ID?, _ effects: inout Effects) -> Join {
        if wishes == nil, let asking {
            guard let job = jobs[asking] else { return .refuse }
            if let former = job.need { leave(former, &effects) }
            jobs[asking]?.need = nil
        }
        if let asking, isNeeded(key, by: asking) { return .cycle }
        let isNew = table[key] == nil
        let job = table[key] ?? id
        if wishes != nil, jobs[job]?.isKept == true { return .ready(job) }
        if wishes == nil, let asking { jobs[asking]?.need = id }
        if isNew { (table[key], jobs[id]) = (id, Job(key: key)) }
        let own = wishes ?? asking.map { self.wishes(of: $0) } ?? LoadWishes()
        waiters[id] = Waiter(job: job, asking: asking, isCaller: wishes != nil, wishes: own)
        jobs[job]?.waiters.insert(id)
        change(job, &effects) { $0.add(own) }
        return isNew ? .begin : jobs[job]?.isKept == true ? .ready(job) : .wait(job)
    }

    /// True if a job, or one that waits for it, has the key.
    private func isNeeded(_ key: Key, by id: ID) -> Bool {
        guard let job = jobs[id], job.key != key else { return jobs[id] != nil }
        return job.waiters.contains { id in waiters[id]?.asking.map { isNeeded(key, by: $0) } ?? false }
    }

    /// Ends a wait. A job without waiters leaves the table and what it waits for, and is cancelled, all in this step.
    mutating func leave(_ id: ID, _ effects: inout Effects) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        effects.left.append(id)
        jobs[waiter.job]?.waiters.remove(id)
        change(waiter.job, &effects) { $0.remove(waiter.wishes) }
        removeIfUnused(waiter.job, &effects)
    }

    /// Changes what a waiter wants.
    mutating func setWishes(of id: ID, _ effects: inout Effects, _ set: (inout LoadWishes) -> Void) {
        guard let old = waiters[id] else { return }
        var new = old.wishes
        set(&new)
        waiters[id]?.wishes = new
        change(old.job, &effects) { [new] counts in
            counts.remove(old.wishes)
            counts.add(new)
        }
    }

    /// Changes the wishes of a job, and with them those of the job that it needs.
    private mutating func change(_ id: ID, _ effects: inout Effects, _ change: (inout WishCounts) -> Void) {
        guard var counts = jobs[id]?.counts else { return }
        let old = counts.wishes
        change(&counts)
        let new = counts.wishes
        jobs[id]?.counts = counts
        guard old != new, jobs[id]?.waiters.isEmpty == false else { return }
        if old.priority != new.priority { effects.priorities.append((id, new.priority)) }
        if let need = jobs[id]?.need { setWishes(of: need, &effects) { $0 = new } }
    }

    /// Lets nobody else join a job, nor those that wait for it: its answer would be older than the request, or is of no use.
    mutating func close(_ id: ID) {
        if let key = jobs[id]?.key, table[key] == id { table[key] = nil }
        for waiter in waiters(of: id) {
            if let waiter = waiters[waiter], !waiter.isCaller, let parent = waiter.asking { close(parent) }
        }
    }

    /// Closes the job whose value a job uses.
    mutating func closeNeed(of id: ID) { if let need = jobs[id]?.need, let job = waiters[need]?.job { close(job) } }

    /// Ends a job, unless somebody has come who wants more stored.
    /// - Parameters:
    ///   - stored: The layers that have the value; `nil` for a failure.
    ///   - isKept: True if others may get the value while a job uses it.
    /// - Returns: False if more has to be stored first.
    mutating func finish(_ id: ID, stored: StoredLayers?, isKept: Bool, _ effects: inout Effects) -> Bool {
        guard let job = jobs[id] else { return true }
        if let stored, !job.counts.wishes.layers.isSubset(of: stored) { return false }
        effects.served += job.waiters
        if let need = job.need { leave(need, &effects) }
        jobs[id]?.need = nil
        jobs[id]?.isKept = isKept
        for waiter in job.waiters where !isKept || waiters[waiter]?.isCaller == true {
            if let waiter = waiters.removeValue(forKey: waiter), !waiter.isCaller, let parent = waiter.asking {
                jobs[parent]?.need = nil
            }
            jobs[id]?.waiters.remove(waiter)
        }
        removeIfUnused(id, &effects)
        return true
    }

    private mutating func removeIfUnused(_ id: ID, _ effects: inout Effects) {
        guard let job = jobs[id], job.waiters.isEmpty else { return }
        if table[job.key] == id { table[job.key] = nil }
        jobs[id] = nil
        effects.removedJobs.append(id)
        if let need = job.need { leave(need, &effects) }
    }
}
