@testable import TintypeImages
@testable import TintypeLoading

/// A model of loads around the real ``SharedWorkState``: callers, image jobs, fetch jobs, memory, disk, and a server whose picture
/// changes. Each step is what one lock protects.
struct SharedWorkModel: ExploredModel {
    private enum Step: Hashable { case look, ask, wait, decide, store, end, readDisk, send, receive, nested }

    private struct Caller: Hashable {
        enum State: Hashable { case new, missed, waiting, ended(Outcome), left }
        var state = State.new
        var versionAtBegin = 0
        var priority: ImagePriority
    }

    private struct Job: Hashable {
        let request: Int
        let key: Key
        var step: Step
        var outcome: Outcome?
        var isCancelled = false
        var stored: StoredLayers = []
        var wishesAtBegin: StoredLayers = []
        var asks = 0
    }

    private typealias ID = Int
    private var machine = SharedWorkState<Key>()
    private var callers: [Caller]
    private var jobs: [ID: Job] = [:]
    private var kept: [ID: Outcome] = [:]
    /// Callers that joined a cancelled job: only without a rule.
    private var strays: [ID: ID] = [:]
    private var memory: [Int: Picture] = [:]
    private var disk: Picture?
    private var server = 0
    private var transfers = 0
    private(set) var failure: String?

    init(_ scenario: Scenario) { callers = scenario.requests.map { Caller(priority: $0.priority) } }

    // MARK: Keys

    private func answer(_ request: Request, _ rules: Set<Rule>) -> Answer {
        Answer(
            user: rules.contains(.userInKey) ? request.user : nil,
            policy: rules.contains(.policyInKey) ? request.policy : nil, isReload: request.policy == .reload,
            retriesFailed: rules.contains(.retriesInKey) ? request.retriesFailed : nil,
            isExpired: rules.contains(.urlInKey) ? request.isExpired : nil)
    }

    // MARK: Steps

    func next(_ scenario: Scenario, without rule: Rule?) -> [(step: String, state: SharedWorkModel, isNecessary: Bool)]
    {
        var rules = Set(Rule.allCases)
        if let rule { rules.remove(rule) }
        var next: [(String, SharedWorkModel, Bool)] = []
        func add(_ step: @autoclosure () -> String, isNecessary: Bool = true, _ change: (inout SharedWorkModel) -> Void)
        {
            var state = self
            change(&state)
            if state.failure == nil { state.check(scenario) }
            next.append((step(), state, isNecessary))
        }
        for (index, caller) in callers.enumerated() {
            let request = scenario.requests[index]
            switch caller.state {
            case .new: add("caller \(index) looks into memory") { $0.look(index, request) }
            case .missed: add("caller \(index) joins") { $0.join(index, request, rules) }
            case .waiting:
                if request.mayCancel {
                    add("caller \(index) is cancelled", isNecessary: false) { $0.cancel(index, rules) }
                }
                if let later = request.laterPriority, caller.priority != later {
                    add("caller \(index) changes its priority", isNecessary: false) { $0.change(index, request, later) }
                }
            case .ended, .left: break
            }
        }
        for (id, job) in jobs where job.step != .wait || job.isCancelled {
            add("job \(id) \(job.key): \(job.isCancelled ? "unwinds" : "\(job.step)")") {
                $0.run(id, job, scenario, rules)
            }
        }
        if scenario.serverChanges, server == 0 { add("the picture changes", isNecessary: false) { $0.server = 1 } }
        return next
    }

    private mutating func look(_ index: Int, _ request: Request) {
        callers[index].versionAtBegin = server
        if !request.wantsBytes, request.policy != .reload, let picture = memory[request.size],
            picture.user == request.user
        {
            end(index, .picture(picture))
        } else {
            callers[index].state = .missed
        }
    }

    private mutating func join(_ index: Int, _ request: Request, _ rules: Set<Rule>) {
        callers[index].state = .waiting
        let answer = answer(request, rules)
        let key = request.wantsBytes ? Key.fetch(answer) : .image(size: request.size, answer)
        join(key, as: index + 1, wishes(of: index, request), by: nil, index, rules)
    }

    private mutating func join(
        _ key: Key, as id: ID, _ wishes: LoadWishes?, by asking: ID?, _ request: Int, _ rules: Set<Rule>
    ) {
        if !rules.contains(.leavesTheTable), let dying = jobs.first(where: { $1.key == key && $1.isCancelled })?.key {
            return strays[id] = dying
        }
        var effects = SharedWorkState<Key>.Effects()
        let join = machine.join(key, as: id, wishes, by: asking, &effects)
        perform(effects, nil, rules)
        switch join {
        case .wait(id):
            var job = Job(request: request, key: key, step: .readDisk)
            if case .image = key { job.step = .look }
            job.wishesAtBegin = machine.wishes(of: id).layers
            jobs[id] = job
        case .wait: break
        case .ready(let job): if let outcome = kept[job] { serve(id, outcome) }
        case .refuse: serve(id, .cancelled)
        case .cycle: serve(id, .waitsForItself)
        }
    }

    private mutating func cancel(_ index: Int, _ rules: Set<Rule>) {
        callers[index].state = .left
        leave(index + 1, rules)
    }

    private mutating func leave(_ id: ID, _ rules: Set<Rule>) {
        var effects = SharedWorkState<Key>.Effects()
        if !rules.contains(.leavesItsNeed), machine.waiters(of: id) == [id], jobs[id]?.step == .wait,
            let need = jobs.first(where: { machine.waiters(of: $0.key).contains(10 * id + 1) })?.value.key
        {
            _ = machine.join(need, as: 1_000 + id, LoadWishes(priority: .veryLow), by: nil, &effects)
        }
        machine.leave(id, &effects)
        perform(effects, nil, rules)
    }

    private func wishes(of index: Int, _ request: Request) -> LoadWishes {
        LoadWishes(priority: callers[index].priority, previews: request.previews, layers: request.layers)
    }

    private mutating func change(_ index: Int, _ request: Request, _ priority: ImagePriority) {
        callers[index].priority = priority
        var effects = SharedWorkState<Key>.Effects()
        machine.setWishes(of: index + 1, to: wishes(of: index, request), &effects)
    }

    private mutating func run(_ id: ID, _ job: Job, _ scenario: Scenario, _ rules: Set<Rule>) {
        guard !job.isCancelled else {
            finish(id, .cancelled, stored: nil, isKept: false, rules)
            return
        }
        let request = scenario.requests[job.request]
        switch job.step {
        case .look:
            if request.policy != .reload, let picture = memory[request.size], picture.user == request.user {
                finish(id, .picture(picture), stored: .all, isKept: false, rules)
            } else if !rules.contains(.fetchReadsDisk), request.policy != .reload, let disk, disk.user == request.user {
                jobs[id]?.outcome = .picture(disk)
                jobs[id]?.step = .decide
            } else {
                jobs[id]?.step = .ask
            }
        case .ask:
            jobs[id]?.step = .wait
            jobs[id]?.asks += 1
            join(.fetch(answer(request, rules)), as: 10 * id + 1, nil, by: id, job.request, rules)
        case .wait: break
        case .decide:
            guard let outcome = job.outcome, case .picture = outcome else {
                finish(id, job.outcome ?? .cancelled, stored: nil, isKept: false, rules)
                return
            }
            end(id, job, rules)
        case .store, .end: end(id, job, rules)
        case .readDisk:
            if request.policy != .reload, rules.contains(.fetchReadsDisk), let disk, disk.user == request.user {
                jobs[id]?.outcome = .picture(disk)
                jobs[id]?.step = .receive
            } else if request.policy == .cacheOnly {
                finish(id, .notCached, stored: nil, isKept: false, rules)
            } else if scenario.hasFailed, !request.retriesFailed {
                finish(id, .recentlyFailed, stored: nil, isKept: false, rules)
            } else {
                jobs[id]?.step = scenario.loaderAsksItself ? .nested : .send
            }
        case .nested:
            jobs[id]?.step = .wait
            let key = Key.image(size: request.size, answer(request, rules))
            join(key, as: 500 + id, LoadWishes(), by: rules.contains(.waitsAreChecked) ? id : nil, job.request, rules)
        case .send:
            if request.policy == .reload, rules.contains(.reloadsClose) { machine.close(id) }
            transfers += 1
            jobs[id]?.outcome = request.isExpired ? .forbidden : .picture(Picture(user: request.user, version: server))
            jobs[id]?.step = .receive
        case .receive:
            let isPicture = if case .picture = job.outcome { true } else { false }
            finish(
                id, job.outcome ?? .cancelled, stored: nil, isKept: isPicture && rules.contains(.endedFetchStays), rules
            )
        }
    }

    /// Stores what somebody wants, and ends in a later step.
    private mutating func end(_ id: ID, _ job: Job, _ rules: Set<Rule>) {
        guard case .picture(let picture) = job.outcome else { return }
        if job.step == .end {
            let stored = rules.isSuperset(of: [.endingIsOneStep, .wishesAreLive]) ? job.stored : .all
            if !finish(id, .picture(picture), stored: stored, isKept: false, rules) { jobs[id]?.step = .store }
            return
        }
        let wanted = rules.contains(.wishesAreLive) ? machine.wishes(of: id).layers : job.wishesAtBegin
        if wanted.contains(.imageInMemory), case .image(let size, _) = job.key { memory[size] = picture }
        if wanted.contains(.originalOnDisk) { disk = picture }
        jobs[id]?.stored.formUnion(wanted)
        jobs[id]?.step = .end
    }

    // MARK: Effects

    @discardableResult private mutating func finish(
        _ id: ID, _ outcome: Outcome, stored: StoredLayers?, isKept: Bool, _ rules: Set<Rule>
    ) -> Bool {
        var effects = SharedWorkState<Key>.Effects()
        guard machine.finish(id, stored: stored, isKept: isKept, &effects) else { return false }
        jobs[id] = nil
        if isKept { kept[id] = outcome }
        perform(effects, outcome, rules)
        for (stray, job) in strays where job == id {
            strays[stray] = nil
            serve(stray, outcome)
        }
        if !rules.contains(.leavesItsNeed) { leave(1_000 + id, rules) }
        return true
    }

    private mutating func perform(_ effects: SharedWorkState<Key>.Effects, _ outcome: Outcome?, _ rules: Set<Rule>) {
        for id in effects.ended { serve(id, outcome ?? .cancelled) }
        for id in effects.removedJobs {
            kept[id] = nil
            jobs[id]?.isCancelled = true
            if !rules.contains(.ownTasks) { jobs[10 * id + 1]?.isCancelled = true }
        }
    }

    private mutating func serve(_ id: ID, _ outcome: Outcome) {
        if id <= callers.count { return end(id - 1, outcome) }
        let job = id >= 500 ? id - 500 : id / 10
        guard jobs[job]?.isCancelled == false else { return }
        // The loader gets an error where it asks for its own image, and its load fails with that.
        jobs[job]?.outcome = outcome
        jobs[job]?.step = id >= 500 ? .receive : .decide
    }

    private mutating func end(_ index: Int, _ outcome: Outcome) {
        switch callers[index].state {
        case .left: return
        case .ended: failure = "caller \(index) got two ends"
        case .new, .missed, .waiting: callers[index].state = .ended(outcome)
        }
    }

    // MARK: What has to hold

    private mutating func check(_ scenario: Scenario) {
        for (index, caller) in callers.enumerated() {
            guard case .ended(let outcome) = caller.state else { continue }
            let request = scenario.requests[index]
            switch outcome {
            case .picture(let picture):
                if picture.user != request.user { failure = "\(request.user) got the picture of \(picture.user)" }
                if request.policy == .reload, picture.version < caller.versionAtBegin {
                    failure = "a reload got the picture from before it began"
                }
                if request.layers.contains(.originalOnDisk), disk == nil {
                    failure = "a caller's original isn't on disk"
                }
                if request.layers.contains(.imageInMemory), memory[request.size] == nil {
                    failure = "a caller's image isn't in memory"
                }
            case .cancelled: failure = "caller \(index) got somebody's cancellation"
            case .notCached: if request.policy != .cacheOnly { failure = "caller \(index) got somebody's notCached" }
            case .recentlyFailed: if request.retriesFailed { failure = "caller \(index) asked to retry, and didn't" }
            case .forbidden: if !request.isExpired { failure = "caller \(index) got the 403 of an expired URL" }
            case .waitsForItself: if !scenario.loaderAsksItself { failure = "caller \(index) waits for itself" }
            }
        }
        for (id, job) in jobs where !job.isCancelled {
            if !isWanted(id) { failure = "job \(id) runs for nobody" }
            let wishes = machine.wishes(of: id)
            if !machine.waiters(of: id).isEmpty, wishes != union(id, scenario) {
                failure = "job \(id) has the wishes \(wishes)"
            }
        }
    }

    /// True if a caller waits for a job, or for one that needs it.
    private func isWanted(_ id: ID) -> Bool {
        machine.waiters(of: id).contains { waiter in
            if waiter <= callers.count { return true }
            if waiter >= 500 { return jobs[waiter - 500]?.isCancelled == false }
            return isWanted(waiter / 10)
        }
    }

    private func union(_ id: ID, _ scenario: Scenario) -> LoadWishes {
        var sum = LoadWishes(priority: .veryLow)
        for waiter in machine.waiters(of: id) where waiter < 1_000 {
            var wishes = LoadWishes()
            if waiter <= callers.count {
                wishes = self.wishes(of: waiter - 1, scenario.requests[waiter - 1])
            } else if waiter < 500 {
                wishes = union(waiter / 10, scenario).ofNeed
            }
            sum.priority = max(sum.priority, wishes.priority)
            sum.previews = sum.previews || wishes.previews
            sum.layers.formUnion(wishes.layers)
        }
        return sum
    }

    func failureAtRest(_ scenario: Scenario) -> String? {
        for (index, caller) in callers.enumerated() {
            switch caller.state {
            case .new, .missed, .waiting: return "caller \(index) waits for ever"
            case .ended, .left: break
            }
        }
        if machine != SharedWorkState() || !jobs.isEmpty || !kept.isEmpty { return "something is left in the table" }
        let areWhole = callers.allSatisfy { $0.state != .left }
        if areWhole, let most = scenario.mostTransfers, transfers > most { return "\(transfers) transfers" }
        return nil
    }
}

extension StoredLayers {
    static let all: StoredLayers = [.imageInMemory, .imageOnDisk, .originalInMemory, .originalOnDisk]
}
