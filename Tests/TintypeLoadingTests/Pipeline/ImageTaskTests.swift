import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Following a load", .timeLimited)
struct ImageTaskTests {
    private let url = URL(string: "test:a")!
    private let loader = GatedLoader()
    private var manager: ImageManager {
        ImageManager(cache: DictionaryCache(), loader: loader, coders: ImageCoders([DotCoder()]))
    }

    @Test("Every watcher sees the progress so far and exactly one end", .capability("3.12"))
    func watchers() async {
        let task = manager.task(for: url)
        let early = task.events
        await loader.arrival(of: 1)
        loader.calls[0].request.receive(LoadProgress(receivedBytes: 0, expectedBytes: 100))
        loader.calls[0].request.receive(LoadProgress(receivedBytes: 50, expectedBytes: 100))
        let late = task.events
        loader.answer(0, with: .success(.dot()))
        for (name, stream) in [("early", early), ("late", late)] {
            var fractions: [Double?] = []
            var ends = 0
            for await event in stream {
                switch event {
                case .progress(let progress): fractions.append(progress.fraction)
                case .preview: Issue.record("\(name): no preview was made")
                case .finished(let result):
                    ends += 1
                    #expect(result.failure == nil)
                }
            }
            #expect(ends == 1, "\(name)")
            #expect(fractions.last == 0.5, "\(name)")
        }
        var after: [ImageEvent] = []
        for await event in task.events { after.append(event) }
        #expect(after.count == 1)
    }

    @Test("Progress never goes back: not in a repeated transfer, nor if its size is corrected", .capability("VEW-07"))
    func steps() async throws {
        let task = manager.task(for: url)
        await loader.arrival(of: 1)
        let reports: [(received: Int, expected: Int?, seen: Double?)] = [
            (10, nil, nil), (30, 100, 0.3), (20, 100, 0.3), (75, 100, 0.75), (0, 600, 0.75), (80, 600, 0.75),
            (76, 200, 0.75), (90, nil, nil), (100, 600, nil), (80, nil, nil), (40, 50, 0.8), (600, 600, 1),
        ]
        for (received, expected, seen) in reports {
            loader.calls[0].request.receive(LoadProgress(receivedBytes: received, expectedBytes: expected))
            // A new observer is told the progress so far at once.
            guard case .progress(let progress)? = await task.events.first(where: { _ in true }) else {
                Issue.record("no progress after \(received) of \(expected ?? 0)")
                continue
            }
            #expect(progress.fraction == seen, "\(received) of \(expected ?? 0)")
        }
        loader.answer(0, with: .success(.dot()))
        _ = try await task.image
    }

    @Test("Loads begin in the order of their calls, and end with all others at once", .capability("MGR-36"))
    func begin() async {
        let manager = manager
        let tasks = (0..<8).map { manager.task(for: URL(string: "test:\($0)")!) }
        #expect(manager.hasActiveLoads)
        await loader.arrival(of: 8)
        #expect(loader.calls.map(\.request.url.absoluteString) == (0..<8).map { "test:\($0)" })
        let late = manager.task(for: url)
        manager.cancelAll()
        for task in tasks + [late] { #expect(await task.result.failure?.code == .cancelled) }
    }

    @Test("An error is the end of the stream too")
    func failure() async {
        let task = manager.task(for: url)
        let events = task.events
        await loader.arrival(of: 1)
        loader.answer(0, with: .failure(ImageError(.badStatus, stage: .load, reason: "500", statusCode: 500)))
        var codes: [ImageError.Code?] = []
        for await event in events {
            if case .finished(let result) = event { codes.append(result.failure?.code) }
        }
        #expect(codes == [.badStatus])
    }

    @Test(
        "A change of priority reaches the transfer that waits, and the highest of all counts",
        .capability("3.11", "DLR-19"))
    func priority() async throws {
        let manager = manager
        var request = ImageRequest(url)
        request.priority = .low
        let task = manager.task(for: request)
        await loader.arrival(of: 1)
        let priority = loader.calls[0].request.priority
        #expect(priority.value == .low)
        task.priority = .high
        #expect(priority.value == .high)
        request.priority = .normal
        // Joined when its progress arrives: it is told the newest at once.
        loader.calls[0].request.receive(LoadProgress(receivedBytes: 1, expectedBytes: 2))
        let second = manager.task(for: request)
        for await _ in second.events { break }
        task.priority = .veryLow
        #expect(priority.value == .normal)
        second.cancel()
        _ = await second.result
        #expect(priority.value == .veryLow)
        loader.answer(0, with: .success(.dot()))
        _ = try await task.image
    }

    @Test("Dropping a task does not end its load", .capability("OLD-08"))
    func dropped() async throws {
        let cache = DictionaryCache()
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        do { _ = manager.task(for: url) }
        await loader.arrival(of: 1)
        let watcher = manager.task(for: url)
        loader.answer(0, with: .success(.dot()))
        _ = try await watcher.image
        #expect(loader.cancelled == 0)
    }
}
