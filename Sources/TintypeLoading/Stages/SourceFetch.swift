internal import FoundationEssentials
internal import Logging

/// The bytes that a fetch has found, and how current they are.
struct FetchedBytes: Sendable {
    var bytes: SourceBytes
    var freshness: Freshness
    /// True for the answer of the source to this fetch.
    var isAnswer = false
    /// The moment when the fetch ended.
    let end = ContinuousClock.now
}

/// A job that gets the bytes of a source, from disk or from its loader, as the policy says. No other code reads an original.
final class SourceFetch: Sendable {
    private let environment: LoadEnvironment
    private let request: ImageRequest
    private let key: FetchKey
    /// The load that started this fetch.
    private let trace: LoadTrace

    private var url: URL { request.url }

    init(_ environment: LoadEnvironment, _ request: ImageRequest, key: FetchKey, trace: LoadTrace) {
        (self.environment, self.request, self.key, self.trace) = (environment, request, key, trace)
    }

    /// True if others may use the bytes until the loads and the writes that use them have ended, unless HTTP forbids that. Until then nobody
    /// asks the source again: a load may need the bytes twice.
    func keeps(_ fetched: FetchedBytes) -> Bool { environment.mayReuse(fetched.bytes.entry.answer, for: request) }

    func run(_ job: LoadWork.Job) async throws(ImageError) -> FetchedBytes {
        var cached = key.queriesDisk ? await cachedBytes(priority: job.priority) : nil
        var policy = key.policy
        if let found = cached {
            switch environment.decision(for: found.entry.answer, of: request) {
            case .use(let freshness): return FetchedBytes(bytes: found, freshness: freshness)
            case .revalidate:
                policy = .revalidate
                if environment.configuration.budget.hasManyBodies {
                    cached = found.withoutData
                } else {
                    job.publish(.asking(about: found))
                }
            case .fetch: (cached, policy) = (nil, .reload)
            case .fail: throw Self.offline
            }
        } else if policy == .http || policy == .staleWhileRevalidate {
            // Nothing is cached that could be newer or older than another image.
            policy = .cacheFirst
        }
        do throws(ImageError) {
            try checkPolicy()
            if key.isReload { job.close() }
            let isRefresh = cached != nil || policy.asksSource || key.isReload
            let bytes = try await transfer(replacing: cached, isRefresh: isRefresh, job)
            return FetchedBytes(
                bytes: bytes, freshness: bytes.isNotModified ? .notModified : cached == nil ? .fresh : .updated,
                isAnswer: true)
        } catch {
            // If the source fails, the cached bytes are the result.
            guard let cached = await present(cached, job),
                environment.mayUse(cached.entry.answer, after: error, of: request)
            else { throw error }
            return FetchedBytes(bytes: cached, freshness: .stale(.failed(error)))
        }
    }

    private static let offline = ImageError(
        .notCached, stage: .cache,
        reason: "there is no connection, and no cached image that may be used without asking its source")

    /// The original that the disk has, if the request may have it.
    func cachedBytes(priority: WorkPriority) async -> SourceBytes? {
        let (entry, time) = await environment.entry(
            for: key.original, in: environment.originals, of: trace, priority: priority)
        guard let entry, environment.accepts(entry.answer, for: request) else { return nil }
        return SourceBytes(
            entry, source: .disk, diskTime: time, fetch: key, reservation: environment.reservation())
    }

    /// The cached bytes after their source was asked: read once more if they weren't held meanwhile.
    private func present(_ cached: SourceBytes?, _ job: LoadWork.Job) async -> SourceBytes? {
        cached?.data.isEmpty == true ? await cachedBytes(priority: job.priority) : cached
    }

    // MARK: Loading

    private func checkPolicy() throws(ImageError) {
        guard key.policy != .cacheOnly else {
            throw ImageError(
                .notCached, stage: .cache, reason: "the image isn't cached, and the request allows only cached images")
        }
        let loaders = environment.loaders
        guard environment.configuration.networkStatus() != .offline || loaders.isLocal(url) else { throw Self.offline }
        guard !RequestDirectives(request.headers).cacheControl.onlyIfCached || loaders.isLocal(url) else {
            throw ImageError(
                .notCached, stage: .cache,
                reason: "the request allows only cached images (“only-if-cached”), and none may be used")
        }
        if let shouldDownload = environment.configuration.shouldDownload, !shouldDownload(url) {
            throw ImageError(
                .loadingDisallowed, stage: .request, reason: "the manager's shouldDownload closure disallows this URL")
        }
        guard loaders.canLoad(url) else {
            throw ImageError(
                .invalidURL, stage: .request, reason: "no loader accepts URLs of the scheme “\(url.scheme ?? "")”")
        }
        guard !key.retriesFailed, !request.retriesFailed else { return }
        if let failure = environment.failure(
            ofSource: key.original.source, key.download.message, decoding: key.failedDecoding)
        {
            throw ImageError(
                .recentlyFailed, stage: .request,
                reason: "the load failed recently, and the URL isn't loaded again yet: \(failure.reason)",
                statusCode: failure.statusCode, underlying: failure)
        }
    }

    private func transfer(
        replacing cached: SourceBytes?, isRefresh: Bool, _ job: LoadWork.Job
    ) async throws(ImageError) -> SourceBytes {
        let (requestTime, number) = (environment.configuration.date(), SharedWorkID.next())
        // Those for which the image is asked. The program may change the loader's additions meanwhile.
        let fields = environment.selectingFields(of: request)
        let reservation = environment.reservation()
        let arrival = BodyArrival(environment, of: url, counting: reservation, for: job)
        defer { arrival.end() }
        if let format = ImageFormat(fileName: url.fileName) { environment.coders.prepare(for: format) }
        var message = LoadRequest(
            url: url, headers: request.headers, method: request.method, body: request.body, priority: job.priority,
            validators: cached?.entry.validators, targetSize: request.targetSize)
        message.hooks = request.downloadHooks
        message.budget = environment.configuration.budget
        message.report(to: arrival.take)
        do throws(ImageError) {
            let (answer, time) = try await environment.observe(.load, of: trace) { answer in
                ["bytes": "\(answer.loaded.data.count)", "status": "\(answer.loaded.statusCode ?? 0)"]
            } _: { [message] () throws(ImageError) in
                try await load(message, replacing: cached, in: job)
            }
            let bytes = try sourceBytes(
                answer.loaded, isRefresh ? number : nil, replacing: answer.cached, fields, requestTime: requestTime,
                loadTime: time, reservation: reservation)
            await environment.invalidate(after: request)
            environment.shared.failures.withLock { $0.remove(key.failure()) }
            environment.countDownload(.success(bytes))
            return bytes
        } catch {
            if error.code != .connectionFailed { await environment.invalidate(after: request) }
            environment.remember(error, of: url, as: key.failure())
            environment.countDownload(.failure(error))
            throw error
        }
    }

    /// Calls the loader. If it confirms another version than the cached one, or one that is gone, it is called again without validators, because
    /// nothing of what the source has is here (RFC 9111, section 4.3.4).
    private func load(
        _ message: LoadRequest, replacing asked: SourceBytes?, in job: LoadWork.Job
    ) async throws(ImageError) -> (loaded: LoadedData, cached: SourceBytes?) {
        let loaded = try await call(message, in: job)
        guard loaded.isNotModified, let asked else { return (loaded, asked) }
        var cached = await present(asked, job)
        let isContradicted = message.validators?.isContradicted(by: loaded.validators) == true
        guard isContradicted || cached?.entry.validators != asked.entry.validators else { return (loaded, cached) }
        var whole = message
        whole.validators = nil
        cached = nil  // No bytes are held during the transfer.
        let answer = try await call(whole, in: job)
        // Without a status: it is no answer about the image, so that the cached one may still be used.
        guard !answer.isNotModified else { throw .uselessConfirmation(nil) }
        return (answer, asked)
    }

    /// Calls the loader, which may ask the manager for other images.
    private func call(_ message: LoadRequest, in job: LoadWork.Job) async throws(ImageError) -> LoadedData {
        let result = await SharedWorkID.$currentJob.withValue(job.id) {
            await Result { () async throws(ImageError) in try await environment.loaders.load(message) }
        }
        return try result.get()
    }

    private func sourceBytes(
        _ loaded: LoadedData, _ number: Int?, replacing cached: SourceBytes?, _ fields: SelectingFields,
        requestTime: Date, loadTime: StageTime, reservation: BodyReservation
    ) throws(ImageError) -> SourceBytes {
        let now = environment.configuration.date()
        // The time in the loader's queue, and of failed attempts, doesn't make the answer older.
        let transferTime = loaded.transfer.map { $0.firstByte.inSeconds + $0.body.inSeconds } ?? .infinity
        let response = environment.storedResponse(
            loaded, of: request, with: fields, renewing: cached?.entry.answer,
            requestTime: max(requestTime, now.addingTimeInterval(-transferTime)), now: now)
        if loaded.isNotModified {
            guard let cached else { throw .uselessConfirmation(loaded.statusCode) }
            var entry = cached.entry
            entry.created = now
            entry.answer = response
            entry.validators = (entry.validators ?? CacheValidators()).renewed(by: loaded.validators)
            return SourceBytes(
                entry, source: .disk, isNotModified: true, diskTime: cached.diskTime, loadTime: loadTime,
                loaded: loaded, fetch: key, reservation: cached.reservation)
        }
        guard !loaded.data.isEmpty || loaded.image != nil else {
            throw ImageError(.emptyBody, stage: .load, reason: "the source sent no bytes")
        }
        var entry = DiskCacheEntry(
            data: loaded.data, created: now, mimeType: loaded.mimeType,
            validators: loaded.validators?.owned(by: loaded.url, of: url))
        entry.answer = response
        let isSame = !loaded.data.isEmpty && cached?.data == loaded.data
        // The program's own bytes belong to the image, whether the source says that it is the same or sends it again.
        if isSame { entry.extendedData = cached?.entry.extendedData }
        return SourceBytes(
            entry, source: .network, number: isSame ? nil : number, isNotModified: isSame,
            diskTime: cached?.diskTime ?? .zero, loadTime: loadTime, loaded: loaded, fetch: key,
            replacesCached: cached != nil && !isSame, reservation: reservation)
    }
}

extension ImageError {
    fileprivate static func uselessConfirmation(_ statusCode: Int?) -> ImageError {
        ImageError(
            .badResponse, stage: .load,
            reason: "the source answered that the image is unchanged, although it wasn't asked", statusCode: statusCode)
    }
}
