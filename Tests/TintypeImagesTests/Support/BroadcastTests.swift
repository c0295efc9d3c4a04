import TestSupport
import Testing

@testable import TintypeImages

@Suite("A broadcast", .timeLimited)
struct BroadcastTests {
    @Test("Tells each observer each event until it is removed, and of the end")
    func observers() {
        let (broadcast, told) = (Broadcast<Int>(), Lock<[String]>([]))
        let one = broadcast.add { event in told.withLock { $0.append("one \(event)") } }
        _ = broadcast.add { event in
            told.withLock { $0.append("two \(event)") }
        } end: {
            told.withLock { $0.append("end") }
        }
        broadcast.send(1)
        #expect(Set(told.withLock { $0 }) == ["one 1", "two 1"])
        broadcast.remove(one)
        broadcast.send(2)
        broadcast.end()
        broadcast.send(3)
        broadcast.end()
        #expect(told.withLock { $0 }.suffix(2) == ["two 2", "end"])
        _ = broadcast.add { _ in
        } end: {
            told.withLock { $0.append("late") }
        }
        #expect(told.withLock { $0.last } == "late")
    }

    @Test("Calls no observer under its lock, and releases none under it")
    func reentrance() {
        final class Owner: Sendable {
            let broadcast: Broadcast<Void>
            init(_ broadcast: Broadcast<Void>) { self.broadcast = broadcast }
            deinit { broadcast.send() }
        }
        let (broadcast, count) = (Broadcast<Void>(), Lock(0))
        let number = Lock(0)
        let first = broadcast.add { [owner = Owner(broadcast)] in
            _ = owner
            count.withLock { $0 += 1 }
            broadcast.remove(number.withLock { $0 })
        }
        number.withLock { $0 = first }
        broadcast.send()
        broadcast.send()
        #expect(count.withLock { $0 } == 1)
        broadcast.remove(broadcast.add { [owner = Owner(broadcast)] in _ = owner })
    }

    @Test("A stream has the latest events if it is read late, and ends with the broadcast")
    func stream() async {
        let broadcast = Broadcast<Int>()
        let stream = broadcast.stream(backlog: 2)
        for event in 1...5 { broadcast.send(event) }
        broadcast.end()
        #expect(await stream.reduce(into: []) { $0.append($1) } == [4, 5])
        #expect(await broadcast.stream(backlog: 2).first { _ in true } == nil)
    }
}
