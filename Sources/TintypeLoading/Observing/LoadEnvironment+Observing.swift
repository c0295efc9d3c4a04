internal import Logging
internal import Synchronization
internal import Tracing

extension LoadEnvironment {
    // MARK: Loads

    /// Counts an image that was in memory. Hits aren't logged: a log line would take as long as the hit.
    @inline(__always)
    func countMemoryHit() {
        shared.counters.memoryHits.wrappingAdd(1, ordering: .relaxed)
        configuration.meters?.countMemoryHit()
    }

    /// Starts a load that a caller waits for.
    func beginLoad(_ request: ImageRequest) -> LoadTrace {
        shared.counters.count { $0.loads += 1 }
        let trace = LoadTrace(span: configuration.tracer?.startSpan("tintype.load"))
        trace.span?.attributes["tintype.url"] = request.url.shortDescription
        configuration.logger.debug(
            "The load started",
            metadata: ["request": "\(trace.id)", "url": "\(request.url.shortDescription)"])
        return trace
    }

    /// Ends a load that succeeded.
    func endLoad(_ trace: LoadTrace, from source: ImageOrigin, _ metrics: ImageMetrics) {
        // The results have the names of the origins.
        let result = LoadMeters.LoadResult(rawValue: source.rawValue) ?? .network
        let time = countEnd(of: trace, result, isShared: metrics.isShared)
        configuration.logger.debug(
            "The load succeeded",
            metadata: [
                "request": "\(trace.id)", "source": "\(source.rawValue)", "shared": "\(metrics.sharedStages)",
                "duration-ms": "\(time.inMilliseconds)",
            ])
        guard let span = trace.span else { return }
        span.attributes["tintype.source"] = source.rawValue
        if metrics.isShared { span.attributes["tintype.shared"] = metrics.sharedStages }
        span.end()
    }

    /// Ends a load that failed.
    func endLoad(_ trace: LoadTrace, with error: ImageError) {
        let result: LoadMeters.LoadResult =
            error.isCancellation ? .cancelled : error.code == .notCached ? .notCached : .failed
        let time = countEnd(of: trace, result, isShared: false)
        configuration.logger.debug(
            error.isCancellation ? "The load was canceled" : "The load failed",
            metadata: [
                "request": "\(trace.id)", "error": "\(error)", "duration-ms": "\(time.inMilliseconds)",
            ])
        trace.span?.end(with: error)
    }

    /// Counts a load that has ended.
    /// - Returns: the time since its start.
    private func countEnd(of trace: LoadTrace, _ result: LoadMeters.LoadResult, isShared: Bool) -> Duration {
        shared.counters.count { statistics in
            switch result {
            case .memory: statistics.memoryHits += 1
            case .disk: statistics.diskHits += 1
            case .network, .notCached: statistics.misses += 1
            case .failed: statistics.failures += 1
            case .cancelled: statistics.cancellations += 1
            }
            if isShared { statistics.shared += 1 }
        }
        let time = ContinuousClock.now - trace.start
        configuration.meters?.record(result, after: time, isShared: isShared)
        return time
    }

    // MARK: Stages

    /// Runs a stage of a load, and measures it.
    /// - Parameter describe: Returns how the log describes the result. Not called unless it is logged.
    func observe<Value: Sendable>(
        _ stage: LoadStage, of trace: LoadTrace, describe: (Value) -> Logger.Metadata = { _ in [:] },
        _ body: () async throws(ImageError) -> Value
    ) async throws(ImageError) -> (value: Value, time: StageTime) {
        let stopwatch = StageStopwatch()
        let span = trace.span.flatMap { configuration.tracer?.startSpan(stage.spanName, context: $0.context) }
        let start = ContinuousClock.now
        let result = await StageStopwatch.$current.withValue(stopwatch) {
            guard let span else { return await Result(catching: body) }
            return await ServiceContext.$current.withValue(span.context) { await Result(catching: body) }
        }
        let time = StageTime(total: ContinuousClock.now - start, queued: stopwatch.waited, load: trace.id)
        configuration.meters?.record(stage, time)
        switch result {
        case .success(let value):
            configuration.logger.debug(
                stage.message, metadata: stage.metadata(trace, time).merging(describe(value)) { $1 })
            span?.end()
        case .failure(let error):
            configuration.logger.debug(
                "A stage of the load failed",
                metadata: stage.metadata(trace, time).merging(["error": "\(error)"]) { $1 })
            span?.end(with: error)
        }
        return (try result.get(), time)
    }

    /// Reads an entry of a cache, once the budget has room for it.
    func entry(
        for key: ImageKey, in cache: ImageCache, of trace: LoadTrace, priority: WorkPriority
    ) async -> (DiskCacheEntry?, StageTime) {
        // No error: a cache that can't be read has no entries.
        let read = try? await observe(.disk, of: trace) { entry in
            ["bytes": "\(entry?.data.count ?? 0)", "hit": "\(entry != nil)"]
        } _: { () throws(ImageError) in
            try await cache.entry(forKey: key, priority: priority, within: configuration.budget)
        }
        return read.map { ($0.value, $0.time) } ?? (nil, .zero)
    }

    /// Counts a transfer that has ended.
    func countDownload(_ outcome: Result<SourceBytes, ImageError>) {
        let result: LoadMeters.DownloadResult
        var bytes = 0
        switch outcome {
        case .success(let loaded) where loaded.isConfirmation: result = .current
        case .success(let loaded): (result, bytes) = (.loaded, loaded.data.count)
        case .failure: result = .failed
        }
        shared.counters.count { statistics in
            switch result {
            case .loaded: statistics.downloads += 1
            case .current: statistics.confirmations += 1
            case .failed: statistics.failedDownloads += 1
            }
            statistics.downloadedBytes += bytes
        }
        configuration.meters?.record(result, bytes: bytes)
    }
}

extension LoadStage {
    fileprivate var spanName: String { "tintype.stage." + rawValue }

    fileprivate var message: Logger.Message {
        switch self {
        case .disk: "The disk cache answered"
        case .load: "The loader delivered the bytes"
        case .decode: "The image was decoded"
        case .transform: "The image was transformed"
        case .encode: "The image was encoded"
        case .store: "The disk cache stored the image"
        }
    }

    fileprivate func metadata(_ trace: LoadTrace, _ time: StageTime) -> Logger.Metadata {
        [
            "request": "\(trace.id)", "stage": "\(rawValue)", "duration-ms": "\(time.total.inMilliseconds)",
            "queued-ms": "\(time.queued.inMilliseconds)",
        ]
    }
}

extension Span {
    fileprivate func end(with error: ImageError) {
        if !error.isCancellation {
            recordError(error)
            setStatus(SpanStatus(code: .error))
        }
        end()
    }
}
