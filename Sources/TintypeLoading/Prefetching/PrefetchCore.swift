internal import FoundationEssentials

/// The queue of a prefetcher: which images wait, which are being loaded, and how far all are.
///
/// Running loads keep it alive, so that prefetches go on without their prefetcher.
final class PrefetchCore: Sendable {
    typealias Configuration = ImagePrefetcher.Configuration

    private struct Batch {
        var prefetch: ImagePrefetch
        /// The job whose loader asks for it, and may wait for it.
        let asking = SharedWorkID.currentJob
        /// The first request that may still wait.
        var next = 0
        /// Later requests that were canceled while they waited.
        var cancelled: Set<Int> = []
    }

    private struct Load {
        var number: Int
        var batch: Int
        var asking: Int?
        var request: ImageRequest
        var storesOnDiskOnly: Bool
        /// `nil` while the load starts.
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private struct State {
        var configuration: Configuration
        var isPaused = false
        /// The number of reports of memory pressure; the last report still holds up new loads.
        var pressureReports = 0
        var isUnderPressure = false
        /// Prefetches that have not ended.
        var batches: [Int: Batch] = [:]
        /// Those of them with requests that wait, oldest first.
        var waiting: [Int] = []
        var running: [Int: Load] = [:]
        var total = PrefetchProgress()
        var lastID = 0

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let changes = Broadcast<Void>()
    private let manager: ImageManager
    private let clock: any Clock<Duration>
    private let state: Lock<State>
    private let pressure = MemoryPressure.Subscription()

    init(manager: ImageManager, configuration: Configuration, clock: any Clock<Duration>) {
        (self.manager, self.clock) = (manager, clock)
        state = Lock(State(configuration: configuration))
    }

    var configuration: Configuration {
        get { state.withLock { $0.configuration } }
        set {
            state.withLock { $0.configuration = newValue }
            beginLoads()
        }
    }

    var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            beginLoads()
        }
    }

    var currentProgress: PrefetchProgress { state.withLock { $0.total } }
    var progress: AsyncStream<PrefetchProgress> { changes.values { [state] in state.withLock { $0.total } } }

    // MARK: Start

    func begin(_ requests: [ImageRequest]) -> ImagePrefetch {
        let id = state.withLock { $0.makeID() }
        let prefetch = ImagePrefetch(requests, id: id, core: self)
        guard !requests.isEmpty else {
            prefetch.publish()
            return prefetch
        }
        state.withLock { state in
            if state.batches.isEmpty { state.total = PrefetchProgress() }
            state.total.total += requests.count
            state.batches[id] = Batch(prefetch: prefetch)
            state.waiting.append(id)
        }
        publish([prefetch])
        beginLoads()
        return prefetch
    }

    /// Starts as many loads as may run, in their order.
    private func beginLoads() {
        while let load = state.withLock({ Self.nextLoad(&$0) }) {
            // Detached: a prefetch inherits neither the priority of the caller nor its other task-local values.
            let task = Task.immediateDetached { [self] in
                let outcome = await SharedWorkID.$currentJob.withValue(load.asking) { await self.outcome(of: load) }
                // An image in memory is there at once. The thread of the caller goes on before the next load starts.
                await Task.yield()
                end(load.number, outcome)
                beginLoads()
            }
            let isCancelled = state.withLock { state in
                state.running[load.number]?.task = task
                return state.running[load.number]?.isCancelled == true
            }
            if isCancelled { task.cancel() }
        }
    }

    private static func nextLoad(_ state: inout State) -> Load? {
        let configuration = state.configuration
        guard !state.isPaused, !state.isUnderPressure,
            state.running.count < max(1, configuration.maximumConcurrentLoads)
        else { return nil }
        while let id = configuration.newestFirst ? state.waiting.last : state.waiting.first {
            guard var request = nextRequest(&state, of: id) else {
                state.waiting.remove(at: configuration.newestFirst ? state.waiting.count - 1 : 0)
                continue
            }
            request.priority = min(request.priority, configuration.priority)
            let load = Load(
                number: state.makeID(), batch: id, asking: state.batches[id]?.asking, request: request,
                storesOnDiskOnly: configuration.storesOnDiskOnly)
            state.running[load.number] = load
            return load
        }
        return nil
    }

    private static func nextRequest(_ state: inout State, of id: Int) -> ImageRequest? {
        guard var batch = state.batches[id] else { return nil }
        defer { state.batches[id] = batch }
        let requests = batch.prefetch.requests
        while batch.next < requests.count {
            defer { batch.next += 1 }
            if batch.cancelled.remove(batch.next) == nil { return requests[batch.next] }
        }
        return nil
    }

    // MARK: Loading

    private func outcome(of load: Load) async -> PrefetchOutcome {
        do throws(ImageError) {
            return try await load.storesOnDiskOnly ? loadData(load.request) : loadImage(load.request)
        } catch {
            return error.isCancellation ? .cancelled : .failed(error)
        }
    }

    private func loadImage(_ request: ImageRequest) async throws(ImageError) -> PrefetchOutcome {
        var request = request
        let allowsPart = request.decode.allowsPartialImage
        // As displays do, so that a display of the image joins this load.
        request.decode.allowsPartialImage = true
        let (prepared, environment) = manager.prepared(request)
        let result = try await ImageManager.result(prepared, environment)
        guard allowsPart || !result.image.isPartial else {
            throw ImageError(
                .truncatedImage, stage: .decode, source: request.url.shortDescription,
                reason: "only part of the image could be decoded, and partial images aren't cached")
        }
        guard result.source != .memory else { return .skipped }
        try environment.checkMayStore(result.image.response, for: prepared)
        return .loaded
    }

    private func loadData(_ request: ImageRequest) async throws(ImageError) -> PrefetchOutcome {
        var (prepared, environment) = manager.prepared(request)
        guard environment.originals.disk != nil else {
            throw ImageError(
                .cacheUnavailable, stage: .cache, source: request.url.shortDescription,
                reason: "the manager has no disk cache to prefetch to; prefetch to memory instead")
        }
        prepared.cache.store = .disk
        prepared.cache.storeOriginal = nil
        prepared.cache.waitsForStore = true
        let image = try await ImageManager.data(prepared, environment)
        if let error = image.storeError { throw error }
        try environment.checkMayStore(image.response, for: prepared)
        // Local files are as fast to read as copies of them, which the disk doesn't get.
        return image.source == .disk || environment.loaders.isLocal(prepared.url) ? .skipped : .loaded
    }

    // MARK: Ending

    private func end(_ id: Int, _ outcome: PrefetchOutcome) {
        let changed = state.withLock { state -> ImagePrefetch? in
            guard let load = state.running.removeValue(forKey: id) else { return nil }
            return Self.add(&state, outcome, of: [load.request.url], to: load.batch)
        }
        if let changed { publish([changed]) }
    }

    /// Cancels loads, and ends requests that wait.
    /// - Parameters:
    ///   - url: the URL; `nil` for all.
    ///   - batch: the prefetch; `nil` for all.
    func cancel(_ url: URL?, in batch: Int?) {
        let (changed, tasks) = state.withLock { state -> ([ImagePrefetch], [Task<Void, Never>]) in
            let ids = batch.map { [$0] } ?? Array(state.batches.keys)
            let changed = ids.compactMap { id -> ImagePrefetch? in
                let ended = Self.cancelWaiting(&state, url, of: id)
                return Self.add(&state, .cancelled, of: ended, to: id)
            }
            var tasks: [Task<Void, Never>] = []
            for (number, load) in state.running
            where (batch == nil || load.batch == batch) && (url == nil || load.request.url == url) {
                state.running[number]?.isCancelled = true
                if let task = load.task { tasks.append(task) }
            }
            return (changed, tasks)
        }
        for task in tasks { task.cancel() }
        publish(changed)
    }

    /// - Returns: the URLs of the requests that no longer wait.
    private static func cancelWaiting(_ state: inout State, _ url: URL?, of id: Int) -> [URL] {
        guard var batch = state.batches[id] else { return [] }
        let (requests, cancelled) = (batch.prefetch.requests, batch.cancelled)
        let found = (batch.next..<requests.count).filter { index in
            (url == nil || requests[index].url == url) && !cancelled.contains(index)
        }
        batch.cancelled.formUnion(found)
        state.batches[id] = batch
        return found.map { requests[$0].url }
    }

    /// - Returns: the prefetch, if its progress changed.
    private static func add(
        _ state: inout State, _ outcome: PrefetchOutcome, of urls: [URL], to id: Int
    ) -> ImagePrefetch? {
        guard !urls.isEmpty, let prefetch = state.batches[id]?.prefetch else { return nil }
        for url in urls {
            prefetch.add(outcome, of: url)
            state.total.add(outcome)
        }
        if prefetch.currentProgress.isFinished { state.batches[id] = nil }
        return prefetch
    }

    /// Tells the observers of changes, without the lock.
    private func publish(_ changed: [ImagePrefetch]) {
        for prefetch in changed { prefetch.publish() }
        changes.send()
    }

    // MARK: Memory pressure

    func observe(_ pressure: MemoryPressure) {
        self.pressure.replace(with: pressure) { [weak self] _ in self?.pause() }
    }

    private func pause() {
        let (report, duration) = state.withLock { state in
            state.pressureReports += 1
            state.isUnderPressure = state.configuration.pauseUnderMemoryPressure > .zero
            return (state.pressureReports, state.configuration.pauseUnderMemoryPressure)
        }
        guard duration > .zero else { return }
        Task.detached { [weak self, clock] in
            try? await clock.sleep(for: duration.boundedLimit)
            self?.resume(after: report)
        }
    }

    private func resume(after report: Int) {
        state.withLock { state in
            // A later report starts the pause anew.
            if state.pressureReports == report { state.isUnderPressure = false }
        }
        beginLoads()
    }
}

extension LoadEnvironment {
    fileprivate func checkMayStore(_ response: StoredResponse?, for request: ImageRequest) throws(ImageError) {
        guard !mayStore(response, for: request) else { return }
        throw ImageError(
            .notCached, stage: .cache, source: request.url.shortDescription,
            reason: "the source forbids caching the image")
    }
}
