internal import FoundationEssentials
internal import Logging

/// Gets the bytes of a source, from disk or from its loader, and has them decoded: the part that loads of images and loads of
/// bytes have in common.
final class SourceLoad: Sendable {
    let environment: LoadEnvironment
    let request: ImageRequest
    /// The identity of the source in the caches.
    let source: String
    let download: DownloadKey
    /// The policy of the request, or what it comes to for the image that is cached.
    let policy: CachePolicy
    let queriesDisk: Bool
    let retriesFailed: Bool
    /// The way of decoding, by which its failures are remembered.
    let decoding: FailureMemory.Decoding
    /// True if bytes are decoded while they arrive.
    let isProgressive: Bool
    /// True if new bytes remove the variants of the old ones; false for loads that store nothing.
    let replacesVariants: Bool
    /// The load's hold of its download, which it keeps until the bytes are on their way to the disk.
    let hold: Downloads.Hold
    /// The load that began this one.
    let trace: LoadTrace

    init(
        environment: LoadEnvironment, request: ImageRequest, source: String, download: DownloadKey, policy: CachePolicy,
        queriesDisk: Bool, retriesFailed: Bool, decoding: FailureMemory.Decoding, isProgressive: Bool = false,
        replacesVariants: Bool, hold: Downloads.Hold, trace: LoadTrace
    ) {
        self.environment = environment
        self.request = request
        self.source = source
        self.download = download
        self.policy = policy
        self.queriesDisk = queriesDisk
        self.retriesFailed = retriesFailed
        self.decoding = decoding
        self.isProgressive = isProgressive
        self.replacesVariants = replacesVariants
        self.hold = hold
        self.trace = trace
    }

    /// The same load with another policy.
    private func with(_ policy: CachePolicy) -> SourceLoad {
        guard policy != self.policy else { return self }
        return SourceLoad(
            environment: environment, request: request, source: source, download: download, policy: policy,
            queriesDisk: queriesDisk, retriesFailed: retriesFailed, decoding: decoding, isProgressive: isProgressive,
            replacesVariants: replacesVariants, hold: hold, trace: trace)
    }

    /// The job that needs the source: its priority, and its cancellation.
    struct Job: Sendable {
        let priority: WorkPriority
        let cancellation: JobCancellation

        init<Key, Value>(_ context: TaskCoalescer<Key, Value>.Context) {
            (priority, cancellation) = (context.priority, context.cancellation)
        }
    }

    /// The decoded value of a source.
    struct Result<Value: Sendable>: Sendable {
        var value: Value
        var bytes: SourceBytes
        var freshness: Freshness
    }

    /// The steps that differ between loads.
    struct Steps<Value: Sendable>: Sendable {
        /// Decodes the bytes.
        var decode: @Sendable (SourceBytes) async throws(ImageError) -> Value
        /// Makes the value of something else on disk than the original.
        var substitute: (@Sendable () async throws(ImageError) -> Result<Value>?)?
        /// Shows the cached value while the source is asked.
        var preview: (@Sendable (Value) -> Void)?
        var onUpdate: @Sendable (LoadUpdate) -> Void
    }

    /// The original on disk, another variant on disk, or the network, as the policy says.
    func value<Value>(_ steps: Steps<Value>, for job: Job) async throws(ImageError) -> Result<Value> {
        guard let cached = queriesDisk ? await cachedBytes(priority: job.priority) : nil else {
            if policy == .revalidate { return try await revalidated(nil, steps, job) }
            return try await withoutCached(steps, job)
        }
        var freshness = Freshness.cached
        switch decision(for: cached) {
        case .use(let reason):
            if let reason { freshness = .stale(reason) }
        case .useAndRevalidate:
            freshness = .stale(.revalidating)
        case .revalidate:
            return try await with(.revalidate).revalidated(cached, steps, job)
        case .fetch:
            return try await with(.reload).loaded(replacing: nil, steps, job)
        case .fail: throw Self.offline
        }
        do throws(ImageError) {
            let result = Result(value: try await steps.decode(cached), bytes: cached, freshness: freshness)
            if case .stale(.revalidating) = freshness {
                environment.revalidateInBackground(request, decodes: !decoding.isHeader)
            }
            return result
        } catch {
            guard await isUseless(after: error) else { throw error }
            return try await withoutCached(steps, job, damage: error)
        }
    }

    /// Another variant on disk, or the network.
    /// - Parameter damage: The error of decoding the cached original.
    private func withoutCached<Value>(
        _ steps: Steps<Value>, _ job: Job, damage: ImageError? = nil
    ) async throws(ImageError) -> Result<Value> {
        if let substitute = try await steps.substitute?() { return substitute }
        if policy == .cacheOnly, let damage { throw damage }
        // Nothing is cached that could be newer or older than another image.
        let load = policy == .http || policy == .staleWhileRevalidate ? with(.cacheFirst) : self
        return try await load.loaded(replacing: nil, steps, job)
    }

    /// The use of the cached original, or of the same bytes on their way to the disk.
    private func decision(for cached: SourceBytes) -> CacheDecision {
        environment.decision(
            for: cached.entry.response, hasValidators: cached.entry.validators?.isEmpty == false, of: request)
    }

    private static let offline = ImageError(
        .notCached, stage: .cache,
        reason: "the image isn't cached, or may not be used without asking its source, and there is no connection")

    private func cachedBytes(priority: WorkPriority) async -> SourceBytes? {
        let (entry, time) = await environment.entry(
            for: ImageKey(source: source), in: environment.originals, of: trace, priority: priority)
        guard let entry, environment.accepts(entry.response, for: request) else { return nil }
        return SourceBytes(
            entry, source: .disk, diskTime: time, reservation: environment.reservation(bytes: entry.data.count))
    }

    /// Discards a cached original that is damaged. True if it is of no use, and the source may have a better one.
    ///
    /// A failure of a request's own coder says nothing about the entry: the manager's coders may well read it.
    private func isUseless(after error: ImageError) async -> Bool {
        guard !decoding.hasOwnCoder else { return false }
        guard EntryCoder.shouldDiscardEntry(after: error) else { return error.code == .unknownFormat }
        environment.configuration.logger.warning(
            "discarded a cached image that doesn't decode: \(URLDescription.redacted(source)): \(error.reason)")
        await environment.originals.discard(ImageKey(source: source))
        return true
    }

    // MARK: Revalidating

    /// The source's answer to the question whether the cached bytes are still current. If the source fails, they are the result.
    private func revalidated<Value>(
        _ entry: SourceBytes?, _ steps: Steps<Value>, _ job: Job
    ) async throws(ImageError) -> Result<Value> {
        var cached = entry
        var shown: Value?
        if let entry {
            do throws(ImageError) {
                let value = try await steps.decode(entry)
                steps.preview?(value)
                shown = value
            } catch {
                // The source isn't asked whether damaged bytes are current.
                if await isUseless(after: error) { cached = nil }
            }
        }
        do throws(ImageError) {
            var steps = steps
            if let cached, let shown {
                // The same bytes need no second decode.
                steps.decode = { [decode = steps.decode] bytes throws(ImageError) in
                    bytes.data == cached.data ? shown : try await decode(bytes)
                }
            }
            return try await loaded(replacing: cached, steps, job)
        } catch {
            guard let cached, environment.mayUse(cached.entry.response, after: error, of: request) else { throw error }
            let value: Value
            if let shown { value = shown } else { value = try await steps.decode(cached) }
            return Result(value: value, bytes: cached, freshness: .stale(.failed(error)))
        }
    }

    // MARK: Loading

    private var url: URL { request.url }

    private func loaded<Value>(
        replacing cached: SourceBytes?, _ steps: Steps<Value>, _ job: Job
    ) async throws(ImageError) -> Result<Value> {
        let onlyNew = policy.asksSource
        let downloads = environment.shared.downloads
        let bytes: SourceBytes
        if queriesDisk || policy != .cacheOnly, let found = downloads.bytes(for: hold, onlyNew: onlyNew),
            isUsable(found)
        {
            bytes = found
        } else {
            try checkPolicy()
            bytes = try await downloads.download(
                hold, onlyNew: onlyNew, within: job, grace: grace, onUpdate: steps.onUpdate
            ) { [self] context in
                let outcome = await transfer(replacing: cached, context)
                environment.countDownload(outcome)
                return outcome
            } isUsable: { [self] bytes in
                isUsable(bytes)
            }.get()
        }
        do throws(ImageError) {
            let value = try await steps.decode(bytes)
            forgetFailure(decodeFailure)
            let isNew = cached.map { $0.data != bytes.data } ?? (onlyNew && !bytes.isNotModified)
            if replacesVariants, bytes.replacesVariants || isNew { await replaceVariants(with: bytes) }
            let freshness: Freshness = bytes.isNotModified ? .notModified : cached == nil ? .fresh : .updated
            return Result(value: value, bytes: bytes, freshness: freshness)
        } catch {
            if bytes.source != .disk { environment.remember(error, of: url, as: decodeFailure) }
            throw error
        }
    }

    /// The time that the transfer has after its last caller has left: none if its bytes would not be stored, or not be found again.
    private var grace: TransferGrace? {
        guard policy == .cacheFirst, queriesDisk, environment.configuration.cancellationGrace > .zero,
            environment.storesOriginal(request)
        else { return nil }
        return TransferGrace(download, environment) { [environment, request, trace] in
            _ = try? await DataLoad(request, environment: environment, trace: trace).image()
        }
    }

    /// True if the bytes of a transfer that has ended are as good for this load as for those that it began for.
    private func isUsable(_ bytes: SourceBytes) -> Bool {
        !wasRemoved(bytes) && environment.mayStore(bytes.entry.response, for: request)
    }

    /// True if the program removed the image after its bytes were asked for, and before this load began.
    private func wasRemoved(_ bytes: SourceBytes) -> Bool {
        environment.originals.removals?.hasRemoval(
            of: ImageKey(source: source), from: .disk, since: bytes.mark, until: hold.mark) ?? false
    }

    private func checkPolicy() throws(ImageError) {
        guard policy != .cacheOnly else {
            throw ImageError(
                .notCached, stage: .cache, reason: "the image isn't cached, and the request allows only cached images")
        }
        guard environment.configuration.networkStatus() != .offline || environment.loaders.isLocal(url) else {
            throw Self.offline
        }
        if let shouldDownload = environment.configuration.shouldDownload, !shouldDownload(url) {
            throw ImageError(.loadingDisallowed, stage: .request, reason: "the app's policy disallows this URL")
        }
        guard environment.loaders.canLoad(url) else {
            throw ImageError(
                .invalidURL, stage: .request, reason: "no loader accepts URLs of the scheme “\(url.scheme ?? "")”")
        }
        guard !retriesFailed, !environment.shared.downloads.isRunning(download) else { return }
        let now = environment.configuration.now()
        let failure = environment.shared.failures.withLock {
            $0.failure(of: transferFailure, at: now) ?? $0.failure(of: decodeFailure, at: now)
        }
        if let failure {
            throw ImageError(
                .recentlyFailed, stage: .request,
                reason: "failed a short while ago and isn't loaded again yet: \(failure.reason)",
                statusCode: failure.statusCode, underlying: failure)
        }
    }

    private var transferFailure: FailureMemory.Key { .init(source: source, message: download.message) }
    private var decodeFailure: FailureMemory.Key {
        .init(source: source, message: download.message, decoding: decoding)
    }

    private func forgetFailure(_ key: FailureMemory.Key) { environment.shared.failures.withLock { $0.remove(key) } }

    /// One transfer, whoever waits for it.
    private func transfer(
        replacing cached: SourceBytes?, _ context: TaskCoalescer<DownloadKey, SourceBytes>.Context
    ) async -> Downloads.Outcome {
        let requestTime = environment.configuration.date()
        // Those of now: the program may change what the loader adds.
        let fields = environment.selectingFields(of: request)
        let mark = environment.originals.removals?.mark
        let arriving = isProgressive ? ArrivingData() : nil
        if let arriving { context.update(.arriving(arriving)) }
        let reservation = environment.reservation()
        let header = ArrivingHeader(environment)
        @Sendable func show(_ progress: LoadProgress, _ header: ImageInfo?) {
            context.update(
                .progress(
                    ImageProgress(
                        receivedBytes: progress.receivedBytes, expectedBytes: progress.expectedBytes, header: header)))
        }
        var message = LoadRequest(
            url: url, headers: request.headers, method: request.method, body: request.body, priority: context.priority,
            validators: cached?.entry.validators, targetSize: request.targetSize
        ) { [weak reservation] progress in
            // Weak: a loader may keep the closure.
            reservation?.grow(to: progress.receivedBytes)
            arriving?.append(progress)
            show(progress, header.info(after: progress))
        }
        message.hooks = request.downloadHooks
        message.observe = { [weak reservation] progress, bytes in
            reservation?.grow(to: progress.receivedBytes)
            if let bytes, let arriving { arriving.share(bytes) }
            show(progress, header.info(after: progress, of: bytes))
        }
        do throws(ImageError) {
            let (loaded, time) = try await environment.observe(.load, of: trace) { loaded in
                ["bytes": "\(loaded.data.count)", "status": "\(loaded.statusCode ?? 0)"]
            } _: { [message] () throws(ImageError) in
                try await environment.loaders.load(message)
            }
            await environment.invalidate(after: request, loaded)
            let bytes = try sourceBytes(
                loaded, replacing: cached, fields, requestTime: requestTime, loadTime: time, reservation: reservation)
            bytes.mark = mark
            forgetFailure(transferFailure)
            return .success(bytes)
        } catch {
            environment.remember(error, of: url, as: transferFailure)
            return .failure(error)
        }
    }

    private func sourceBytes(
        _ loaded: LoadedData, replacing cached: SourceBytes?, _ fields: SelectingFields, requestTime: Date,
        loadTime: StageTime, reservation: BodyReservation
    ) throws(ImageError) -> SourceBytes {
        let now = environment.configuration.date()
        let response = environment.storedResponse(
            loaded, of: request, with: fields, renewing: cached?.entry.response, requestTime: requestTime, now: now)
        if loaded.isNotModified {
            guard let cached else {
                throw ImageError(
                    .badResponse, stage: .load,
                    reason: "the source says that nothing has changed, but wasn't asked that",
                    statusCode: loaded.statusCode)
            }
            var entry = cached.entry
            entry.created = now
            let known = entry.validators ?? CacheValidators()
            // An answer about another version says nothing of how long this one may be used (RFC 9111, section 4.3.4).
            if !known.isContradicted(by: loaded.validators) {
                entry.response = response
                entry.validators = known.renewed(by: loaded.validators)
            }
            return SourceBytes(
                entry, source: .disk, isNotModified: true, diskTime: cached.diskTime, loadTime: loadTime,
                loadedBy: trace.id, response: loaded.response, reservation: cached.reservation)
        }
        guard !loaded.data.isEmpty || loaded.image != nil else {
            throw ImageError(.emptyBody, stage: .load, reason: "the source sent no bytes")
        }
        let entry = DiskCacheEntry(
            data: loaded.data, created: now, mimeType: loaded.mimeType,
            validators: loaded.validators?.owned(by: loaded.url, of: url), response: response)
        reservation.grow(to: loaded.image?.memoryCost ?? loaded.data.count)
        let isSame = cached?.data == loaded.data
        return SourceBytes(
            entry, source: .network, isNotModified: isSame,
            replacesVariants: !isSame && policy.asksSource,
            diskTime: cached?.diskTime ?? .zero, loadTime: loadTime, loadedBy: trace.id, response: loaded.response,
            image: loaded.image, reservation: reservation)
    }

    /// Removes all variants of the bytes that new ones replace, once for all loads of the new ones.
    private func replaceVariants(with bytes: SourceBytes) async {
        let replacement = bytes.replacement(for: source)
        replacement.begin {
            Task.immediate { [environment, source] in
                do throws(ImageError) {
                    try await environment.removeAll(ofSource: source)
                } catch {
                    environment.configuration.logger.warning(
                        "older variants couldn't be removed: \(URLDescription.redacted(source)): \(error.reason)")
                }
                // That removal doesn't concern the new bytes.
                bytes.finishReplacement(for: source, mark: environment.originals.removals?.mark)
            }
        }
        _ = await replacement.value
    }
}
