import TestSupport
import Testing

import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("The table of shared work", .timeLimited)
struct TaskCoalescerStateTests {
    @Test("the first who asks begins, the second joins, and both are served once")
    func joining() {
        var state = TaskCoalescerState<String>()
        let (a, b) = (state.makeID(), state.makeID())
        guard case .begin(let job) = state.join("key", as: a, priority: .low) else {
            Issue.record("the first did not begin")
            return
        }
        #expect(state.join("key", as: b, priority: .high) == .wait(job, .high))
        #expect(Set(state.finish(job)) == [a, b])
        #expect(state.finish(job).isEmpty)
        #expect(state.jobCount == 0)
        #expect(state.subscriberCount == 0)
    }

    @Test("only the last one to leave cancels", .capability("DLR-14"))
    func leaving() {
        var state = TaskCoalescerState<String>()
        let (a, b) = (state.makeID(), state.makeID())
        guard case .begin(let job) = state.join("key", as: a, priority: .high) else { return }
        _ = state.join("key", as: b, priority: .low)
        #expect(state.leave(a) == .left(job, .low))
        #expect(state.leave(b) == .cancel(job))
        #expect(state.leave(b, mayJoinLater: false) == .nothing)
        #expect(state.finish(job).isEmpty)
    }

    @Test("who comes after the last one left begins anew", .capability("DLR-15"))
    func rejoining() {
        var state = TaskCoalescerState<String>()
        let (a, b) = (state.makeID(), state.makeID())
        guard case .begin(let first) = state.join("key", as: a, priority: .normal) else { return }
        _ = state.leave(a)
        guard case .begin(let second) = state.join("key", as: b, priority: .normal) else {
            Issue.record("joined work that is being cancelled")
            return
        }
        #expect(first != second)
        // The end of the cancelled work is nobody's end.
        #expect(state.finish(first).isEmpty)
        #expect(state.finish(second) == [b])
    }

    @Test("who leaves before joining is refused, once", .capability("DLR-17"))
    func leavingEarly() {
        var state = TaskCoalescerState<String>()
        let a = state.makeID()
        #expect(state.leave(a) == .nothing)
        #expect(state.join("key", as: a, priority: .normal) == .refuse)
        #expect(state.jobCount == 0)
    }

    @Test("the priority is the highest of those who wait, at any time", .capability("DLR-19"))
    func priorities() throws {
        var state = TaskCoalescerState<String>()
        let (a, b) = (state.makeID(), state.makeID())
        guard case .begin(let job) = state.join("key", as: a, priority: .low) else { return }
        _ = state.join("key", as: b, priority: .normal)
        let raised = state.setPriority(.veryHigh, of: a)
        #expect(try #require(raised) == (job, .veryHigh))
        let same = state.setPriority(.high, of: b)
        #expect(same == nil)
        let lowered = state.setPriority(.veryLow, of: a)
        #expect(try #require(lowered) == (job, .high))
    }

    @Test(
        "any order of joining, leaving and finishing serves each subscriber exactly once",
        .capability("DLR-12", "3.12"),
        arguments: 0..<50)
    func anyOrder(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var state = TaskCoalescerState<Int>()
        var waiting: Set<Int> = []
        var jobs: Set<Int> = []
        var ends: [Int: Int] = [:]
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let id = state.makeID()
                let leavesEarly = Int.random(in: 0..<8, using: &random) == 0
                if leavesEarly { #expect(state.leave(id) == .nothing) }
                switch state.join(Int.random(in: 0..<4, using: &random), as: id, priority: .normal) {
                case .begin(let job):
                    #expect(jobs.insert(job).inserted)
                    waiting.insert(id)
                case .wait(let job, _):
                    #expect(jobs.contains(job))
                    waiting.insert(id)
                case .refuse:
                    #expect(leavesEarly)
                    ends[id, default: 0] += 1
                }
            case 5..<8:
                guard let id = waiting.randomElement(using: &random) else { continue }
                switch state.leave(id) {
                case .nothing: Issue.record("a waiting subscriber was not known; seed \(seed)")
                case .left: break
                case .cancel(let job): jobs.remove(job)
                }
                waiting.remove(id)
                ends[id, default: 0] += 1
            default:
                guard let job = jobs.randomElement(using: &random) else { continue }
                for id in state.finish(job) {
                    #expect(waiting.remove(id) != nil)
                    ends[id, default: 0] += 1
                }
                jobs.remove(job)
            }
            #expect(state.subscriberCount == waiting.count, "seed \(seed)")
            #expect(state.jobCount == jobs.count, "seed \(seed)")
        }
        for job in jobs { for id in state.finish(job) { ends[id, default: 0] += 1 } }
        #expect(ends.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    }
}
