import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Bodies in the decode budget", .timeLimited)
struct BodyBudgetTests {
    @Test("The bytes of a load count from the first one that arrives until the load ends")
    func whileArriving() async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let receive = bench.loader.calls[0].request.receive
        receive(LoadProgress(chunk: Data(count: 3_000), receivedBytes: 3_000, expectedBytes: 9_000))
        #expect(budget.statistics.bodyBytes == 3_000)
        receive(LoadProgress(chunk: Data(count: 6_000), receivedBytes: 9_000, expectedBytes: 9_000))
        #expect(budget.statistics.bodyBytes == 9_000)
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await bench.manager.flush()
        while budget.statistics.bodyBytes > 0 { await Task.yield() }
    }

    @Test("A cancelled or failed transfer no longer counts", arguments: [true, false])
    func afterTheEnd(isCancelled: Bool) async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        bench.loader.calls[0].request.receive(
            LoadProgress(chunk: Data(count: 3_000), receivedBytes: 3_000, expectedBytes: nil))
        if isCancelled {
            task.cancel()
        } else {
            bench.loader.answer(0, with: .failure(ImageError(.timedOut, stage: .load, reason: "too slow")))
        }
        #expect(await task.result.failure != nil)
        // Although the loader still has the closure that reports progress.
        while budget.statistics.bodyBytes > 0 { await Task.yield() }
    }

    @Test("A loader that reports impossible numbers neither overflows the budget nor stops other loads")
    func impossibleNumbers() async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let tasks = try (0..<20).map { bench.manager.task(for: try #require(URL(string: "test:\($0)"))) }
        await bench.loader.arrival(of: tasks.count)
        for call in bench.loader.calls {
            call.request.receive(LoadProgress(chunk: Data(), receivedBytes: .max, expectedBytes: .min))
            call.request.receive(LoadProgress(chunk: Data(), receivedBytes: .min, expectedBytes: .max))
        }
        for index in tasks.indices { bench.loader.answer(index, with: .success(.dot())) }
        for task in tasks { #expect(try await task.image.size.width == 8) }
    }

    @Test("A transfer begins only while the bodies that wait for their decode leave room")
    func transfersWaitForRoom() async throws {
        let budget = DecodeBudget(limit: ByteCount(5))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let first = BodyReservation(budget)
        first.grow(to: 1_000)
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let request = bench.loader.calls[0].request
        try await request.waitForRoom()  // Bytes that are still arriving don't count.
        first.complete(1_000)
        let began = Lock(false)
        let waiting = Task {
            try await request.waitForRoom()
            began.withLock { $0 = true }
        }
        let cancelled = Task { try await request.waitForRoom() }
        cancelled.cancel()
        #expect(await cancelled.result.failure is ImageError)
        #expect(!began.withLock { $0 })
        withExtendedLifetime(first) {}
        _ = consume first
        try await waiting.value
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await task.image
    }

    @Test("Transfers begin in the order of their priority, and those that leave hold nobody up")
    func orderOfTransfers() {
        var state = DecodeBudgetState(limit: 100)
        state.addBody(100)
        state.completeBody(100)
        let ids = [ImagePriority.low, .high, .normal].compactMap { priority -> Int? in
            guard case .wait(let id) = state.requestTransfer(priority: priority) else { return nil }
            return id
        }
        #expect(ids.count == 3 && state.admitTransfers() == [])
        let hasLeft = state.leaveTransfer(ids[2])
        #expect(hasLeft)
        _ = state.removeBody(1, complete: 1)
        #expect(state.admitTransfers() == [ids[1], ids[0]])
        #expect(state.requestTransfer(priority: .low) == .granted)
    }

    @Test("One decode may run however much the bodies take; the next one waits for them")
    func decodesWaitForBodies() {
        var state = DecodeBudgetState(limit: 100)
        state.addBody(500)
        let isFirstAdmitted = state.reserve(10, priority: .normal)
        #expect(isFirstAdmitted)
        guard case .wait(let second) = state.request(10, priority: .normal) else {
            Issue.record("decoded beside a body that fills the budget")
            return
        }
        let admitted = state.removeBody(450)
        #expect(admitted == [second])
        #expect(state.bodyBytes == 50)
        #expect(state.reservedBytes == 20)
    }
}
