import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Wait in a queue", .timeLimited)
struct QueuedWaitTests {
    @Test("It ends once, with the first value, before or after somebody waits")
    func once() async {
        for isEarly in [true, false] {
            let wait = QueuedWait<Int>()
            let values = Lock([Int]())
            if isEarly { wait.end(1) }
            wait.onEnd { value in values.withLock { $0.append(value) } }
            wait.end(2)
            wait.end(3)
            #expect(values.withLock { $0 } == [isEarly ? 1 : 2])
        }
    }

    @Test("It follows its priority until it ends, and leaves the queue after a cancellation")
    func follows() async {
        let priority = WorkPriority(.low)
        let wait = QueuedWait<String>()
        let moves = Lock([ImagePriority]())
        let task = Task {
            await wait.value(following: priority) {
                7
            } move: { ticket in
                #expect(ticket == 7)
                moves.withLock { $0.append(priority.value) }
            } leave: { ticket in
                #expect(ticket == 7)
                wait.end("left")
            }
        }
        while moves.withLock({ $0.isEmpty }) { await Task.yield() }
        priority.value = .high
        #expect(moves.withLock { $0 } == [.low, .high])
        task.cancel()
        #expect(await task.value == "left")
        priority.value = .normal
        #expect(moves.withLock { $0 } == [.low, .high])
    }

    @Test("A task that is canceled while it enters the queue leaves it")
    func cancelledWhileEntering() async {
        let wait = QueuedWait<String>()
        let task = Task {
            await wait.value(following: WorkPriority()) {
                withUnsafeCurrentTask { $0?.cancel() }
                #expect(wait.isCancelled, "work that a queue starts at once sees the cancellation")
                return 1
            } move: { _ in
            } leave: { _ in
                wait.end("left")
            }
        }
        #expect(await task.value == "left")
    }
}
