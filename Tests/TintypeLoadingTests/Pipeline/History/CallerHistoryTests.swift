import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// Up to four callers at a time, of two users, who load and remove what they like: 25 random runs, or the number in `MODEL_SEEDS`.
@Suite("What callers see", .timeLimited)
struct CallerHistoryTests {
    private static let stepCount = 60

    @Test(
        "Nobody sees a wrong picture, another user's, or a removed one, and no store is lost",
        .capability("MGR-15", "MGR-26", "MGR-43", "CRM-01", "OPT-03", "3.12"), arguments: PipelinePropertyTests.seeds)
    func randomRuns(seed: Int) async throws {
        var run = try RandomCallers(seed: seed)
        for _ in 0..<Self.stepCount {
            let history = try await run.step()
            let found = history.violations + run.bench.takeComplaints()
            guard found.isEmpty else {
                let events = history.loads.map { ($0.begin, "\($0)") } + history.removals.map { ($0.begin, "\($0)") }
                Issue.record(
                    """
                    Seed \(seed): \(found.joined(separator: "\n"))
                    \(events.sorted { $0.0 < $1.0 }.map(\.1).joined(separator: "\n"))
                    \(history.server.statements.suffix(12).map { "\($0)" }.joined(separator: "\n"))
                    """)
                return
            }
        }
    }
}

/// Random steps of callers, servers, clocks, and disks.
struct RandomCallers {
    private enum Action: Sendable {
        case load(CallerHistory.Load)
        case remove(CallerHistory.Removal)
    }

    private var random: SeededRandom
    private(set) var bench: CallerBench
    private var contents: [CallerHistory.Slot: Int] = [:]

    init(seed: Int) throws {
        random = SeededRandom(seed: UInt64(seed))
        bench = try CallerBench()
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func one<T>(of choices: T...) -> T { choices[Int.random(in: 0..<choices.count, using: &random)] }
    private mutating func source() -> Int { Int.random(in: 0..<NumberedServer.sourceCount, using: &random) }

    mutating func step() async throws -> CallerHistory {
        try await changeTheWorld()
        let hot = source()
        let callers = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            (0..<one(of: 1, 1, 2, 3)).map { _ in (wait: Int.random(in: 0..<20, using: &random), action(hot)) }
        }
        let (bench, server) = (bench, bench.server)
        let (before, start) = (contents, server.tick())
        var history = CallerHistory(before: before, start: start, server: server.now, now: server.clock.date)
        try await withThrowingTaskGroup(of: CallerHistory.Events.self) { group in
            for caller in callers {
                group.addTask {
                    var events = CallerHistory.Events()
                    for (wait, action) in caller {
                        for _ in 0..<wait { await Task.yield() }
                        let begin = server.tick()
                        switch action {
                        case .load(let load):
                            let outcome = await bench.load(load)
                            events.loads.append(.init(action: load, outcome: outcome, begin: begin, end: server.tick()))
                        case .remove(let removal):
                            try await bench.remove(removal)
                            events.removals.append(.init(action: removal, begin: begin, end: server.tick()))
                        }
                    }
                    return events
                }
            }
            for try await events in group { history.add(events) }
        }
        contents = await bench.contents(since: before)
        (history.after, history.server) = (contents, server.now)
        return history
    }

    /// What happens between the steps, when nobody loads.
    private mutating func changeTheWorld() async throws {
        let source = source()
        let (pauses, isDown) = (Int.random(in: 0..<20, using: &random), chance(8))
        var rules = bench.server.now.rules[source]
        if chance(20) { rules = .init(noStore: chance(30), maxAge: one(of: 0, 60, 3_600), varies: chance(40)) }
        let hasChanged = chance(25)
        bench.server.change { state in
            (state.pauses, state.isDown, state.rules[source]) = (pauses, isDown, rules)
            if hasChanged { state.firstCurrent[source] = state.last + 1 }
        }
        if chance(20) { bench.server.clock.advance(.seconds(one(of: 1, 90, 4_000))) }
        if chance(5) {
            bench = await bench.restarted(serializes: chance(50))
            contents = contents.filter { $0.key.layer == .disk }
        }
        if chance(10) {
            let picture = CallerHistory.Picture(source: source, shape: one(of: .full, .full, .small, .marked))
            try await bench.damage(picture, one(of: .oneByte, .cut, .missing))
            contents[.init(picture: picture, layer: .disk)] = nil
        }
    }

    private mutating func action(_ hot: Int) -> Action {
        let source = chance(80) ? hot : source()
        guard chance(85) else {
            var removal = CallerHistory.Removal(layers: one(of: .all, .all, .memory, .disk))
            if chance(90) { removal.source = source }
            if removal.source != nil, chance(30) { removal.shape = one(of: .full, .small, .marked) }
            return .remove(removal)
        }
        var load = CallerHistory.Load(picture: .init(source: source))
        if chance(50) { load.picture.shape = one(of: .small, .marked) }
        load.wantsBytes = load.picture.shape == .full && chance(15)
        load.user = chance(70) ? "anna" : "bert"
        load.language = chance(80) ? "de" : "en"
        if chance(45) { load.policy = one(of: .http, .http, .revalidate, .reload, .staleWhileRevalidate, .cacheOnly) }
        if chance(20) { load.queries = one(of: .memory, .disk, []) }
        if chance(20) { load.stores = one(of: .memory, .disk, []) }
        load.storesVariant = chance(40)
        if chance(15) { load.patience = Int.random(in: 0..<60, using: &random) }
        return .load(load)
    }
}
