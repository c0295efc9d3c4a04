@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A model of stores, removals, and refreshes of one source around the real ``SharedWorkState`` and the real conditions of a store. Each step is
/// what one lock protects.
///
/// Pictures are numbered as the server sends them. Image jobs put theirs into memory, and the original in the queue of the disk.
struct StoreModel: ExploredModel {
    /// The rules of storing. Each can be taken away.
    enum Rule: CaseIterable, Hashable {
        /// A load that begins after a removal joins none from before it.
        case countInKey
        /// A store asks whether something was removed since the load began.
        case countAtStore
        /// A removal counts at its end too, for loads that began in the middle of it.
        case endsCount
        /// The image job stores, not the fetch.
        case imageStores
        /// The store is with the caches before the job leaves the table.
        case storesBeforeLeaving
        /// Loads share bytes until they are written.
        case bytesStayUntilWritten
        /// New bytes replace the old ones once, and not for each size.
        case replacesOnce
        /// They do so only if none were replaced that were asked for later.
        case newestReplaces
        /// One waits until the others have removed what they replace.
        case replacesInTurn
        /// They are stored only if nothing was removed since they were asked for.
        case replacesOnlyIfCurrent
        /// Their stores know that they replaced the old ones.
        case storesKnowReplacement
    }

    struct Scenario {
        /// The sizes of the pictures that callers want, each with whether it is a reload.
        var callers: [(size: Int, isReload: Bool)]
        var removals = 0
        /// True if the disk has a picture from before, with the number 0.
        var isCached = false
        /// True if the server sends a page that is no picture.
        var sendsPages = false
        var mostTransfers: Int?
    }

    enum Key: Hashable {
        case image(size: Int, isReload: Bool, RemovalCount)
        case fetch(isReload: Bool, RemovalCount)
    }

    private struct Caller: Hashable {
        enum State: Hashable { case new, waiting, ended(Int?) }
        var state = State.new
        /// The number of the last picture that was removed before the caller began.
        var removed = -1
    }

    private struct Job: Hashable {
        enum Step: Hashable {
            case look, ask, wait, readDisk, send, receive, decode, replace, removeOld, endReplacing, store, storeLate,
                end
        }
        let caller: Int
        let key: Key
        var step: Step
        var picture: Int?
    }

    /// The bytes of a transfer, or of the disk.
    private struct Body: Hashable {
        enum Replacement: Hashable { case none, running, done }
        var removals: RemovalCount
        var isFromDisk = false
        var isNew = false
        var replacement = Replacement.none
        var isWritten = false
    }

    private struct Write: Hashable {
        let picture: Int
        let removals: RemovalCount
        /// The waiter that keeps the bytes in the table.
        let hold: Int
    }

    private struct Remover: Hashable {
        enum Step: Hashable { case begin, memory, disk, end, done }
        var step = Step.begin
        /// The number of the last picture that was asked for before the removal.
        var last = -1
    }

    private var machine = SharedWorkState<Key>()
    private var callers: [Caller]
    private var removers: [Remover]
    private var jobs: [Int: Job] = [:]
    /// The pictures of fetches that have ended and are kept, by the number of the job.
    private var kept: [Int: Int] = [:]
    private var bodies: [Int: Body] = [:]
    private var writes: [Write] = []
    private var memory: [Int: Int] = [:]
    private var disk: Int?
    private var count = RemovalCount()
    private var removed = -1
    private var transfers = 0
    private(set) var failure: String?

    init(_ scenario: Scenario) {
        callers = scenario.callers.map { _ in Caller() }
        removers = (0..<scenario.removals).map { _ in Remover() }
        if scenario.isCached { disk = 0 }
    }

    // MARK: Steps

    func next(_ scenario: Scenario, without rule: Rule?) -> [(step: String, state: StoreModel, isNecessary: Bool)] {
        var rules = Set(Rule.allCases)
        if let rule { rules.remove(rule) }
        var next: [(String, StoreModel, Bool)] = []
        func add(_ step: String, _ change: (inout StoreModel) -> Void) {
            var state = self
            change(&state)
            next.append((step, state, true))
        }
        for (index, caller) in callers.enumerated() where caller.state == .new {
            add("caller \(index) begins") { $0.begin(index, scenario, rules) }
        }
        for (id, job) in jobs where job.step != .wait && !isHeldUp(job, rules) {
            add("job \(id) \(job.key): \(job.step)") { $0.run(id, job, scenario, rules) }
        }
        for (index, remover) in removers.enumerated() where remover.step != .done {
            add("removal \(index): \(remover.step)") { $0.remove(index) }
        }
        if !writes.isEmpty { add("the disk writes") { $0.write(rules) } }
        return next
    }

    /// True for a job that waits until another one has replaced the old pictures.
    private func isHeldUp(_ job: Job, _ rules: Set<Rule>) -> Bool {
        guard job.step == .replace, let picture = job.picture else { return false }
        return bodies.contains { number, body in
            body.replacement == .running && rules.contains(number == picture ? .replacesOnce : .replacesInTurn)
        }
    }

    private mutating func begin(_ index: Int, _ scenario: Scenario, _ rules: Set<Rule>) {
        callers[index].removed = removed
        let (size, isReload) = scenario.callers[index]
        if !isReload, let picture = memory[size] { return end(index, picture) }
        callers[index].state = .waiting
        let key = Key.image(size: size, isReload: isReload, rules.contains(.countInKey) ? count : RemovalCount())
        join(key, as: index + 1, LoadWishes(layers: [.imageInMemory, .originalOnDisk]), by: nil, index)
    }

    private mutating func join(_ key: Key, as id: Int, _ wishes: LoadWishes?, by asking: Int?, _ caller: Int) {
        var effects = SharedWorkState<Key>.Effects()
        let join = machine.join(key, as: id, wishes, by: asking, &effects)
        perform(effects, nil)
        switch join {
        case .wait(id):
            var job = Job(caller: caller, key: key, step: .look)
            if case .fetch = key { job.step = .readDisk }
            jobs[id] = job
        case .wait: break
        case .ready(let job): serve(id, kept[job])
        case .refuse, .cycle: failure = "nobody left"
        }
    }

    private mutating func run(_ id: Int, _ job: Job, _ scenario: Scenario, _ rules: Set<Rule>) {
        let (size, isReload) = scenario.callers[job.caller]
        func removals() -> RemovalCount {
            switch job.key {
            case .image(_, _, let count), .fetch(_, let count): count
            }
        }
        func go(to step: Job.Step, in model: inout StoreModel) { model.jobs[id]?.step = step }
        switch job.step {
        case .look:
            guard !isReload, let picture = memory[size] else { return go(to: .ask, in: &self) }
            finish(id, picture, isKept: false)
        case .ask:
            go(to: .wait, in: &self)
            join(.fetch(isReload: isReload, removals()), as: 10 * id + 1, nil, by: id, job.caller)
        case .wait: break
        case .readDisk:
            guard !isReload, let disk else { return go(to: .send, in: &self) }
            if bodies[disk] == nil { bodies[disk] = Body(removals: removals(), isFromDisk: true) }
            jobs[id]?.picture = disk
            go(to: .receive, in: &self)
        case .send:
            if isReload { machine.close(id) }
            transfers += 1
            bodies[transfers] = Body(removals: removals(), isNew: isReload)
            jobs[id]?.picture = transfers
            go(to: .receive, in: &self)
        case .receive:
            if !rules.contains(.imageStores), let picture = job.picture { beginWrite(picture, job, rules) }
            finish(id, job.picture, isKept: true)
        case .decode:
            guard !scenario.sendsPages else { return finish(id, nil, isKept: false) }
            let replaces = job.picture.flatMap { bodies[$0]?.isNew } == true
            go(to: replaces ? .replace : rules.contains(.storesBeforeLeaving) ? .store : .end, in: &self)
        case .replace:
            guard let picture = job.picture else { return }
            guard bodies[picture]?.replacement != .done || !rules.contains(.replacesOnce) else {
                return go(to: .store, in: &self)
            }
            let removals = bodies[picture]?.removals ?? count
            guard count.beginReplacement(by: picture, since: removals) || !rules.contains(.newestReplaces) else {
                bodies[picture]?.replacement = .done
                return go(to: .store, in: &self)
            }
            bodies[picture]?.replacement = .running
            go(to: .removeOld, in: &self)
        case .removeOld:
            (memory, disk) = ([:], nil)
            go(to: .endReplacing, in: &self)
        case .endReplacing:
            guard let picture = job.picture, let body = bodies[picture] else { return }
            count.endReplacement()
            bodies[picture]?.replacement = .done
            let old = rules.contains(.replacesOnlyIfCurrent) ? body.removals : count
            if rules.contains(.storesKnowReplacement),
                let removals = count.afterReplacement(
                    by: rules.contains(.newestReplaces) ? picture : count.newest ?? 0, since: old)
            {
                bodies[picture]?.removals = removals
            }
            go(to: .store, in: &self)
        case .store, .storeLate:
            if let picture = job.picture, let body = bodies[picture] {
                if permitsStore(in: \.memory, since: body.removals, rules) {
                    memory[size] = picture
                }
                if rules.contains(.imageStores) { beginWrite(picture, job, rules) }
            }
            if job.step == .storeLate { jobs[id] = nil } else { go(to: .end, in: &self) }
        case .end:
            finish(id, job.picture, isKept: false)
            if !rules.contains(.storesBeforeLeaving) {
                jobs[id] = job
                go(to: .storeLate, in: &self)
            }
        }
    }

    private mutating func countRemoval(_ running: Int) {
        if running > 0 { count.memory.starts += 1 } else { count.memory.ends += 1 }
        count.disk = count.memory
    }

    private func permitsStore(
        in layer: WritableKeyPath<RemovalCount, RemovalCount.Layer>, since old: RemovalCount, _ rules: Set<Rule>
    ) -> Bool {
        guard rules.contains(.countAtStore) else { return true }
        var old = old
        if !rules.contains(.endsCount), old[keyPath: layer].starts == count[keyPath: layer].starts {
            old[keyPath: layer].ends = count[keyPath: layer].ends
        }
        return count.permitsStore(in: layer, since: old)
    }

    private mutating func remove(_ index: Int) {
        switch removers[index].step {
        case .begin:
            removers[index].last = transfers
            countRemoval(1)
            removers[index].step = .memory
        case .memory:
            memory = [:]
            removers[index].step = .disk
        case .disk:
            disk = nil
            removers[index].step = .end
        case .end:
            countRemoval(-1)
            removed = max(removed, removers[index].last)
            removers[index].step = .done
        case .done: break
        }
    }

    // MARK: The disk

    /// Puts the bytes of a source in the queue of the disk, once.
    private mutating func beginWrite(_ picture: Int, _ job: Job, _ rules: Set<Rule>) {
        guard let body = bodies[picture], !body.isWritten, !body.isFromDisk else { return }
        bodies[picture]?.isWritten = true
        let hold = 1_000 + picture
        if rules.contains(.bytesStayUntilWritten), case .image(_, let isReload, let count) = job.key {
            var effects = SharedWorkState<Key>.Effects()
            _ = machine.join(.fetch(isReload: isReload, count), as: hold, nil, by: nil, &effects)
        }
        writes.append(Write(picture: picture, removals: body.removals, hold: hold))
    }

    private mutating func write(_ rules: Set<Rule>) {
        let write = writes.removeFirst()
        if permitsStore(in: \.disk, since: write.removals, rules) { disk = write.picture }
        var effects = SharedWorkState<Key>.Effects()
        machine.leave(write.hold, &effects)
        perform(effects, nil)
    }

    // MARK: Effects

    private mutating func finish(_ id: Int, _ picture: Int?, isKept: Bool) {
        var effects = SharedWorkState<Key>.Effects()
        let layers: StoredLayers? = picture == nil || isKept ? nil : .all
        guard machine.finish(id, stored: layers, isKept: isKept, &effects) else {
            return failure = "not everything is stored"
        }
        jobs[id] = nil
        if isKept { kept[id] = picture }
        perform(effects, picture)
    }

    private mutating func perform(_ effects: SharedWorkState<Key>.Effects, _ picture: Int?) {
        for id in effects.ended { serve(id, picture) }
        for id in effects.removedJobs { kept[id] = nil }
    }

    private mutating func serve(_ id: Int, _ picture: Int?) {
        if id <= callers.count { return end(id - 1, picture) }
        jobs[id / 10]?.picture = picture
        jobs[id / 10]?.step = .decode
    }

    private mutating func end(_ index: Int, _ picture: Int?) {
        callers[index].state = .ended(picture)
        if let picture, picture <= callers[index].removed { failure = "caller \(index) got a removed picture" }
    }

    // MARK: What has to hold

    func failureAtRest(_ scenario: Scenario) -> String? {
        let pictures = callers.compactMap { caller in
            if case .ended(let picture) = caller.state { picture } else { nil }
        }
        guard callers.allSatisfy({ if case .ended = $0.state { true } else { false } }) else { return "a caller waits" }
        if machine != SharedWorkState() || !jobs.isEmpty || !kept.isEmpty { return "something is left in the table" }
        if let most = scenario.mostTransfers, transfers > most { return "\(transfers) transfers" }
        for picture in memory.values + [disk].compactMap({ $0 }) {
            if picture <= removed { return "a removed picture is back" }
            if scenario.sendsPages { return "a page that is no picture is cached" }
        }
        let refreshed = zip(scenario.callers, callers).compactMap { wish, caller -> Int? in
            if wish.isReload, case .ended(let picture) = caller.state { picture } else { nil }
        }
        if let newest = refreshed.max(),
            memory.values.contains(where: { $0 < newest }) || disk.map({ $0 < newest }) == true
        {
            return "a picture that was replaced is back"
        }
        if removers.isEmpty, !pictures.isEmpty, disk == nil {
            return "the original is lost"
        }
        let sizes = Set(scenario.callers.map(\.size))
        if removers.isEmpty, refreshed.isEmpty || Set(refreshed).count == 1 && refreshed.count == callers.count,
            !pictures.isEmpty, memory.count < sizes.count
        {
            return "an image is lost"
        }
        return nil
    }
}
