import Testing
import TestSupport

@testable import TestDoubles
@testable import TintypeImages

@Suite("Locks", .timeLimited)
struct LockTests {
    @Test("Copies share the value, which is released with the last of them")
    func copies() {
        final class Value: Sendable {}
        weak var released: Value?
        var first: Lock<(Value, Int)>?
        do {
            let value = Value()
            released = value
            first = Lock((value, 0))
        }
        var second = first
        second?.withLock { $0.1 += 1 }
        #expect(first?.withLock { $0.1 } == 1)
        first = nil
        #expect(released != nil)
        second = nil
        #expect(released == nil)
    }

    @Test("Changes from several threads don't get lost")
    func contention() async {
        let lock = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { lock.withLock { $0 += 1 } } }
            }
        }
        #expect(lock.withLock { $0 } == 8_000)
    }

    @Test("A duration in nanoseconds, also where it is longer than they can tell")
    func nanoseconds() {
        #expect(Duration.milliseconds(1_500).inNanoseconds == 1_500_000_000)
        #expect(Duration.nanoseconds(-7).inNanoseconds == -7)
        #expect(Duration.seconds(Int64.max).inNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).inNanoseconds == .min)
    }
}
