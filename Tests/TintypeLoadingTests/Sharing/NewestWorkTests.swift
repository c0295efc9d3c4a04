import TestSupport
import Testing

@testable import TintypeImages
@testable import TintypeLoading

@Suite("Work on the newest value", .timeLimited)
struct NewestWorkTests {
    @Test("The end waits for the value in progress, even while its sender starts the work")
    func endWhileStarting() async {
        let isDone = Lock(false)
        let worker = Lock<NewestWork<Int>?>(nil)
        let sawDone = Promise<Bool>()
        let work = NewestWork<Int> { _ in
            // Still within `send(_:)`.
            let worker = worker.withLock { $0 }
            Task.immediateDetached {
                await worker?.end()
                sawDone.fulfill(isDone.withLock { $0 })
            }
            await Task.yield()
            isDone.withLock { $0 = true }
        }
        worker.withLock { $0 = work }
        work.send(1)
        #expect(await sawDone.value)
        worker.withLock { $0 = nil }
    }

    @Test("An end that is canceled cancels the work, even while its sender starts it")
    func canceledEnd() async {
        let worker = Lock<NewestWork<Int>?>(nil)
        let sawCancellation = Promise<Bool>()
        let work = NewestWork<Int> { _ in
            // Still within `send(_:)`.
            let worker = worker.withLock { $0 }
            Task.immediateDetached { await worker?.end() }.cancel()
            await Task.yield()
            for _ in 0..<1_000_000 where !Task.isCancelled { await Task.yield() }
            sawCancellation.fulfill(Task.isCancelled)
        }
        worker.withLock { $0 = work }
        work.send(1)
        #expect(await sawCancellation.value)
        worker.withLock { $0 = nil }
    }

    @Test("Values that arrive meanwhile replace each other, and those after the end are dropped")
    func newest() async {
        let (gate, isFirst) = (Promise<Void>(), Promise<Void>())
        let values = Lock<[Int]>([])
        let second = Promise<Void>()
        let work = NewestWork<Int> { value in
            values.withLock { $0.append(value) }
            if value == 1 {
                isFirst.fulfill(())
                await gate.value
            } else {
                second.fulfill(())
            }
        }
        work.send(1)
        await isFirst.value
        work.send(2)
        work.send(3)
        gate.fulfill(())
        await second.value
        await work.end()
        work.send(4)
        await work.end()
        #expect(values.withLock { $0 } == [1, 3])
    }
}
