import Foundation

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// What several callers of a manager did at the same time and what they got, with the contents of the caches before and after it.
///
/// It knows nothing of how a load works: only what the server said to whom, and what was removed in between. From that follows which pictures
/// may be seen, and which must be cached.
struct CallerHistory {
    enum Shape: CaseIterable { case full, small, marked }

    struct Picture: Hashable, Sendable {
        var source: Int
        var shape = Shape.full
    }

    struct Load: Sendable {
        var picture: Picture
        /// True for the bytes of the source instead of a picture.
        var wantsBytes = false
        var user = "anna"
        var language = "de"
        var policy = CachePolicy.cacheFirst
        var queries = CacheLayers.all
        var stores = CacheLayers.all
        var storesVariant = false
        /// The number of suspensions after which the caller gives up; `nil` if it doesn't.
        var patience: Int?

        var isReload: Bool { policy == .reload || queries.isEmpty }
        /// True if the caches may ask for newer bytes, which replace the old ones.
        var mayRefresh: Bool {
            isReload || !queries.contains(.disk) || ![.cacheFirst, .cacheOnly].contains(policy)
        }

        func wishes(_ slot: Slot) -> Bool {
            guard stores.contains(slot.layer) else { return false }
            if slot == Slot(picture: Picture(source: picture.source), layer: .disk) { return true }
            return slot.picture == picture && !wantsBytes && (slot.layer == .memory || storesVariant)
        }
    }

    struct Removal: Sendable {
        /// `nil` for all of them.
        var source: Int?
        var shape: Shape?
        var layers = CacheLayers.all

        func concerns(_ slot: Slot) -> Bool {
            layers.contains(slot.layer) && (source == nil || source == slot.picture.source)
                && (shape == nil || shape == slot.picture.shape)
        }

        /// True if nothing is left of which a later load could make a picture without asking the source.
        var isFinal: Bool { shape == nil && layers == .all }

        /// True if it may cost the store of a load: it removes something of the same source from the same layer. The new bytes of a refresh
        /// replace the old ones everywhere, or nowhere.
        func mayCost(_ load: Load, _ slot: Slot) -> Bool {
            (load.mayRefresh || layers.contains(slot.layer)) && (source == nil || source == slot.picture.source)
        }
    }

    /// A place for one picture.
    struct Slot: Hashable, Sendable {
        var picture: Picture
        var layer: CacheLayers

        static let all = (0..<NumberedServer.sourceCount).flatMap { source in
            Shape.allCases.flatMap { shape in
                [CacheLayers.memory, .disk].map { Slot(picture: Picture(source: source, shape: shape), layer: $0) }
            }
        }
    }

    struct Event<Action: Sendable>: Sendable {
        var action: Action
        var outcome = Outcome.ended
        var begin: Int
        var end: Int
    }

    enum Outcome: Sendable {
        case picture(Int, ImageOrigin, Answer.Freshness)
        case failure(ImageError.Code)
        case ended
    }

    struct Events: Sendable {
        var loads: [Event<Load>] = []
        var removals: [Event<Removal>] = []
    }

    private(set) var loads: [Event<Load>] = []
    private(set) var removals: [Event<Removal>] = []
    /// The numbers of the pictures that the caches have.
    let before: [Slot: Int]
    var after: [Slot: Int] = [:]
    /// The tick at the beginning.
    let start: Int
    var server: NumberedServer.State
    let now: Date

    init(before: [Slot: Int], start: Int, server: NumberedServer.State, now: Date) {
        (self.before, self.start, self.server, self.now) = (before, start, server, now)
    }

    mutating func add(_ events: Events) {
        loads += events.loads
        removals += events.removals
    }

    // MARK: What has to hold

    var violations: [String] { loads.flatMap { violations(of: $0) } + Slot.all.flatMap { violations(in: $0) } }

    private func statements(_ number: Int) -> [NumberedServer.Statement] {
        server.statements.filter { $0.number == number }
    }

    /// The tick at which a picture was asked for.
    private func asked(_ number: Int) -> Int { statements(number).first?.asked ?? 0 }

    private func violations(of event: Event<Load>) -> [String] {
        let load = event.action
        var found: [String] = []
        func check(_ isRight: Bool, _ message: String) { if !isRight { found.append("\(message): \(event)") } }
        switch event.outcome {
        case .failure(.cancelled): check(load.patience != nil, "cancelled by others")
        case .failure(.connectionFailed): check(server.isDown && load.policy != .cacheOnly, "a failure of nothing")
        case .failure(.notCached): check(load.policy == .cacheOnly && !mustBeCached(load), "not cached")
        case .failure, .ended: check(false, "a wrong end")
        case .picture(let number, let source, let freshness):
            let statements = statements(number)
            check(statements.contains { $0.isFor(load) }, "somebody else's picture")
            let isNews = statements.contains { $0.asked > start }
            let wasCached = before.contains { $0.key.picture.source == load.picture.source && $0.value == number }
            check(isNews || wasCached, "a picture from nowhere")
            check(
                !load.isReload || asked(number) > event.begin || freshness == .stale,
                "a reload got what was sent before it")
            for removal in removals
            where removal.end < event.begin && removal.action.shape == nil && removal.action.layers == .all
                && [nil, load.picture.source].contains(removal.action.source)
            {
                check(asked(number) > removal.begin, "a removed picture came back")
            }
            switch freshness {
            case .fresh, .notModified: check(isNews, "not asked for")
            case .stale: check(server.isDown || load.policy == .staleWhileRevalidate, "stale without need")
            case .cached:
                guard load.policy == .http else { break }
                let isFresh = statements.contains {
                    !$0.rules.noStore && now < $0.date.addingTimeInterval(Double($0.rules.maxAge))
                }
                check(isFresh, "neither fresh nor asked for")
            }
            check(source != .network || !mustBeCached(load), "asked for without need")
        }
        return found
    }

    /// True if the caches had the picture of a load, and nothing happened beside it that could change that.
    private func mustBeCached(_ load: Load) -> Bool {
        let others = loads.map(\.action).filter { $0.picture.source == load.picture.source }
        guard removals.isEmpty, !load.mayRefresh, load.queries == .all,
            others.allSatisfy({ !$0.mayRefresh && $0.user == load.user && $0.language == load.language })
        else { return false }
        let slots = Slot.all.filter { slot in
            slot.layer == .memory && slot.picture == load.picture && !load.wantsBytes
                || slot == Slot(picture: Picture(source: load.picture.source), layer: .disk)
        }
        return slots.contains { before[$0].map { statements($0).allSatisfy { $0.isFor(load) } } ?? false }
    }

    private func violations(in slot: Slot) -> [String] {
        let (old, new) = (before[slot], after[slot])
        var found: [String] = []
        func check(_ isRight: Bool, _ message: String) {
            if !isRight { found.append("\(message): \(slot) had \(old ?? 0), and has \(new ?? 0)") }
        }
        let refreshes = loads.filter { $0.action.mayRefresh && $0.action.picture.source == slot.picture.source }
        if let new, new != old {
            check(loads.contains { mayHaveStored($0, new, slot) }, "nobody may have stored this")
        }
        for removal in removals where removal.action.concerns(slot) {
            guard let new, asked(new) < removal.begin else { continue }
            check(
                !removal.action.isFinal
                    && loads.contains { $0.end > removal.begin && mayHaveStored($0, new, slot) && !isFromSource($0) },
                "a removed picture is cached")
        }
        if old != nil, new == nil {
            check(!refreshes.isEmpty || removals.contains { $0.action.concerns(slot) }, "a picture was lost")
        }
        for load in loads where mustHaveStored(load, slot) {
            let isOvertaken =
                removals.contains { $0.action.mayCost(load.action, slot) && $0.end > load.begin }
                || refreshes.contains { $0.begin != load.begin }
            guard !isOvertaken else { continue }
            let isThere = new.map { new in loads.contains { mayHaveStored($0, new, slot) } } ?? false
            check(isThere, "the store of \(load) was lost")
        }
        return found
    }

    private func isFromSource(_ event: Event<Load>) -> Bool {
        if case .picture(_, .network, _) = event.outcome { true } else { false }
    }

    /// True if a picture may be in the caches because of a load: its result, what it had asked for when its caller left, or the answer to its
    /// question in the background.
    private func mayHaveStored(_ event: Event<Load>, _ number: Int, _ slot: Slot) -> Bool {
        let (load, statements) = (event.action, statements(number))
        guard load.wishes(slot), statements.contains(where: { $0.isFor(load) }),
            !load.policy.obeysStorageRules || statements.contains(where: { !$0.rules.noStore })
        else { return false }
        return switch event.outcome {
        case .picture(let result, _, let freshness): result == number || freshness == .stale
        case .failure(let code): code == .cancelled
        case .ended: false
        }
    }

    /// True if the caches have to have the picture of a load, unless something came between.
    private func mustHaveStored(_ event: Event<Load>, _ slot: Slot) -> Bool {
        guard case .picture(let number, let source, let freshness) = event.outcome, event.action.wishes(slot),
            freshness != .stale,
            !event.action.policy.obeysStorageRules || statements(number).allSatisfy({ !$0.rules.noStore })
        else { return false }
        // What comes from a cache is stored only in the layers above it.
        if slot.layer == .memory { return true }
        return slot.picture.shape == .full ? source == .network : source != .memory
    }
}
