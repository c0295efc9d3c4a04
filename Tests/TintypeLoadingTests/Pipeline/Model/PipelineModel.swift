@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A load of a picture, or of the bytes of its source.
struct Wish: Hashable {
    var picture = ModelPicture()
    var policy = CachePolicy.cacheFirst
    var queryFrom = CacheLayers.all
    var storeTo = CacheLayers.all
    var storesVariant = false
    var requiresAnimation = false
    var queriesMemoryData = false
    /// A header field: loads with different ones share no transfer.
    var token = 0
    /// True for a load of the bytes alone.
    var wantsData = false

    var asksCaches: Bool { policy == .cacheFirst || policy == .cacheOnly }
    var refreshes: Bool { policy == .reload || policy == .revalidate || (queryFrom.isEmpty && policy != .cacheOnly) }
    var asksDisk: Bool { queryFrom.contains(.disk) && policy != .reload }
    /// True if the image is accepted.
    var acceptsImage: Bool { wantsData || !requiresAnimation || picture.isAnimated }
    /// The picture in memory whose first frame is this one.
    var animation: ModelPicture {
        guard picture.firstFrameOnly, picture.transformers.isEmpty, picture.shape != .limited else { return picture }
        var whole = picture
        (whole.firstFrameOnly, whole.isLowQuality) = (false, false)
        return whole
    }
}

/// The result of a load, as far as it depends on the caches and the source.
struct Answer: Hashable {
    enum Freshness: Hashable { case cached, fresh, notModified, stale }

    /// The version of the image, or of the bytes for a load of bytes.
    var version: Int?
    var source: ImageOrigin?
    var freshness = Freshness.cached
    /// The version of the source's bytes in the result.
    var bytes: Int?
    var error: ImageError.Code?
}

/// The contents of the caches: the version of each picture that they have. The disk has the bytes of a source under its original.
struct Caches: Hashable {
    var memory: [ModelPicture: Int] = [:]
    var disk: [ModelPicture: Int] = [:]
    /// The transfers whose bytes may still be on their way to disk, so that loads share them.
    var arriving: [PipelineModel.Transfer] = []

    mutating func remove(_ removal: Removal, from layers: CacheLayers = .all) {
        if layers.contains(.memory) { memory = memory.filter { !removal.concerns($0.key, in: .memory) } }
        if layers.contains(.disk) { disk = disk.filter { !removal.concerns($0.key, in: .disk) } }
    }

    /// The version that remains if revalidating fails: of the plain image, which is transformed anew, or of the picture itself.
    func staleVersion(of picture: ModelPicture) -> Int? {
        let plain = picture.transformers.isEmpty ? nil : memory[picture.untransformed]
        return plain ?? memory[picture]
    }
}

/// The sources of all pictures.
struct PictureSources: Hashable {
    var versions = [Int](repeating: 1, count: ModelPicture.sourceCount)
    /// True while every transfer fails.
    var areDown = false

    /// True if a source says that a version is still current, instead of sending it once more.
    static func knowsVersions(_ source: Int) -> Bool { source != 1 }
}

/// The model of the pipeline: finds all ends that one or two simultaneous actions may have, by trying all orders of their steps.
///
/// The steps of an action come in order, and a step of another action may come between any two of them.
struct PipelineModel: Hashable {
    enum Step: Hashable {
        // Of a load, in this order; `steps(of:)` tells which of them it takes.
        case lookInMemory, lookForVariant, beginFetch, lookForOriginal, lookForLarger, askSource
        case replaceInMemory, replaceOnDisk, finishReplacing, store, lookUpBytes
        // Of a removal.
        case removeFromMemory, removeFromDisk
    }

    /// A load or a removal that is under way.
    struct Action: Hashable {
        var wish = Wish()
        var removal: Removal?
        var steps: [Step]
        var hasBegun = false
        var answer = Answer()
        /// The version on disk about which the source is asked.
        var cached: Int?
        /// The number of the transfer that gave the answer.
        var transfer: Int?
        /// The number of transfers there were when the load began to fetch, and those of them whose bytes were gone.
        var earlier = 0
        var gone: Set<Int> = []
        /// The removals since the load began. It doesn't store what they concern.
        var removals: [Removal] = []
    }

    struct Transfer: Hashable {
        var source: Int
        var token: Int
        /// `nil` for a transfer that failed.
        var version: Int?
        var isNotModified = false
        /// True if its bytes replace all pictures of the source, and if they have.
        var replaces = false
        var hasReplaced = false
        /// True if its bytes are written to disk, and may be shared until they are there.
        var isWritten = false
    }

    /// The end of all actions.
    struct End: Hashable {
        var answers: [Answer]
        var requests: Int
        var caches: Caches
    }

    private var caches: Caches
    private var actions: [Action] = []
    private var transfers: [Transfer] = []
    private let sources: PictureSources

    /// The number of transfers from before.
    private let inherited: Int

    init(_ caches: Caches, _ sources: PictureSources) {
        (self.caches, self.sources) = (caches, sources)
        (transfers, inherited) = (caches.arriving, caches.arriving.count)
        self.caches.arriving = []
    }

    mutating func begin(_ wish: Wish) { actions.append(Action(wish: wish, steps: Self.steps(of: wish))) }

    mutating func begin(_ removal: Removal) {
        var steps: [Step] = []
        if removal.layers.contains(.memory) { steps.append(.removeFromMemory) }
        // What a load read and put into memory meanwhile goes too.
        if removal.layers.contains(.disk) { steps += [.removeFromDisk, .removeFromMemory] }
        actions.append(Action(removal: removal, steps: steps))
    }

    /// The steps of a load that finds nothing before the source is asked.
    private static func steps(of wish: Wish) -> [Step] {
        let mayBeVariant = wish.asksDisk && wish.asksCaches && !wish.wantsData
        var steps: [Step] = []
        if wish.queryFrom.contains(.memory), wish.asksCaches, !wish.wantsData { steps.append(.lookInMemory) }
        if mayBeVariant, wish.storesVariant, !wish.picture.isOriginal { steps.append(.lookForVariant) }
        steps.append(.beginFetch)
        if wish.asksDisk { steps.append(.lookForOriginal) }
        if mayBeVariant { steps.append(.lookForLarger) }
        return steps + [.askSource, .replaceInMemory, .replaceOnDisk, .finishReplacing, .store]
    }

    /// All ends that the actions may have.
    func ends() -> Set<End> {
        var (ends, seen, open) = (Set<End>(), Set([self]), [self])
        while let model = open.popLast() {
            if model.actions.allSatisfy(\.steps.isEmpty) {
                var caches = model.caches
                caches.arriving = model.transfers.filter(\.isWritten)
                ends.insert(
                    End(
                        answers: model.actions.map(\.answer), requests: model.transfers.count - inherited,
                        caches: caches))
            }
            for index in actions.indices {
                for next in model.afterStep(of: index) where seen.insert(next).inserted { open.append(next) }
            }
        }
        return ends
    }

    // MARK: Steps

    /// What the next step of an action may lead to; nothing if there is no step left.
    private func afterStep(of index: Int) -> [PipelineModel] {
        var model = self
        guard let step = model.actions[index].steps.first else { return [] }
        model.actions[index].steps.removeFirst()
        model.actions[index].hasBegun = true
        let action = model.actions[index]
        let (wish, picture) = (action.wish, action.wish.picture)
        switch step {
        case .lookInMemory:
            guard let version = caches.memory[picture] ?? caches.memory[wish.animation], wish.acceptsImage else {
                break
            }
            model.end(index, Answer(version: version, source: .memory))
        case .lookForVariant:
            if let version = caches.disk[picture] { model.find(index, Answer(version: version, source: .disk)) }
        case .beginFetch:
            let inUse = actions.filter { !$0.steps.isEmpty }.compactMap(\.transfer)
            model.actions[index].earlier = transfers.count
            model.actions[index].gone = Set(transfers.indices.filter { !inUse.contains($0) })
        case .lookForOriginal:
            guard let version = caches.disk[picture.original] else { break }
            if wish.policy == .revalidate {
                model.actions[index].cached = version
            } else {
                model.find(index, Answer(version: version, source: .disk, bytes: version))
            }
        case .lookForLarger:
            let larger = Set(caches.disk.filter { picture.canBeMade(of: $0.key) }.values)
            guard !larger.isEmpty else { break }
            return larger.map { version in model.with { $0.find(index, Answer(version: version, source: .disk)) } }
        case .askSource:
            return model.afterAskingSource(index)
        case .replaceInMemory: model.replace(index, in: .memory)
        case .replaceOnDisk: model.replace(index, in: .disk)
        case .finishReplacing: model.replace(index, in: .memory, isLast: true)
        case .store:
            return model.afterStoring(index)
        case .lookUpBytes:
            model.actions[index].answer.bytes = wish.asksDisk ? caches.disk[picture.original] : nil
        case .removeFromMemory, .removeFromDisk:
            guard let removal = action.removal else { break }
            model.remove(removal, from: step == .removeFromMemory ? .memory : .disk)
        }
        return [model]
    }

    private func with(_ change: (inout PipelineModel) -> Void) -> PipelineModel {
        var model = self
        change(&model)
        return model
    }

    /// Ends the search of a load, which may store what it has found.
    private mutating func find(_ index: Int, _ answer: Answer) {
        actions[index].answer = answer
        actions[index].steps = [.store]
    }

    /// Ends a load with an image from memory, or an error.
    private mutating func end(_ index: Int, _ answer: Answer) {
        actions[index].answer = answer
        actions[index].steps = answer.source == .memory && actions[index].wish.queriesMemoryData ? [.lookUpBytes] : []
    }

    private mutating func remove(_ removal: Removal, from layers: CacheLayers) {
        caches.remove(removal, from: layers)
        for index in actions.indices where actions[index].hasBegun { actions[index].removals.append(removal) }
    }

    // MARK: The source

    /// A load gets the bytes of a transfer: one of another load, if it can be shared, or its own.
    private func afterAskingSource(_ index: Int) -> [PipelineModel] {
        let action = actions[index]
        let (wish, source) = (action.wish, action.wish.picture.source)
        var (results, needsOwn) = ([PipelineModel](), true)
        for (number, transfer) in transfers.enumerated() where transfer.source == source && transfer.token == wish.token
        {
            let isGone = action.gone.contains(number)
            guard !isGone || transfer.isWritten else { continue }
            results.append(with { $0.use(number, index) })
            // A load that refreshes takes no bytes from before it began, but joins a transfer that still runs.
            let mayBeOld = wish.refreshes && number < action.earlier
            if !isGone, !mayBeOld, transfer.version != nil { needsOwn = false }
        }
        if wish.policy == .cacheOnly {
            return (wish.asksDisk ? results : []) + [with { $0.end(index, Answer(error: .notCached)) }]
        }
        // A load that begins after a removal joins none from before it.
        let isOvertaken = actions.contains { $0.removal != nil } || !action.removals.isEmpty
        guard needsOwn || isOvertaken else { return results }
        let version = sources.areDown ? nil : sources.versions[source]
        let isSame = version != nil && version == action.cached
        let own = Transfer(
            source: source, token: wish.token, version: version, isNotModified: isSame,
            replaces: wish.refreshes && !isSame)
        return results
            + [
                with {
                    $0.transfers.append(own)
                    $0.use($0.transfers.count - 1, index)
                }
            ]
    }

    private mutating func use(_ number: Int, _ index: Int) {
        let (action, transfer) = (actions[index], transfers[number])
        let wish = action.wish
        actions[index].transfer = number
        if let version = transfer.version {
            let hasBytes = !transfer.isNotModified || !PictureSources.knowsVersions(transfer.source)
            actions[index].answer = Answer(
                version: version, source: hasBytes ? .network : .disk,
                freshness: transfer.isNotModified ? .notModified : .fresh, bytes: version)
        } else if let version = action.cached {
            find(index, Answer(version: version, source: .disk, freshness: .stale, bytes: version))
        } else if wish.policy == .revalidate, !wish.wantsData, let version = caches.staleVersion(of: wish.picture) {
            end(
                index,
                wish.acceptsImage
                    ? Answer(version: version, source: .memory, freshness: .stale) : Answer(error: .notAnimated))
            // What was transformed anew is stored.
            if caches.memory[wish.picture] != version { actions[index].steps.append(.store) }
        } else {
            end(index, Answer(error: .connectionFailed))
        }
    }

    /// New bytes replace all pictures of their source, once, if a load that refreshes stores anything.
    private mutating func replace(_ index: Int, in layers: CacheLayers, isLast: Bool = false) {
        let action = actions[index]
        guard let number = action.transfer, !action.wish.storeTo.isEmpty, !transfers[number].hasReplaced else { return }
        let transfer = transfers[number]
        let isNew = action.cached.map { $0 != transfer.version } ?? (action.wish.refreshes && !transfer.isNotModified)
        guard transfer.replaces || isNew else { return }
        remove(
            Removal(extent: .source(transfer.source), layers: .all, replacement: transfer.version),
            from: layers)
        transfers[number].hasReplaced = isLast
    }

    // MARK: Storing

    private func afterStoring(_ index: Int) -> [PipelineModel] {
        let (wish, answer) = (actions[index].wish, actions[index].answer)
        var model = self
        if !wish.acceptsImage { model.actions[index].answer = Answer(error: .notAnimated) }
        guard let version = answer.version else { return [model] }
        var models = [model]
        func store(_ picture: ModelPicture, in layer: CacheLayers) {
            let related = actions[index].removals.filter { $0.concerns(source: picture.source, in: layer) }
            let removals = related.filter { $0.concerns(picture, in: layer) }
            // Older versions must not come back. The version that replaced them may be stored or not, whoever brought it.
            guard wish.storeTo.contains(layer), removals.allSatisfy({ $0.replacement == version }) else { return }
            let stored = models.map { model in
                model.with { model in
                    if layer == .memory { model.caches.memory[picture] = version }
                    if layer == .disk { model.caches.disk[picture] = version }
                }
            }
            // A removal of any kind beside a replacement leaves neither the old image nor the new one.
            let isOvertaken = actions[index].removals.contains {
                $0.replacement == nil && $0.concerns(source: picture.source, in: $0.layers)
            }
            let mayReplace =
                actions[index].transfer.map { transfers[$0].replaces || transfers[$0].hasReplaced } ?? false
            let isCertain =
                related.allSatisfy { $0.replacement != nil } && !(isOvertaken && mayReplace)
                && (related.isEmpty || isOwnReplacement(index))
            models = isCertain ? stored : models + stored
        }
        if !wish.wantsData { store(wish.picture, in: .memory) }
        if let transfer = actions[index].transfer, answer.freshness != .stale {
            if wish.storeTo.contains(.disk) {
                models = models.map { $0.with { $0.transfers[transfer].isWritten = true } }
            }
            store(wish.picture.original, in: .disk)
        }
        if wish.storesVariant, !wish.wantsData { store(wish.picture, in: .disk) }
        return models
    }

    /// True if what was removed meanwhile was replaced by the load itself, and by nothing else.
    private func isOwnReplacement(_ index: Int) -> Bool {
        guard let number = actions[index].transfer, transfers[number].hasReplaced else { return false }
        return actions.indices.allSatisfy { actions[$0].transfer == nil || actions[$0].transfer == number }
    }
}
