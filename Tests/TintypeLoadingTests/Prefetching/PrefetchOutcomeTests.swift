import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("The ends of prefetched images", .timeLimited)
struct PrefetchOutcomeTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func url(_ number: Int) -> URL { URL(string: "test:\(number)")! }

    private func lines(_ outcomes: AsyncStream<(url: URL, outcome: PrefetchOutcome)>) async -> [String] {
        var lines: [String] = []
        for await (url, outcome) in outcomes {
            switch outcome {
            case .loaded: lines.append("\(url) loaded")
            case .skipped: lines.append("\(url) skipped")
            case .failed(let error): lines.append("\(url) \(error.statusCode ?? 0)")
            case .cancelled: lines.append("\(url) cancelled")
            }
        }
        return lines
    }

    @Test("Every observer is told each URL with its outcome, also one that comes late", .capability("PRE-05", "PRE-07"))
    func outcomes() async throws {
        let bench = ManagerBench { url in
            url == URL(string: "test:2")
                ? .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)) : .success(.dot())
        }
        _ = try await bench.manager.image(for: url(0))
        var configuration = ImagePrefetcher.Configuration()
        configuration.maximumConcurrentLoads = 1
        let prefetcher = ImagePrefetcher(manager: bench.manager, configuration: configuration, pressure: nil)
        prefetcher.isPaused = true
        let prefetch = prefetcher.prefetch((0..<6).map(url))
        let early = prefetch.outcomes
        prefetch.cancel(url(4))
        prefetcher.isPaused = false
        let expected = [
            "test:4 cancelled", "test:0 skipped", "test:1 loaded", "test:2 404", "test:3 loaded", "test:5 loaded",
        ]
        #expect(await lines(early) == expected)
        #expect(await lines(prefetch.outcomes) == expected, "after the end")
        #expect(prefetch.failures.map(\.url) == [url(2)] && prefetch.currentProgress.isFinished)
    }

    @Test("A prefetch that is cancelled tells of each URL, whether it ran or waited", .capability("PRE-05", "PRE-08"))
    func cancelling() async {
        let bench = ManagerBench(answer: nil)
        let prefetch = ImagePrefetcher(manager: bench.manager, pressure: nil).prefetch((0..<5).map(url))
        await bench.loader.arrival(of: 3)
        prefetch.cancel()
        #expect(await lines(prefetch.outcomes).sorted() == (0..<5).map { "test:\($0) cancelled" })
    }

    @Test("To disk, a local file is skipped if it is there, and fails if it isn't", .capability("PRE-13"))
    func localFiles() async throws {
        let bench = ManagerBench()
        bench.manager.loaders.add(FileLoader())
        var configuration = ImagePrefetcher.Configuration()
        configuration.storesOnDiskOnly = true
        let prefetcher = ImagePrefetcher(manager: bench.manager, configuration: configuration, pressure: nil)
        let urls = [
            try folder.write(Data("DOT 4".utf8), to: "there.dot"), folder.url(of: "missing.dot"),
            try folder.write(Data("text".utf8), to: "text.dot"),
        ]
        let prefetch = prefetcher.prefetch(urls)
        let end = await prefetch.wait()
        #expect(end.skipped == 1 && end.failed == 2)
        #expect(prefetch.failures.first(where: { $0.url == urls[1] })?.error.code == .fileUnreadable)
        #expect(bench.cache.now.disk.isEmpty && bench.coder.decodes == 0)
    }

    @Test("What its source forbids to store fails to be prefetched", .capability("PRE-13"), arguments: [true, false])
    func forbidden(toDiskOnly: Bool) async throws {
        let bench = ManagerBench { url in
            var loaded = LoadedData.dot(url.absoluteString)
            loaded.statusCode = 200
            loaded.headers["Vary"] = "*"
            return .success(loaded)
        }
        var configuration = ImagePrefetcher.Configuration()
        configuration.storesOnDiskOnly = toDiskOnly
        let prefetcher = ImagePrefetcher(manager: bench.manager, configuration: configuration, pressure: nil)
        let prefetch = prefetcher.prefetch([url(0)])
        #expect(await prefetch.wait().failed == 1 && bench.cache.now.disk.isEmpty && bench.cache.now.memory.isEmpty)
        #expect(prefetch.failures.first?.error.code == .notCached)
    }
}
