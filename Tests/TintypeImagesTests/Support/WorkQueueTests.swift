import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("The pool of threads", .timeLimited)
struct WorkQueueTests {
    @Test("Runs everything, never more than its width at a time", .capability("DLR-31"))
    func width() async throws {
        let queue = WorkQueue(label: "test", width: 3)
        let state = Lock((running: 0, most: 0))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try await queue.perform { _ throws(ImageError) in
                        state.withLock { state in
                            state.running += 1
                            state.most = max(state.most, state.running)
                        }
                        state.withLock { $0.running -= 1 }
                        return index
                    }
                }
            }
            var sum = 0
            for try await value in group { sum += value }
            #expect(sum == 199 * 100)
        }
        #expect(state.withLock { $0.most } <= 3)
    }

    @Test("A queue has a thread at least", arguments: [0, -1, .min])
    func narrow(width: Int) async throws {
        #expect(try await WorkQueue(label: "test", width: width).perform { _ throws(ImageError) in 1 } == 1)
    }

    @Test("A decode on a thread of the queue doesn't wait for one that needs the thread")
    func directDecode() async throws {
        let (queue, budget) = (WorkQueue(label: "test", width: 1), DecodeBudget(limit: ByteCount(100)))
        let first = try await budget.reserve(100)
        let load = Task {
            try await queue.decode(limits: DecodeLimits(), pool: .shared, budget: budget) {
                context throws(ImageError) in
                try context.withReservedMemory(ByteCount(80)) { () throws(ImageError) in }
            }
        }
        while budget.statistics.waiting == 0 { await Task.yield() }
        let gate = ThreadGate()
        let direct = Task {
            try await queue.perform { _ throws(ImageError) in
                gate.wait()
                try ProcessingContext(budget: budget).withReservedMemory(ByteCount(50)) { () throws(ImageError) in }
            }
        }
        while queue.load.running == 0 { await Task.yield() }
        // The load has its room now, and waits for the thread.
        first.release()
        while budget.statistics.waiting > 0 { await Task.yield() }
        gate.open()
        try await direct.value
        try await load.value
        #expect(budget.statistics.reservedBytes == 0)
    }

    @Test("The most urgent comes first, and a change of mind counts while it waits", .capability("3.11"))
    func order() async throws {
        let queue = WorkQueue(label: "test", width: 1)
        let gate = ThreadGate()
        let order = Lock([String]())
        let blocker = Task { try await queue.perform { _ throws(ImageError) in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        let priorities = ["low": WorkPriority(.low), "high": WorkPriority(.high), "late": WorkPriority(.veryLow)]
        var tasks: [Task<Void, any Error>] = []
        for name in ["low", "late", "high"] {
            let priority = try #require(priorities[name])
            let before = queue.load.waiting
            tasks.append(
                Task {
                    try await queue.perform(priority: priority) { _ throws(ImageError) in
                        order.withLock { $0.append(name) }
                    }
                })
            while queue.load.waiting == before { await Task.yield() }
        }
        priorities["late"]?.value = .veryHigh
        gate.open()
        try await blocker.value
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 } == ["late", "high", "low"])
    }

    @Test("Of work with one priority, the newest comes first if the queue is made so; priorities count all the same")
    func newestFirst() async throws {
        let queue = WorkQueue(label: "test", width: 1, newestFirst: true)
        let gate = ThreadGate()
        let order = Lock([String]())
        let blocker = Task { try await queue.perform { _ throws(ImageError) in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        var tasks: [Task<Void, any Error>] = []
        for (name, priority) in [
            ("a", ImagePriority.normal), ("b", .high), ("c", .normal), ("d", .high), ("e", .normal),
        ] {
            let before = queue.load.waiting
            tasks.append(
                Task {
                    try await queue.perform(priority: WorkPriority(priority)) { _ throws(ImageError) in
                        order.withLock { $0.append(name) }
                    }
                })
            while queue.load.waiting == before { await Task.yield() }
        }
        gate.open()
        try await blocker.value
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 } == ["d", "b", "e", "c", "a"])
    }

    @Test(
        "Of equally urgent work, what releases an image comes first, in the order of its arrival, and can leave",
        .capability("3.1"), arguments: [false, true])
    func first(newestFirst: Bool) async throws {
        let queue = WorkQueue(label: "test", width: 1, newestFirst: newestFirst)
        let gate = ThreadGate()
        let order = Lock([String]())
        let blocker = Task { try await queue.perform { _ throws(ImageError) in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        var tasks: [Task<Void, any Error>] = []
        let changing = WorkPriority(.veryLow)
        let work = [
            ("a", WorkPriority(.normal), false), ("b", WorkPriority(.normal), true), ("c", WorkPriority(.normal), true),
            ("d", changing, true), ("e", WorkPriority(.high), false), ("f", WorkPriority(.low), true),
        ]
        for (name, priority, releasesImage) in work {
            let before = queue.load.waiting
            tasks.append(
                Task {
                    try await queue.perform(priority: priority, releasesImage: releasesImage) {
                        _ throws(ImageError) in
                        order.withLock { $0.append(name) }
                    }
                })
            while queue.load.waiting == before { await Task.yield() }
        }
        changing.value = .normal
        tasks.remove(at: 2).cancel()
        while queue.load.waiting == 6 { await Task.yield() }
        gate.open()
        try await blocker.value
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 } == ["e", "b", "d", "a", "f"])
    }

    @Test("Work that is cancelled while it waits never runs; work that runs is told")
    func cancellation() async throws {
        let queue = WorkQueue(label: "test", width: 1)
        let gate = ThreadGate()
        let told = Lock(false)
        let running = Task {
            try await queue.perform { isCancelled throws(ImageError) in
                while !isCancelled() {}
                told.withLock { $0 = true }
                gate.wait()
            }
        }
        while queue.load.running == 0 { await Task.yield() }
        let waiting = Task { try await queue.perform { _ throws(ImageError) in Issue.record("it ran") } }
        while queue.load.waiting == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: ImageError.self) { try await waiting.value }
        // The work that runs still holds its thread: the cancelled one has left the queue by itself.
        #expect(queue.load == (waiting: 0, running: 1))
        running.cancel()
        gate.open()
        try await running.value
        #expect(told.withLock { $0 })
        #expect(try await queue.perform { _ throws(ImageError) in 1 } == 1, "the thread is free again")
    }

    @Test("A task that was cancelled before it asked gets the error")
    func cancelledBefore() async {
        let queue = WorkQueue(label: "test", width: 1)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await queue.perform { _ throws(ImageError) -> Void in Issue.record("it ran") }
        }
        task.cancel()
        await #expect(throws: ImageError.self) { try await task.value }
    }
}
