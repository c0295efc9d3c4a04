import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: the order of stores and removals", .timeLimited)
struct OperationOrderTests {
    let order = OperationOrder()
    let one = EntryName(source: "one")
    let other = EntryName(source: "other")
    let done = Lock<[String]>([])

    private func begin(_ key: ImageKey) -> OperationOrder.Ticket {
        order.begin(DiskCacheEntry(data: someBytes(1), created: .distantPast), forKey: key) { true }!
    }

    /// Waits for the turn of an operation in the background, and notes its name when it has come.
    private func wait(for ticket: OperationOrder.Ticket, _ name: String) -> Task<Bool, Never> {
        Task.immediate { [order, done] in
            let isTurn = await order.turn(of: ticket)
            done.withLock { $0.append(name) }
            return isTurn
        }
    }

    @Test("Operations on one source take turns, in order; those on another don't wait")
    func turns() async {
        let tickets = (0..<3).map { _ in order.begin(one) }
        let foreign = order.begin(other)
        #expect(await order.turn(of: foreign))
        let tasks = [2, 1, 0].map { wait(for: tickets[$0], "\($0)") }
        #expect(await tasks[2].value)
        #expect(done.withLock { $0 } == ["0"])
        order.end(tickets[0])
        #expect(await tasks[1].value)
        #expect(done.withLock { $0 } == ["0", "1"])
        order.end(tickets[1])
        #expect(await tasks[0].value)
    }

    @Test("An operation on all sources waits for all before it, and all after it wait for it")
    func barrier() async {
        let first = [order.begin(one), order.begin(other)]
        let (barrier, later) = (order.begin(nil), order.begin(one))
        let (clearing, storing) = (wait(for: barrier, "barrier"), wait(for: later, "later"))
        for ticket in first { #expect(await order.turn(of: ticket)) }
        order.end(first[1])
        #expect(done.withLock { $0.isEmpty })
        order.end(first[0])
        #expect(await clearing.value)
        #expect(done.withLock { $0 } == ["barrier"])
        order.end(barrier)
        #expect(await storing.value)
    }

    @Test("A removal cancels the stores whose turn has not come, and hides the entries of all")
    func cancellation() async {
        let (running, waiting, foreign) = (begin("one"), begin("one"), begin("other"))
        #expect(await order.turn(of: running))
        let task = wait(for: waiting, "waiting")
        #expect(order.entry(forKey: "one") != nil)
        order.cancel { $0.source == "one" }
        #expect(await !task.value)
        #expect(order.entry(forKey: "one") == nil && order.entry(forKey: "other") != nil)
        let removal = order.begin(one)
        let removing = wait(for: removal, "removal")
        #expect(done.withLock { $0 } == ["waiting"], "a store that is being written is waited for")
        order.end(running)
        #expect(await removing.value)
        order.end(waiting)
        order.end(removal)
        order.end(foreign)
        #expect(order.entry(forKey: "other") == nil)
    }

    @Test("An operation that ends before its turn lets the next ones go on")
    func earlyEnd() async {
        let (first, second, third) = (order.begin(one), order.begin(one), order.begin(one))
        let task = wait(for: third, "third")
        order.end(second)
        #expect(done.withLock { $0.isEmpty })
        order.end(first)
        #expect(await task.value)
    }
}
