import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("The cancellation of jobs that run others", .timeLimited)
struct JobCancellationTests {
    private func thumbnail(_ side: Int) -> ImageRequest {
        var request = ImageRequest(url)
        request.thumbnailSize = PixelSize(width: side, height: side)
        return request
    }

    @Test(
        "The load that began a transfer can be cancelled while another load needs it, and only that one is decoded",
        .capability("DLR-14", "MGR-14"))
    func transferOutlivesItsFirstLoad() async throws {
        let decodes = Lock(0)
        let bench = ManagerBench(coder: DotCoder { decodes.withLock { $0 += 1 } }, answer: nil)
        let first = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let second = bench.manager.task(for: thumbnail(2))
        while bench.manager.waiting.fetches < 2 { await Task.yield() }
        first.cancel()
        #expect(await first.result.failure?.code == .cancelled)
        #expect(bench.loader.cancelled == 0)
        bench.loader.answer(0, with: .success(.dot()))
        #expect(try await second.image.size.width == 2)
        #expect(bench.loader.calls.count == 1)
        #expect(decodes.withLock { $0 } == 1)
    }

    @Test("The transfer is cancelled when the last load that needs it leaves, in any order", arguments: [true, false])
    func lastLoadCancelsTheTransfer(firstLeavesFirst: Bool) async throws {
        let bench = ManagerBench(answer: nil)
        let first = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let second = bench.manager.task(for: thumbnail(2))
        while bench.manager.waiting.fetches < 2 { await Task.yield() }
        let tasks = firstLeavesFirst ? [first, second] : [second, first]
        tasks[0].cancel()
        _ = await tasks[0].result
        #expect(bench.loader.cancelled == 0)
        tasks[1].cancel()
        #expect(await tasks[1].result.failure?.code == .cancelled)
        while bench.loader.cancelled < 1 || bench.manager.hasActiveLoads { await Task.yield() }
        #expect(bench.loader.calls.count == 1)
    }

    @Test("A transformed load that is cancelled leaves the plain image to those who wait for it", .capability("MGR-14"))
    func plainImageOutlivesTransformedOne() async throws {
        let transforms = Lock(0)
        let bench = ManagerBench(answer: nil)
        var request = ImageRequest(url)
        request.transformer = .closure(key: "count") { image in
            transforms.withLock { $0 += 1 }
            return image
        }
        let transformed = bench.manager.task(for: request)
        await bench.loader.arrival(of: 1)
        let plain = bench.manager.task(for: url)
        while bench.manager.waiting.images < 3 { await Task.yield() }
        transformed.cancel()
        #expect(await transformed.result.failure?.code == .cancelled)
        bench.loader.answer(0, with: .success(.dot()))
        #expect(try await plain.image.size.width == 8)
        while bench.manager.hasActiveLoads { await Task.yield() }
        #expect(bench.loader.calls.count == 1)
        #expect(bench.loader.cancelled == 0)
        #expect(transforms.withLock { $0 } == 0)
    }

    @Test("cancelAll ends every load, and the transfers with them", .capability("MGR-34"))
    func cancelAll() async throws {
        let bench = ManagerBench(answer: nil)
        var transformed = ImageRequest(url)
        transformed.transformer = .closure(key: "same") { $0 }
        let tasks = [transformed, ImageRequest(url), thumbnail(2)].map { bench.manager.task(for: $0) }
        await bench.loader.arrival(of: 1)
        while bench.manager.waiting.images < 4 { await Task.yield() }
        bench.manager.cancelAll()
        for task in tasks { #expect(await task.result.failure?.code == .cancelled) }
        while bench.loader.cancelled < 1 || bench.manager.hasActiveLoads { await Task.yield() }
        #expect(bench.manager.waiting.fetches == 0)
    }

    @Test("Whoever is cancelled, the others get the value, and work that nobody needs is cancelled", arguments: 0..<60)
    func randomCallers(seed: UInt64) async throws {
        let tower = Tower()
        var random = SeededRandom(seed: seed)
        var callers: [(task: Task<Result<Int, ImageError>, Never>, isCancelled: Bool)] = []
        for _ in 0..<24 {
            let (level, key) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<4, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                callers.append((Task { await tower.value(level: level, key: key) }, false))
            case 5..<8:
                guard let index = callers.indices.randomElement(using: &random) else { continue }
                callers[index].task.cancel()
                callers[index].isCancelled = true
            case 8:
                tower.open()
            default:
                for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
            }
        }
        if Bool.random(using: &random) {
            // Without callers all work ends by itself: no gate is opened.
            for caller in callers { caller.task.cancel() }
            for caller in callers { _ = await caller.task.value }
        } else {
            // Callers may begin work anew, behind a gate that is closed.
            let end = Task {
                while !Task.isCancelled {
                    tower.open()
                    await Task.yield()
                }
            }
            for caller in callers {
                let result = await caller.task.value
                #expect(caller.isCancelled || (try? result.get()) == 1, "seed \(seed)")
            }
            end.cancel()
        }
        while !tower.isIdle { await Task.yield() }
    }
}

/// Three levels of shared work: each key of the top level needs one of the middle level, and those need the work at the bottom, which waits
/// at a gate.
private final class Tower: Sendable {
    private struct Key: Hashable, Sendable {
        var level: Int
        var number: Int
    }

    private let shared = SharedWork<ClosureJob<Key, Int>>()
    private let waiting = Lock<[Int: CheckedContinuation<Result<Int, ImageError>, Never>]>([:])
    private let nextWait = Lock(0)

    var isIdle: Bool { shared.isIdle && waiting.withLock { $0.isEmpty } }

    func value(level: Int, key: Int) async -> Result<Int, ImageError> {
        do throws(ImageError) {
            let key = Key(level: level, number: key)
            return .success(try await shared.value(key, LoadWishes(), work(for: key)))
        } catch {
            return .failure(error)
        }
    }

    private func work(for key: Key) -> ClosureJob<Key, Int> {
        ClosureJob<Key, Int> { [self] job async throws(ImageError) in
            guard key.level < 2 else { return try await work().get() }
            let next = Key(level: key.level + 1, number: key.number / 2)
            return try await job.value(next, work(for: next))
        } keeps: { _ in
            key.number % 2 == 0
        }
    }

    /// Waits until the gate opens, or the task is cancelled.
    private func work() async -> Result<Int, ImageError> {
        let id = nextWait.withLock { id in
            id += 1
            return id
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0[id] = continuation }
                if Task.isCancelled { end(id, .failure(.cancelled)) }
            }
        } onCancel: {
            end(id, .failure(.cancelled))
        }
    }

    private func end(_ id: Int, _ result: Result<Int, ImageError>) {
        waiting.withLock { $0.removeValue(forKey: id) }?.resume(returning: result)
    }

    /// Ends all work that waits.
    func open() {
        let all = waiting.withLock { waiting in
            defer { waiting = [:] }
            return Array(waiting.values)
        }
        for continuation in all { continuation.resume(returning: .success(1)) }
    }
}
