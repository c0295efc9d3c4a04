import CoreMetrics
import FoundationEssentials
import InMemoryTracing
import Logging
import MetricsTestKit
import TestSupport
import Testing
import Tracing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// A transformer that returns its image.
private struct Same: ImageTransformer {
    let key = "same"
    func transform(_ image: Image, context: ProcessingContext) throws -> Image { image }
    func transform(_ image: Image) throws -> Image { image }
}

@Suite("The log, the counters, and the traces of loads", .timeLimited)
struct ObservingTests {
    private func request(_ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        change(&request)
        return request
    }

    @Test("The log has a line for each stage, with the number of the request", .capability("OBS-01"))
    func log() async throws {
        let log = RecordingLog()
        var configuration = ImageManager.Configuration.still
        configuration.logger = log.logger(level: .debug)
        let bench = ManagerBench(configuration: configuration)
        let result = try await bench.manager.load(request { $0.transformer = Same() })
        let id = try #require(result.metrics.requestID)
        let lines = log.lines
        #expect(lines.allSatisfy { $0.level == .debug && $0.metadata["request"] == "\(id)" })
        #expect(Set(lines.compactMap { $0.metadata["stage"] }) == ["disk", "load", "decode", "transform", "store"])
        #expect(lines.filter { $0.metadata["stage"] != nil }.allSatisfy { $0.metadata["duration-ms"] != nil })
        #expect(lines.first?.message == "The load started" && lines.first?.metadata["url"] == "test:a")
        #expect(lines.last?.message == "The load succeeded" && lines.last?.metadata["source"] == "network")
        // A hit in memory is not logged.
        _ = try await bench.manager.load(request { $0.transformer = Same() })
        #expect(log.lines.count == lines.count)
    }

    @Test("A failure is logged with its stage, and nothing is below the level of the logger", .capability("OBS-01"))
    func logOfFailure() async throws {
        let log = RecordingLog()
        var configuration = ImageManager.Configuration.still
        configuration.logger = log.logger(level: .debug)
        let error = ImageError(.badStatus, stage: .load, reason: "HTTP 404", statusCode: 404)
        let bench = ManagerBench(configuration: configuration) { _ in .failure(error) }
        _ = await bench.failure(request())
        #expect(log.lines.contains { $0.metadata["stage"] == "load" && $0.metadata["error"]?.contains("404") == true })
        #expect(log.lines.last?.message == "The load failed")

        let quiet = RecordingLog()
        configuration.logger = quiet.logger(level: .info)
        _ = try await ManagerBench(configuration: configuration).manager.image(for: url)
        #expect(quiet.lines.isEmpty)
    }

    @Test("Each load is counted once, by its result", .capability("OBS-02"))
    func counters() async throws {
        let metrics = TestMetrics()
        var configuration = ImageManager.Configuration.still
        configuration.metrics = metrics
        let bench = ManagerBench(configuration: configuration) { url in
            url == URL(string: "test:bad")!
                ? .failure(ImageError(.badStatus, stage: .load, reason: "")) : .success(.dot())
        }
        _ = try await bench.manager.image(for: request())
        _ = try await bench.manager.image(for: url)
        _ = try await bench.manager.image(for: request { $0.cache.query = .disk })
        _ = await bench.failure(ImageRequest(URL(string: "test:bad")!))
        func total(_ label: String, _ dimensions: [(String, String)] = []) -> Int64 {
            metrics.counterTotal(label: label, dimensions: dimensions)
        }
        for result in ["memory", "network", "disk", "failed"] {
            #expect(total("tintype.loads", [("result", result)]) == 1, "\(result)")
        }
        #expect(total("tintype.loads", [("result", "cancelled")]) == 0)
        #expect(total("tintype.downloads", [("result", "loaded")]) == 1)
        #expect(total("tintype.downloads", [("result", "failed")]) == 1)
        #expect(total("tintype.download.bytes") == 5)
        #expect(try metrics.expectTimer("tintype.load.duration").values.count == 3)
        for (stage, count) in [("disk", 3), ("load", 2), ("decode", 2), ("store", 1)] {
            let dimensions = [("stage", stage)]
            #expect(try metrics.expectTimer("tintype.stage.duration", dimensions).values.count == count, "\(stage)")
            #expect(try metrics.expectTimer("tintype.stage.queued", dimensions).values.count == count, "\(stage)")
        }
    }

    @Test("A load has a span with one for each stage in it, and loaders run in theirs", .capability("OBS-03"))
    func spans() async throws {
        let tracer = InMemoryTracer()
        var configuration = ImageManager.Configuration.still
        configuration.tracer = tracer
        let context = Lock<ServiceContext?>(nil)
        let bench = ManagerBench(configuration: configuration) { _ in
            context.withLock { $0 = ServiceContext.current }
            return .success(.dot())
        }
        _ = try await bench.manager.image(for: request { $0.transformer = Same() })
        let spans = tracer.finishedSpans
        let load = try #require(spans.first { $0.operationName == "tintype.load" && $0.parentSpanID == nil })
        let stages = spans.filter { $0.parentSpanID == load.spanID }
        #expect(
            Set(stages.map(\.operationName)) == [
                "tintype.stage.disk", "tintype.stage.load", "tintype.stage.decode", "tintype.stage.transform",
                "tintype.stage.store",
            ])
        #expect(spans.count == stages.count + 1 && tracer.activeSpans.isEmpty)
        let inside = try #require(context.withLock { $0 }?.inMemorySpanContext)
        #expect(inside.spanID == stages.first { $0.operationName == "tintype.stage.load" }?.spanID)
        // A hit in memory has none.
        tracer.clearFinishedSpans()
        _ = try await bench.manager.image(for: request { $0.transformer = Same() })
        #expect(tracer.finishedSpans.isEmpty)
    }

    @Test("A failed load has spans with the error", .capability("OBS-03"))
    func failedSpans() async throws {
        let tracer = InMemoryTracer()
        var configuration = ImageManager.Configuration.still
        configuration.tracer = tracer
        let bench = ManagerBench(configuration: configuration) { _ in
            .success(LoadedData(data: Data("DOT x".utf8), url: url))
        }
        _ = await bench.failure(request())
        let failed = tracer.finishedSpans.filter { !$0.errors.isEmpty }
        #expect(Set(failed.map(\.operationName)) == ["tintype.stage.decode", "tintype.load"])
        #expect(failed.allSatisfy { $0.status?.code == .error } && tracer.activeSpans.isEmpty)
    }

    @Test("Statistics count every load in one place, and transfers once", .capability("OBS-05"))
    func statistics() async throws {
        let bench = ManagerBench(answer: nil)
        let tasks = (0..<3).map { _ in bench.manager.task(for: request()) }
        await bench.loader.arrival(of: 1)
        while bench.manager.waiting.images < 3 { await Task.yield() }
        #expect(bench.manager.statistics.loads == 3 && bench.manager.statistics.active == 3)
        tasks[2].cancel()
        _ = await tasks[2].result
        bench.loader.answer(0, with: .success(.dot()))
        for task in tasks[..<2] { _ = try await task.image }
        _ = try await bench.manager.image(for: url)
        _ = try await bench.manager.data(for: request())
        let bad = bench.manager.task(for: ImageRequest(URL(string: "test:bad")!))
        await bench.loader.arrival(of: 2)
        bench.loader.answer(1, with: .failure(ImageError(.timedOut, stage: .load, reason: "")))
        _ = await bad.result

        var expected = ImageManager.Statistics()
        expected.loads = 6
        expected.memoryHits = 1
        expected.diskHits = 1
        expected.misses = 2
        expected.failures = 1
        expected.cancellations = 1
        expected.shared = 1
        expected.downloads = 1
        expected.failedDownloads = 1
        expected.downloadedBytes = 5
        var statistics = bench.manager.statistics
        // One of the three began the work. If that was the canceled one, both others shared it.
        #expect([1, 2].contains(statistics.shared))
        statistics.shared = 1
        #expect(statistics == expected && statistics.active == 0)
    }

    @Test("A result tells which stages another load carried out", .capability("OBS-04"))
    func sharing() async throws {
        let bench = ManagerBench(answer: nil)
        let sizes = [nil, nil, PixelSize(width: 2, height: 2)]
        let tasks = sizes.map { size in bench.manager.task(for: request { $0.thumbnailSize = size }) }
        await bench.loader.arrival(of: 1)
        while bench.manager.waiting.fetches < 2 || bench.manager.waiting.images < 3 {
            await Task.yield()
        }
        bench.loader.answer(0, with: .success(.dot()))
        var metrics: [ImageMetrics] = []
        for task in tasks { metrics.append(try await task.result.get().metrics) }
        // One of the equal loads carried out the other's work, and one load of the three transferred the bytes.
        #expect(metrics[0].decode.isShared != metrics[1].decode.isShared)
        #expect(!metrics[2].decode.isShared)
        #expect(metrics.count { !$0.load.isShared } == 1, "\(metrics.map(\.sharedStages))")
        let alone = try await bench.manager.load(request { $0.cache.query = .disk }).metrics
        #expect(!alone.isShared && alone.load == .zero)
    }

    @Test("Results split the time of a stage into waiting and running", .capability("OBS-04"))
    func queuedTime() async throws {
        let (release, done) = (BlockingSignal(), Lock(false))
        var configuration = ImageManager.Configuration.still
        let queue = WorkQueue(label: "one", width: 1)
        configuration.processing = queue
        let bench = ManagerBench(configuration: configuration)
        let blocker = Task {
            try await queue.perform { _ in
                while release.wait(milliseconds: 1_000) == nil {}
                done.withLock { $0 = true }
            }
        }
        while queue.load.running == 0 { await Task.yield() }
        let task = bench.manager.task(for: request())
        while queue.load.waiting == 0 { await Task.yield() }
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(2) { await Task.yield() }
        let waited = ContinuousClock.now - start
        release.send(true)
        let metrics = try await task.result.get().metrics
        try await blocker.value
        #expect(metrics.decode.queued >= waited && metrics.decode.running > .zero)
        #expect(metrics.decode.total == metrics.decode.queued + metrics.decode.running)
        #expect(metrics.load.queued == .zero && metrics.total >= metrics.decode.total)
    }
}
