import Foundation
import Testing

@testable import CachePolicies
@testable import TintypeCaching

@Suite("Replaying traces")
struct ReplayTests {
    private func trace(_ keys: [Int], size: (Int) -> Int = { _ in 10 }) -> Trace {
        Trace(name: "test", requests: keys.map { Trace.Request(key: $0, size: size($0)) })
    }

    @Test("A trace is read from lines after its titles")
    func parsing() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        try "seq,key,size\n1,7,5\n\n2,9,7\n3,7,6\n".write(to: file, atomically: true, encoding: .utf8)
        let trace = try Trace(csv: file)
        #expect(trace.requests.map(\.key) == [7, 9, 7] && trace.requests.map(\.size) == [5, 7, 6])
        #expect(trace.footprint == 12)
    }

    @Test("LRU misses what it would miss by hand, and never keeps what is too large")
    func leastRecentlyUsed() {
        // 2 goes for 3, then 1 for 2, then 3 for 1.
        let misses = replay(trace([1, 2, 1, 3, 2, 1, 1]), capacity: 20, with: LeastRecentlyUsed.self)
        #expect(misses.objects == 5 && misses.bytes == 50 && misses.requests == 7)
        let large = replay(trace([1, 9, 9, 1]) { $0 == 9 ? 100 : 10 }, capacity: 20, with: LeastRecentlyUsed.self)
        #expect(large.objects == 3)
        #expect(large.loadTime == Misses.loadTime(10) + 2 * Misses.loadTime(100))
        #expect(abs(large.time - Misses.time(10) - 2 * Misses.time(100)) < 1e-9)
    }

    @Test(
        "With room for all, every policy misses each object once; with none, every request",
        arguments: Main.policies.map(\.name))
    func extremes(name: String) throws {
        let run = try #require(Main.policies.first { $0.name == name }?.run)
        let trace = trace((0..<500).map { $0 * $0 % 37 })
        #expect(run(trace, trace.footprint).objects == Set(trace.requests.map(\.key)).count)
        #expect(run(trace, 0).objects == 500)
    }

    @Test("GDSF keeps small and popular objects where LRU keeps large ones")
    func greedyDual() {
        var keys: [Int] = []
        for round in 0..<50 { keys += [1, 2, 100 + round] }
        let trace = trace(keys) { $0 >= 100 ? 1_000 : 10 }
        #expect(replay(trace, capacity: 1_005, with: LeastRecentlyUsed.self).objects == 150)
        #expect(replay(trace, capacity: 1_020, with: GDSF<MissLoadTime>.self).objects == 52)
    }
}
