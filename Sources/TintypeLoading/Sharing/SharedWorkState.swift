/// The jobs of a manager, and the callers and jobs that wait for them: the decisions of ``SharedWork``, as a value without side effects.
///
/// A job lives while it has waiters, and combines the wishes of all of them. Its number is the first waiter's.
struct SharedWorkState<Key: Hashable & Sendable>: Hashable, Sendable {
    typealias ID = Int

    private struct Waiter: Hashable {
        let job: ID
        /// The job that uses the value; for a caller, the job whose code calls, as a loader may.
        let asking: ID?
        let isCaller: Bool
        var wishes: LoadWishes
    }

    struct Job: Hashable {
        let key: Key
        var waiters: Set<ID> = []
        private(set) var counts = WishCounts()
        /// The wishes of all waiters together, but for the lifetime.
        private(set) var wishes = WishCounts().wishes
        /// The waiter through which this job waits for another, or uses its value.
        var need: ID?
        /// True for a job that has ended. It stays for the jobs that had its value, until they end or ask again.
        var hasEnded = false

        mutating func change(from old: LoadWishes?, to new: LoadWishes?) {
            if let old { counts.remove(old) }
            if let new { counts.add(new) }
            wishes = counts.wishes
        }
    }

    /// The answer to a waiter: wait for a job, and start it if it has the waiter's number; take the value of a job that has ended; or end.
    /// A load in a cycle would wait for itself.
    enum Join: Hashable { case wait(ID), ready(ID), refuse, cycle }

    /// The consequences of a change, which are carried out without the lock.
    struct Effects {
        /// Waiters that get the result of their job, or left before its end.
        var ended = FewElements<ID>()
        /// Jobs that are gone. Those that were canceled still run.
        var removedJobs = FewElements<ID>()
        var priorities = FewElements<(job: ID, priority: ImagePriority)>()
    }

    private var table: [Key: ID] = [:]
    private(set) var jobs: [ID: Job] = [:]
    private var waiters: [ID: Waiter] = [:]

    var callers: [ID] { waiters.filter(\.value.isCaller).map(\.key).sorted() }
    func waiters(of job: ID) -> Set<ID> { jobs[job]?.waiters ?? [] }
    /// The present wishes of a job's waiters; none if it was canceled.
    func wishes(of job: ID) -> LoadWishes {
        guard let job = jobs[job] else { return WishCounts().wishes }
        var wishes = job.wishes
        if job.counts.hasLifetimes { wishes.lifetime = job.waiters.compactMap { waiters[$0]?.wishes.lifetime }.min() }
        return wishes
    }

    /// Joins the job for a key, or starts it.
    /// - Parameters:
    ///   - wishes: The wishes of a caller; `nil` for a user of the value, which stays until the user leaves.
    ///   - asking: The job that uses the value, in place of the former job; or the job whose code calls.
    mutating func join(_ key: Key, as id: ID, _ wishes: LoadWishes?, by asking: ID?, _ effects: inout Effects) -> Join {
        if wishes == nil, let asking {
            guard let job = jobs[asking] else { return .refuse }
            if let former = job.need { leave(former, &effects) }
            jobs.change(asking) { $0.need = id }
        }
        if let asking, isNeeded(key, by: asking) { return .cycle }
        let job = table[key] ?? id
        let hasEnded = jobs[job]?.hasEnded == true
        if hasEnded, wishes != nil { return .ready(job) }
        if !hasEnded, wishes == nil, asking == nil { return .refuse }
        let own = wishes ?? asking.map { self.wishes(of: $0).ofNeed } ?? WishCounts().wishes
        waiters[id] = Waiter(job: job, asking: asking, isCaller: wishes != nil, wishes: own)
        if table[key] == nil { (table[key], jobs[id]) = (id, Job(key: key)) }
        jobs.change(job) { _ = $0.waiters.insert(id) }
        change(job, from: nil, to: own, &effects)
        return hasEnded ? .ready(job) : .wait(job)
    }

    /// True if a job, or a job that waits for it, has the key.
    private func isNeeded(_ key: Key, by id: ID) -> Bool {
        guard let job = jobs[id], !job.hasEnded else { return false }
        return job.key == key || job.waiters.contains { waiters[$0]?.asking.map { isNeeded(key, by: $0) } ?? false }
    }

    /// Ends a wait. A job without waiters leaves the table, stops waiting for other jobs, and is canceled, all in this step.
    mutating func leave(_ id: ID, _ effects: inout Effects) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        effects.ended.append(id)
        jobs.change(waiter.job) { _ = $0.waiters.remove(id) }
        change(waiter.job, from: waiter.wishes, to: nil, &effects)
        guard let job = jobs[waiter.job], job.waiters.isEmpty else { return }
        if table[job.key] == waiter.job { table[job.key] = nil }
        jobs[waiter.job] = nil
        effects.removedJobs.append(waiter.job)
        if let need = job.need { leave(need, &effects) }
    }

    mutating func setWishes(of id: ID, to wishes: LoadWishes, _ effects: inout Effects) {
        guard let old = waiters[id] else { return }
        waiters.change(id) { $0.wishes = wishes }
        change(old.job, from: old.wishes, to: wishes, &effects)
    }

    /// Changes the wishes of a job, and with them the wishes of the job that it needs.
    private mutating func change(_ id: ID, from old: LoadWishes?, to new: LoadWishes?, _ effects: inout Effects) {
        guard let before = jobs[id]?.wishes else { return }
        jobs.change(id) { $0.change(from: old, to: new) }
        guard let job = jobs[id], !job.hasEnded, !job.waiters.isEmpty,
            job.wishes != before || old?.lifetime != new?.lifetime
        else { return }
        let wishes = wishes(of: id)
        if wishes.priority != before.priority { effects.priorities.append((id, wishes.priority)) }
        if let need = job.need { setWishes(of: need, to: wishes.ofNeed, &effects) }
    }

    /// Closes a job to new waiters, and the jobs that wait for it, because its value would be too old.
    mutating func close(_ id: ID) {
        if let key = jobs[id]?.key, table[key] == id { table[key] = nil }
        for waiter in waiters(of: id) {
            if let waiter = waiters[waiter], !waiter.isCaller, let user = waiter.asking { close(user) }
        }
    }

    /// Closes the job whose value another job has to new waiters: the value is too old.
    mutating func closeValue(of user: ID) {
        if let need = jobs[user]?.need, let id = waiters[need]?.job, let key = jobs[id]?.key, table[key] == id {
            table[key] = nil
        }
    }

    /// Ends a job, unless a new waiter wants more stored.
    /// - Parameters:
    ///   - stored: The layers that have the value; `nil` for a failure.
    ///   - isKept: True if others may get the value while a job uses it.
    /// - Returns: False if more has to be stored first.
    mutating func finish(_ id: ID, stored: StoredLayers?, isKept: Bool, _ effects: inout Effects) -> Bool {
        guard let job = jobs[id] else { return true }
        if let stored, !job.wishes.layers.isSubset(of: stored) { return false }
        if let need = job.need { leave(need, &effects) }
        jobs.change(id) { ($0.need, $0.hasEnded) = (nil, true) }
        if !isKept, table[job.key] == id { table[job.key] = nil }
        // In the order in which they came.
        for waiter in job.waiters.sorted() {
            if waiters[waiter]?.isCaller == true { leave(waiter, &effects) } else { effects.ended.append(waiter) }
        }
        return true
    }
}
