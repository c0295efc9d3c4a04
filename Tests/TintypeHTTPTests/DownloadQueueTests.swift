import TestSupport
import Testing
import TintypeLoading

@testable import TintypeHTTP

@Suite("Download queue", .timeLimited)
struct DownloadQueueTests {
    /// Adds so many downloads, whose tickets are 1, 2, 3 and so on, and returns those that start.
    private func add(_ count: Int, to queue: inout DownloadQueue, priority: ImagePriority = .normal) -> [Int] {
        var started: [Int] = []
        for _ in 0..<count { started += queue.add(host: "", priority: priority).started }
        return started
    }

    /// Ends whatever runs until nothing is left, and returns the order in which the others started.
    private func drain(_ queue: inout DownloadQueue) -> [Int] {
        var order: [Int] = []
        while let running = queue.running.min() { order += queue.finish(running) }
        return order
    }

    @Test("No more downloads than the limit run at once", .capability("DLC-01"))
    func limit() {
        var queue = DownloadQueue(limit: 3, newestFirst: false)
        #expect(add(5, to: &queue) == [1, 2, 3])
        #expect(queue.running == [1, 2, 3])
        #expect(queue.waitingCount == 2)
        #expect(queue.finish(2) == [4])
        #expect(queue.finish(1) == [5])
        #expect(queue.finish(3) == [])
        #expect(queue.running == [4, 5])
    }

    @Test("By default, the oldest download begins first", .capability("DLC-06"))
    func oldestFirst() {
        var queue = DownloadQueue(limit: 1, newestFirst: false)
        #expect(add(5, to: &queue) == [1])
        #expect(drain(&queue) == [2, 3, 4, 5])
    }

    @Test("With the newest first, later downloads go first", .capability("DLR-18"))
    func newestFirst() {
        var queue = DownloadQueue(limit: 1, newestFirst: true)
        var order = add(7, to: &queue)
        order += queue.finish(1)
        order += add(7, to: &queue)
        order += drain(&queue)
        #expect(order == [1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2])
    }

    @Test("Higher priorities begin first", .capability("DLR-19"), arguments: [false, true])
    func priorities(newestFirst: Bool) {
        var queue = DownloadQueue(limit: 1, newestFirst: newestFirst)
        _ = add(1, to: &queue)
        for priority in [ImagePriority.low, .veryHigh, .normal, .veryLow, .high] {
            _ = add(1, to: &queue, priority: priority)
        }
        #expect(drain(&queue) == [3, 6, 4, 2, 5])
    }

    @Test("A download whose priority changes takes the place of its arrival")
    func move() {
        var queue = DownloadQueue(limit: 1, newestFirst: false)
        _ = add(6, to: &queue)
        queue.move(6, to: .high)
        queue.move(3, to: .high)
        queue.move(2, to: .low)
        queue.move(5, to: .low)
        queue.move(5, to: .normal)
        #expect(drain(&queue) == [3, 6, 4, 5, 2])
    }

    @Test("Changing the priority of a download that does not wait does nothing")
    func moveOthers() {
        var queue = DownloadQueue(limit: 1, newestFirst: false)
        _ = add(2, to: &queue)
        queue.move(1, to: .veryHigh)
        queue.move(99, to: .veryHigh)
        #expect(queue.waitingCount == 1)
        #expect(queue.finish(1) == [2])
        #expect(queue.finish(1) == [])
    }

    @Test("A download can be cancelled only while it waits")
    func cancel() {
        var queue = DownloadQueue(limit: 1, newestFirst: false)
        _ = add(4, to: &queue)
        let outcomes = [1, 3, 3].map { queue.cancel($0) }
        #expect(outcomes == [false, true, false])
        #expect(drain(&queue) == [2, 4])
    }

    @Test("The limit can change, and is at least 1", .capability("DLC-01"))
    func changeLimit() {
        var queue = DownloadQueue(limit: 0, newestFirst: false)
        #expect(add(5, to: &queue) == [1])
        #expect(queue.setLimit(3) == [2, 3])
        #expect(queue.setLimit(-1) == [])
        #expect(queue.limit == 1)
        #expect(queue.finish(1) == [])
        #expect(queue.finish(2) == [])
        #expect(queue.finish(3) == [4])
    }

    @Test("With the largest limit, all downloads start, up to the limit of their host", .capability("DLC-01"))
    func largestLimit() {
        var queue = DownloadQueue(limit: .max, newestFirst: false)
        #expect(add(5, to: &queue) == [1, 2, 3, 4, 5])
        var limited = DownloadQueue(limit: .max, hostLimit: 2, newestFirst: false)
        #expect(add("aaab", to: &limited) == [1, 2, 4])
        #expect(limited.waitingCount == 1)
        #expect(limited.finish(1) == [3])
        var raised = DownloadQueue(limit: 1, newestFirst: false)
        #expect(add(3, to: &raised) == [1])
        #expect(raised.setLimit(.max) == [2, 3])
    }

    @Test("A suspended queue starts nothing, and running downloads continue", .capability("DLR-20"))
    func suspend() {
        var queue = DownloadQueue(limit: 2, newestFirst: false)
        _ = add(1, to: &queue)
        #expect(queue.setSuspended(true) == [])
        #expect(add(2, to: &queue) == [])
        #expect(queue.running == [1])
        #expect(queue.finish(1) == [])
        #expect(queue.setSuspended(false) == [2, 3])
    }

    @Test(
        "In any sequence of events, no download is lost or runs twice, and the best is next",
        arguments: [false, true])
    func model(newestFirst: Bool) {
        var queue = DownloadQueue(limit: 2, newestFirst: newestFirst)
        var model = Model(newestFirst: newestFirst)
        var random = Random(state: 42)
        for _ in 0..<3_000 {
            let priority = ImagePriority.allCases[random.next(ImagePriority.allCases.count)]
            switch random.next(5) {
            case 0, 1:
                let (ticket, started) = queue.add(host: "", priority: priority)
                model.waiting.append((ticket, priority))
                #expect(started == model.start())
            case 2:
                guard let ticket = model.running.min() else { continue }
                model.running.remove(ticket)
                #expect(queue.finish(ticket) == model.start())
            case 3 where !model.waiting.isEmpty:
                let index = random.next(model.waiting.count)
                model.waiting[index].priority = priority
                queue.move(model.waiting[index].ticket, to: priority)
            case 4 where !model.waiting.isEmpty:
                let wasWaiting = queue.cancel(model.waiting.remove(at: random.next(model.waiting.count)).ticket)
                #expect(wasWaiting)
            default: continue
            }
            #expect(queue.running == model.running)
            #expect(queue.waitingCount == model.waiting.count)
        }
    }

    /// Adds downloads of hosts, one letter for each, and returns those that start.
    private func add(_ hosts: String, to queue: inout DownloadQueue, _ priority: ImagePriority = .normal) -> [Int] {
        hosts.flatMap { queue.add(host: String($0), priority: priority).started }
    }

    @Test("Downloads of hosts with less than half of the slots begin first", .capability("3.10"))
    func fairness() {
        var queue = DownloadQueue(limit: 4, newestFirst: false)
        #expect(add("aaaaaa", to: &queue) == [1, 2, 3, 4])
        // What one host has beyond half doesn't count while another waits.
        #expect(add("bbb", to: &queue) == [7, 8])
        #expect(queue.running == [1, 2, 3, 4, 7, 8] && queue.waitingCount == 3)
        #expect(queue.finish(1) == [] && queue.finish(2) == [])
        // 3, 4 of a; 7, 8 of b: each has its half.
        #expect(queue.finish(7) == [9])
        #expect(queue.finish(8) == [5])
        #expect(queue.finish(9) == [6])
        #expect(queue.running == [3, 4, 5, 6])
    }

    @Test("A single host uses all slots, and a host of a single slot holds it")
    func alone() {
        var queue = DownloadQueue(limit: 1, newestFirst: false)
        #expect(add("ab", to: &queue) == [1])
        #expect(queue.finish(1) == [2])
        var wide = DownloadQueue(limit: 5, newestFirst: true)
        #expect(add("aaaaaaa", to: &wide) == [1, 2, 3, 4, 5])
        #expect(add("b", to: &wide) == [8])
        #expect(add("c", to: &wide) == [9])
        #expect(add("d", to: &wide) == [])
    }

    @Test("Urgent downloads go first, whichever host they are of")
    func urgency() {
        var queue = DownloadQueue(limit: 2, newestFirst: false)
        #expect(add("aa", to: &queue) == [1, 2])
        #expect(add("a", to: &queue, .high) == [])
        #expect(add("b", to: &queue, .low) == [4])
        #expect(add("b", to: &queue, .low) == [])
        #expect(queue.finish(1) == [])
        // What a has beyond its half doesn't count again.
        #expect(queue.finish(4) == [3, 5])
    }

    @Test("A host has no more than its limit, and a redirected download counts for its new host", .capability("3.10"))
    func hostLimit() {
        var queue = DownloadQueue(limit: 6, hostLimit: 2, newestFirst: false)
        #expect(add("aaab", to: &queue) == [1, 2, 4])
        #expect(queue.start(host: "c") == nil)
        #expect(queue.move(4, toHost: "a") == [])
        #expect(queue.finish(1) == [])
        #expect(queue.move(2, toHost: "c") == [3])
        #expect(queue.move(99, toHost: "c") == [] && queue.running == [2, 3, 4])
    }

    @Test(
        "Downloads that move to another host let at most half as many as the limit start in addition",
        .capability("3.10"))
    func redirected() {
        var queue = DownloadQueue(limit: 6, newestFirst: false)
        var started = add(String(repeating: "a", count: 40), to: &queue)
        while let ticket = started.popLast() { started += queue.move(ticket, toHost: "b") }
        #expect(queue.running.count == 9)
    }

    /// The same, as a plain list that is sorted whenever something is to start.
    private struct Model {
        let newestFirst: Bool
        var waiting: [(ticket: Int, priority: ImagePriority)] = []
        var running: Set<Int> = []

        mutating func start() -> [Int] {
            var started: [Int] = []
            while running.count < 2, !waiting.isEmpty {
                waiting.sort { left, right in
                    if left.priority != right.priority { return left.priority > right.priority }
                    return newestFirst ? left.ticket > right.ticket : left.ticket < right.ticket
                }
                let next = waiting.removeFirst()
                running.insert(next.ticket)
                started.append(next.ticket)
            }
            return started
        }
    }

    /// The same numbers every time.
    private struct Random {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }
}
