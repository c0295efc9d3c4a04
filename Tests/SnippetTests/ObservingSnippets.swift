import Foundation
import Logging
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Snippets: observing loads", .timeLimited)
struct ObservingSnippets {
    let bench: SnippetBench

    init() throws { bench = try SnippetBench() }

    @Test("A result has the durations of its stages", .capability("OBS-04"))
    func metrics() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        // snippet: metrics
        let metrics = try await manager.load(url).metrics
        print(metrics.decode.queued, metrics.decode.running)  // waiting for a thread, and decoding
        if metrics.load.isShared { print("another load brought the bytes") }
        // snippet.end
        #expect(metrics.decode.running > .zero && !metrics.load.isShared)
    }

    @Test("A manager counts its loads", .capability("OBS-05"))
    func statistics() async throws {
        let (manager, url) = (try bench.manager(), try bench.file())
        _ = try await manager.image(for: url)
        _ = try await manager.image(for: url)
        // snippet: statistics
        let statistics = manager.statistics
        print("\(statistics.memoryHits + statistics.diskHits) of \(statistics.loads) loads were cached")
        print("\(statistics.downloads) downloads of \(statistics.downloadedBytes) bytes")
        // snippet.end
        #expect(statistics.loads == 2 && statistics.memoryHits == 1 && statistics.misses == 1)
    }

    @Test("A manager has a log of its own", .capability("OBS-01"))
    func log() async throws {
        let manager = try bench.manager()
        // snippet: observing
        var configuration = manager.configuration
        configuration.logger.logLevel = .debug  // each stage of each load
        configuration.metrics = nil  // no counters and timers, even if a backend is bootstrapped
        configuration.tracer = nil  // no traces, either
        manager.configuration = configuration
        // snippet.end
        #expect(manager.configuration.logger.logLevel == .debug)
    }
}
