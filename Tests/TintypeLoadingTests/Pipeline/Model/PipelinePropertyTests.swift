import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// Random sequences of actions on a manager, compared with ``PipelineModel``: 25 of them, or the number in `MODEL_SEEDS`.
@Suite("The pipeline against a model", .timeLimited)
struct PipelinePropertyTests {
    static let seeds = 0..<(ProcessInfo.processInfo.environment["MODEL_SEEDS"].flatMap { Int($0) } ?? 25)
    static let stepCount = 60

    @Test(
        "Whatever happens to caches and sources, no load returns a wrong image or asks the source without need",
        .capability("MGR-15", "MGR-16", "MGR-17", "MGR-26", "MGR-31", "DLR-11", "OPT-03", "CRM-01"),
        arguments: seeds)
    func randomSequences(seed: Int) async throws {
        var sequence = try RandomSequence(seed: seed, isConcurrent: !seed.isMultiple(of: 2))
        for _ in 0..<Self.stepCount {
            guard try await sequence.step() else { return }
        }
    }
}

/// A random sequence of actions, and everything that the caches may contain after it.
struct RandomSequence {
    private enum Action: CustomStringConvertible {
        case load(Wish)
        case remove(Removal)

        var description: String {
            switch self {
            case .load(let wish): wish.description
            case .remove(let removal): removal.description
            }
        }
    }

    private let seed: Int
    /// True if most actions come in pairs.
    private let isConcurrent: Bool
    private var random: SeededRandom
    private var bench: PipelineBench
    /// The possible contents of the caches. There is more than one after actions that raced.
    private var caches: Set<Caches> = [Caches()]
    private var history: [String] = []
    /// The sources with an original on disk that can't be decoded, as far as the test knows.
    private var undecodable: Set<Int> = []
    /// The pictures of recent loads. What the caches have may depend on the threads, these don't.
    private var recent: [ModelPicture] = [ModelPicture()]

    init(seed: Int, isConcurrent: Bool) throws {
        self.seed = seed
        self.isConcurrent = isConcurrent
        random = SeededRandom(seed: UInt64(seed))
        bench = try PipelineBench()
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Does something at random.
    /// - Returns: false if something was wrong, which is then recorded.
    mutating func step() async throws -> Bool {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<4:
            history.append("restart")
            bench = await bench.restarted()
            change { ($0.memory, $0.arriving) = ([:], []) }
        case 4..<9:
            let picture = recentPicture()
            let damage = PipelineBench.Damage.allCases.randomElement(using: &random)!
            history.append("damage \(damage): \(picture)")
            try await bench.damage(picture, damage)
            if damage == .undecodable { undecodable.insert(picture.source) }
            change { ($0.disk[picture], $0.arriving) = (nil, []) }
        case 9..<15:
            let source = Int.random(in: 0..<ModelPicture.sourceCount, using: &random)
            history.append("new version of \(source)")
            bench.loader.change { $0.versions[source] += 1 }
        case 15..<18:
            history.append("sources go down or up")
            bench.loader.change { $0.areDown.toggle() }
        default:
            var actions = [action()]
            if isConcurrent, chance(70) { actions.append(action(besides: actions[0])) }
            if chance(80) {
                await bench.manager.flush()
                change { $0.arriving = [] }
            }
            return await perform(actions)
        }
        return true
    }

    private mutating func change(_ body: (inout Caches) -> Void) {
        caches = Set(
            caches.map { caches in
                var caches = caches
                body(&caches)
                return caches
            })
    }

    // MARK: Actions

    private mutating func perform(_ actions: [Action]) async -> Bool {
        history.append(actions.map(\.description).joined(separator: "\n     and "))
        let before = bench.loader.requests
        bench.loader.setPauses(Int.random(in: 0..<20, using: &random))
        let delays = actions.map { _ in Int.random(in: 0..<20, using: &random) }
        let answers = await withTaskGroup(of: (Int, Answer).self) { [bench] group in
            for (index, action) in actions.enumerated() {
                group.addTask {
                    for _ in 0..<delays[index] { await Task.yield() }
                    switch action {
                    case .load(let wish): return (index, await bench.load(wish))
                    case .remove(let removal):
                        await bench.remove(removal)
                        return (index, Answer())
                    }
                }
            }
            var answers = [Answer](repeating: Answer(), count: actions.count)
            for await (index, answer) in group { answers[index] = answer }
            return answers
        }
        return check(actions, answers, requests: bench.loader.requests - before)
    }

    private mutating func check(_ actions: [Action], _ answers: [Answer], requests: Int) -> Bool {
        history.append("  gave \(answers), \(requests) requests")
        var possible: Set<PipelineModel.End> = []
        for caches in caches {
            var model = PipelineModel(caches, bench.loader.sources)
            for action in actions {
                switch action {
                case .load(let wish): model.begin(wish)
                case .remove(let removal): model.begin(removal)
                }
            }
            possible.formUnion(model.ends())
        }
        // The source is asked about the damaged bytes first, and then for new ones; or by two loads that found them, one after another.
        let mayAskTwice = actions.contains { action in
            guard case .load(let wish) = action, undecodable.contains(wish.picture.source) else { return false }
            return wish.policy == .revalidate || actions.count > 1
        }
        let matching = possible.filter {
            $0.answers == answers && ($0.requests == requests || mayAskTwice && $0.requests + 1 == requests)
        }
        let complaints = bench.takeComplaints()
        guard matching.isEmpty || !complaints.isEmpty else {
            caches = Set(matching.map(\.caches))
            return true
        }
        let expected = Set(possible.map { "\($0.answers), \($0.requests) requests" })
        Issue.record(
            """
            Seed \(seed), step \(history.count): \(complaints.isEmpty ? "the result is none that there may be" : "\(complaints)")
            Expected: \(expected.sorted().joined(separator: "\n      or: "))
            Caches before: \(caches.map(\.description).joined(separator: "\n           or: "))
            Source: \(bench.loader.sources)
            \(history.suffix(24).joined(separator: "\n"))
            """)
        return false
    }

    // MARK: Random values

    private mutating func picture() -> ModelPicture {
        var picture = ModelPicture(source: Int.random(in: 0..<ModelPicture.sourceCount, using: &random))
        if chance(60) { picture.shape = ModelPicture.Shape.allCases.randomElement(using: &random)! }
        picture.firstFrameOnly = chance(15)
        if picture.shape == .limited, picture.isAnimated { picture.shape = .full }
        picture.isFast = picture.shape != .full && chance(10)
        picture.keepsColorSpace = chance(5)
        picture.isDoubleScale = chance(10)
        if chance(30) {
            picture.transformers = [[1], [1, 2], [2, 1]].randomElement(using: &random)!
            picture.transformsFrames = chance(50)
        }
        return picture
    }

    private mutating func wish() -> Wish {
        var wish = Wish(picture: picture())
        wish.policy = [.cacheOnly, .reload, .revalidate, .revalidate].randomElement(using: &random)!
        if chance(60) { wish.policy = .cacheFirst }
        wish.queryFrom = chance(75) ? .all : [.memory, .disk, .disk, []].randomElement(using: &random)!
        wish.storeTo = chance(75) ? .all : [.memory, .disk, []].randomElement(using: &random)!
        wish.storesVariant = chance(40)
        wish.picture.isLowQuality = wish.storesVariant && !wish.picture.isOriginal && chance(10)
        wish.requiresAnimation = !isConcurrent && chance(5)
        wish.queriesMemoryData = chance(10)
        wish.token = chance(15) ? 1 : 0
        if chance(10) { wish = Wish(picture: wish.picture.original, policy: wish.policy, wantsData: true) }
        recent = recent.suffix(5) + [wish.picture]
        return wish
    }

    /// A picture that is likely to be on disk.
    private mutating func recentPicture() -> ModelPicture {
        let picture = recent.randomElement(using: &random)!
        return chance(60) ? picture.original : picture
    }

    private mutating func removal() -> Removal {
        let extents: [Removal.Extent] = [
            .picture(chance(70) ? recentPicture() : picture()), .source(Int.random(in: 0..<3, using: &random)),
            .everything,
        ]
        let layers: [CacheLayers] = [.all, .all, .memory, .disk]
        return Removal(
            extent: extents.randomElement(using: &random)!, layers: layers.randomElement(using: &random)!)
    }

    private mutating func action() -> Action { chance(85) ? .load(wish()) : .remove(removal()) }

    /// An action that is likely to meet another one.
    private mutating func action(besides first: Action) -> Action {
        guard case .load(var other) = first else { return .load(wish()) }
        guard chance(80) else { return .remove(removal()) }
        if chance(60) {
            let equal = other
            other = wish()
            other.picture.source = equal.picture.source
            if other.picture.shape == .limited { other.picture.shape = .box }
            if chance(50) { other.picture = equal.picture }
            if other.wantsData { other.picture = other.picture.original }
            other.picture.isLowQuality = false
        }
        return .load(other)
    }
}
