import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Many tasks on one URL", .timeLimited)
struct ManyTasksTests {
    @Test(
        "Of 10,000 tasks on a slow URL, 9,999 are cancelled in any order: one transfer, one result, and nothing is left",
        .capability("DLR-09", "DLR-14"), arguments: [1, 2] as [UInt64])
    func tenThousand(seed: UInt64) async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let url = try #require(URL(string: "test:a"))
        var generator = SeededRandom(seed: seed)
        weak var released: ImageTask?
        do {
            var tasks = (0..<10_000).map { _ in bench.manager.task(for: url) }
            await bench.loader.arrival(of: 1)
            let receive = bench.loader.calls[0].request.receive
            receive(LoadProgress(chunk: Data("DO".utf8), receivedBytes: 2, expectedBytes: 5))
            tasks.shuffle(using: &generator)
            let survivor = tasks.removeLast()
            released = tasks[0]
            // Half of them leave together, from several threads.
            await withTaskGroup(of: Void.self) { group in
                for part in 0..<4 {
                    let mine = tasks[(part * 1_250)..<((part + 1) * 1_250)]
                    group.addTask { for task in mine { task.cancel() } }
                }
            }
            for task in tasks[5_000...] { task.cancel() }
            for task in tasks { #expect(await task.result.failure?.code == .cancelled) }
            #expect(bench.loader.cancelled == 0)
            bench.loader.answer(0, with: .success(.dot()))
            #expect(try await survivor.image.size.width == 8)
        }
        await bench.manager.flush()
        #expect(bench.loader.calls.count == 1 && bench.coder.decodes == 1)
        while bench.manager.hasActiveLoads || budget.statistics.bodyBytes > 0 || released != nil { await Task.yield() }
        #expect(bench.manager.shared.work.isIdle)
    }
}
