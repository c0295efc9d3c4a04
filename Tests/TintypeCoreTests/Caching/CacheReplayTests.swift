import TestSupport
import Testing

@testable import TintypeCore

@Suite("Replaying traces", .timeLimited)
struct CacheReplayTests {
    private func trace(_ keys: [Int], size: (Int) -> Int = { _ in 10 }) throws -> CacheTrace {
        try CacheTrace(csv: keys.enumerated().map { "\($0),\($1),\(size($1))" }.joined(separator: "\n"))
    }

    @Test("lines of a trace: titles, empty lines, spaces and any key")
    func parsing() throws {
        let trace = try CacheTrace(csv: "seq,key,size\r\n\r\n1, a/b c ,5\n2,ü,7\n 3,a/b c,6\n")
        #expect(trace.requests.map(\.key) == [0, 1, 0] && trace.requests.map(\.size) == [5, 7, 6])
        #expect(trace.objects == 2 && trace.footprint == 12)
        for (text, line) in [("1,a,1\n2,b", 2), ("1,a,1\n\n2,b,-1", 3), ("seq,key,size\nseq,key,size", 2), ("a,b", 1)] {
            #expect(throws: CacheTrace.SyntaxError(line: line)) { try CacheTrace(csv: text) }
        }
        #expect(try CacheTrace(csv: "").requests.isEmpty)
    }

    @Test("LRU hits what it would hit by hand, and never keeps what is too large")
    func leastRecentlyUsed() throws {
        let result = CacheReplay.run(try trace([1, 2, 1, 3, 2, 1, 1]), policy: .leastRecentlyUsed, capacity: 20)
        // 2 goes for 3, then 1 for 2, then 3 for 1.
        #expect(result.hits == 2 && result.hitBytes == 20 && result.requests == 7)
        let large = CacheReplay.run(
            try trace([1, 9, 9, 1]) { $0 == 9 ? 100 : 10 }, policy: .leastRecentlyUsed, capacity: 20)
        #expect(large.hits == 1)
        #expect(large.loadTime == CacheReplay.loadTime(10) + 2 * CacheReplay.loadTime(100))
        #expect(large.decodeTime == CacheReplay.decodeTime(10) + 2 * CacheReplay.decodeTime(100))
    }

    @Test(
        "with room for all every policy hits all but the first; with none, nothing",
        arguments: CacheReplay.Policy.allCases)
    func extremes(policy: CacheReplay.Policy) throws {
        let trace = try trace((0..<500).map { $0 * $0 % 37 })
        let all = CacheReplay.run(trace, policy: policy, capacity: trace.footprint)
        #expect(all.hits == 500 - trace.objects && all.hitRatio < 1 && all.byteRatio > 0.9)
        #expect(CacheReplay.run(trace, policy: policy, capacity: 0).hits == 0)
    }

    @Test("GDSF keeps small and popular objects where LRU keeps large ones")
    func greedyDual() throws {
        var keys: [Int] = []
        for round in 0..<50 { keys += [1, 2, 100 + round] }
        let trace = try trace(keys) { $0 >= 100 ? 1_000 : 10 }
        let plain = CacheReplay.run(trace, policy: .leastRecentlyUsed, capacity: 1_005)
        let weighed = CacheReplay.run(trace, policy: .greedyDual, capacity: 1_020)
        #expect(plain.hits == 0 && weighed.hits == 98)
    }
}
