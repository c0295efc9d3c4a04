import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Nearly finished transfers whose last caller leaves", .timeLimited)
struct TransferGraceTests {
    private let clock = ManualClock()

    private func bench(_ change: (inout ImageManager.Configuration) -> Void = { _ in }) -> ManagerBench {
        var configuration = ImageManager.Configuration.still
        configuration.clock = clock
        configuration.cancellationGrace = .seconds(1)
        change(&configuration)
        return ManagerBench(configuration: configuration, answer: nil)
    }

    /// Cancels a load of which a part has arrived.
    private func cancel(_ request: ImageRequest = ImageRequest(url), of bench: ManagerBench, after percent: Int) async {
        let task = bench.manager.task(for: request)
        await bench.loader.arrival(of: 1)
        bench.loader.calls[0].request.receive(LoadProgress(receivedBytes: percent, expectedBytes: 100))
        task.cancel()
        #expect(await task.result.failure?.code == .cancelled)
    }

    private func waitForStore(_ bench: ManagerBench) async {
        while bench.manager.shared.downloads.heldCount > 0 { await Task.yield() }
        await bench.manager.flush()
    }

    @Test("a transfer that ends within its grace is stored on disk, and found by the next load")
    func finishes() async throws {
        let bench = bench()
        await cancel(of: bench, after: 95)
        try await clock.waitForSleepers(1)
        #expect(bench.loader.cancelled == 0 && !bench.manager.hasActiveLoads)
        bench.loader.answer(0, with: .success(.dot()))
        await waitForStore(bench)
        #expect(bench.cache.now.disk["test:a"]?.data == Data("DOT 8".utf8) && bench.cache.now.memory.isEmpty)
        #expect(try await bench.manager.load(url).source == .disk)
        #expect(bench.coder.decodes == 1 && bench.loader.calls.count == 1)
    }

    @Test("a transfer that takes longer than its grace is cancelled")
    func expires() async throws {
        let bench = bench()
        await cancel(of: bench, after: 90)
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(999))
        #expect(bench.loader.cancelled == 0)
        clock.advance(by: .milliseconds(1))
        while bench.loader.cancelled == 0 { await Task.yield() }
        await waitForStore(bench)
        #expect(bench.cache.now.disk.isEmpty)
    }

    @Test("a load that asks within the grace joins the transfer, which then has no end of its own")
    func joined() async throws {
        let bench = bench()
        await cancel(of: bench, after: 95)
        try await clock.waitForSleepers(1)
        let task = bench.manager.task(for: url)
        while bench.manager.shared.images.waitingCount < 1 || bench.manager.shared.downloads.waitingCount < 2 {
            await Task.yield()
        }
        clock.advance(by: .seconds(2))
        while bench.manager.shared.downloads.waitingCount > 1 { await Task.yield() }
        bench.loader.answer(0, with: .success(.dot()))
        #expect(try await task.image.size.width == 8)
        #expect(bench.loader.cancelled == 0 && bench.loader.calls.count == 1)
    }

    @Test(
        "there is no grace early in a transfer, without one in the configuration, or for bytes that aren't stored",
        arguments: 0..<4)
    func none(reason: Int) async throws {
        let bench = bench { if reason == 1 { $0.cancellationGrace = .zero } }
        var request = ImageRequest(url)
        if reason == 2 { request.storeTo = .memory }
        if reason == 3 { request.cachePolicy = .reload }
        await cancel(request, of: bench, after: reason == 0 ? 89 : 99)
        while bench.loader.cancelled == 0 { await Task.yield() }
        #expect(clock.sleepers == 0)
    }

    @Test("cancelAll ends transfers in their grace, too", arguments: [true, false])
    func cancelAll(isLingering: Bool) async throws {
        let bench = bench()
        if isLingering {
            await cancel(of: bench, after: 95)
            try await clock.waitForSleepers(1)
            bench.manager.cancelAll()
        } else {
            let task = bench.manager.task(for: url)
            await bench.loader.arrival(of: 1)
            bench.loader.calls[0].request.receive(LoadProgress(receivedBytes: 95, expectedBytes: 100))
            bench.manager.cancelAll()
            #expect(await task.result.failure?.code == .cancelled)
        }
        while bench.loader.cancelled == 0 { await Task.yield() }
        await waitForStore(bench)
        #expect(bench.cache.now.disk.isEmpty)
    }

    @Test("bytes that are no image are not stored")
    func noImage() async throws {
        let bench = bench()
        await cancel(of: bench, after: 95)
        bench.loader.answer(0, with: .success(LoadedData(data: Data("?".utf8), url: url)))
        await waitForStore(bench)
        #expect(bench.cache.now.disk.isEmpty)
    }

    @Test("any order of leaving, joining, and ending serves every caller once, and leaves nothing behind")
    func orders() async throws {
        for seed in 0..<200 {
            let bench = bench { $0.clock = ContinuousClock() }
            let first = bench.manager.task(for: url)
            await bench.loader.arrival(of: 1)
            bench.loader.calls[0].request.receive(LoadProgress(receivedBytes: 95, expectedBytes: 100))
            // Asked a second time only if the first one was cancelled after the transfer.
            bench.loader.answer(1, with: .success(.dot()))
            let second = bench.manager.task(for: url)
            let steps: [@Sendable () -> Void] = [
                { first.cancel() }, { bench.loader.answer(0, with: .success(.dot())) },
            ]
            await withTaskGroup(of: Void.self) { group in
                for step in seed % 2 == 0 ? steps : steps.reversed() { group.addTask { step() } }
            }
            let result = await second.result
            #expect(result.failure == nil)
            _ = await first.result
            await waitForStore(bench)
            #expect(bench.manager.shared.downloads.waitingCount == 0)
        }
    }
}
