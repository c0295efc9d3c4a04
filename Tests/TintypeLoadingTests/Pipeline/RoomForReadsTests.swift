import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Room in the decode budget for bytes that are read", .timeLimited)
struct RoomForReadsTests {
    @Test(
        "Files and cached images are read only while the bodies that wait for their decode leave room",
        .capability("3.1"), arguments: ["file", "disk", "tiers"])
    func bounded(place: String) async throws {
        let isCached = place != "file"
        let folder = try TemporaryDirectory()
        let disk = DiskCache.temporary(folder.path + "/cache")
        let layer: any DiskCaching = place == "tiers" ? TieredDiskCache([disk]) : disk
        let (budget, queue) = (DecodeBudget(limit: ByteCount(10)), WorkQueue(label: "test", width: 1))
        var configuration = ImageManager.Configuration.still
        (configuration.budget, configuration.processing) = (budget, queue)
        let loader: any ImageLoading = isCached ? GatedLoader() : FileLoader()
        let manager = ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: isCached ? layer : nil), loader: loader,
            coders: ImageCoders([DotCoder()]), configuration: configuration)
        let data = Data("DOT 8".utf8)
        var urls: [URL] = []
        for number in 0..<100 {
            if isCached {
                urls.append(try #require(URL(string: "test:\(number)")))
                try await disk.put(data, ImageKey(source: "test:\(number)"))
            } else {
                urls.append(try folder.write(data, to: "\(number)"))
            }
        }
        let gate = ThreadGate()
        let blocker = Task { try await queue.perform { _ throws(ImageError) in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        let tasks = urls.map { manager.task(for: $0) }
        var statistics = budget.statistics
        while statistics.bodyBytes < 100 * data.count, statistics.waitingTransfers == 0 || statistics.reads > 0 {
            await Task.yield()
            statistics = budget.statistics
        }
        // Those that were being read when the first body took its room, and those that tasks were about to count.
        let most = 2 * WorkQueue.files.width + WorkQueue.processing.width
        #expect(statistics.bodyBytes <= most * data.count)
        gate.open()
        for task in tasks { #expect(try await task.image.size.width == 8) }
        #expect(budget.hasRoom && budget.statistics.waitingTransfers == 0)
        try await blocker.value
    }

    @Test("A few reads run at once; those that wait for room can be canceled, and begin when there is some")
    func turns() async throws {
        let (budget, queue) = (DecodeBudget(limit: ByteCount(10)), WorkQueue(label: "test", width: 1))
        let (begun, gate) = (Watched(0), AsyncGate())
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<5 {
            tasks.append(
                Task {
                    try await budget.whenRoom(priority: WorkPriority(), on: queue) {
                        begun.update { $0 += 1 }
                        await gate.wait()
                    }
                })
            while budget.statistics.reads + budget.statistics.waitingTransfers == number { await Task.yield() }
        }
        #expect(budget.statistics.reads == 2 && budget.statistics.waitingTransfers == 3)
        budget.takeRoom(5)
        gate.open()
        for task in tasks[..<2] { try await task.value }
        #expect(begun.value == 2 && budget.statistics.reads == 0 && budget.statistics.waitingTransfers == 3)
        let canceled = tasks[3]
        canceled.cancel()
        await #expect(throws: ImageError.self) { try await canceled.value }
        budget.returnRoom(5)
        for index in [2, 4] { try await tasks[index].value }
        #expect(begun.value == 4 && budget.statistics.reads == 0)
    }

    @Test("Bodies that wait leave half of the budget to decodes, several at once")
    func half() {
        var state = DecodeBudgetState(limit: 100)
        state.addBody(50)
        state.takeRoom(49)
        #expect(state.hasRoom)
        state.takeRoom(1)
        #expect(!state.hasRoom)
        let areAdmitted = (0..<2).map { _ in state.reserve(25, priority: .normal) }
        #expect(areAdmitted == [true, true])
        #expect(DecodeBudgetState(limit: 1).hasRoom)
    }

    @Test("In any order of bodies and transfers, none waits for nothing, and all begin", arguments: 0..<20)
    func anyOrder(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var state = DecodeBudgetState(limit: 100)
        let queue = ObjectIdentifier(WorkQueue.files)
        var bodies: [Int] = []
        var running = 0
        // True for a read.
        var waiting: [Int: Bool] = [:]
        func note(_ answer: DecodeBudgetState.Answer, isRead: Bool) {
            switch answer {
            case .wait(let id): waiting[id] = isRead
            case .granted: running += isRead ? 1 : 0
            }
        }
        func admit() {
            for id in state.admitTransfers() {
                guard let isRead = waiting.removeValue(forKey: id) else {
                    Issue.record("\(id) did not wait")
                    continue
                }
                running += isRead ? 1 : 0
            }
            let isFull = bodies.reduce(0, +) >= 50
            #expect(running <= 3 && state.runningReads == running && state.waitingTransfers == waiting.count)
            #expect(isFull || !waiting.values.contains(false), "a download waits for nothing")
            #expect(isFull || running == 3 || !waiting.values.contains(true), "a read waits for nothing")
        }
        for _ in 0..<400 {
            let priority = ImagePriority.allCases.randomElement(using: &generator) ?? .normal
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: note(state.requestDownload(priority: priority), isRead: false)
            case 1: note(state.requestRead(on: queue, most: 3, priority: priority), isRead: true)
            case 2:
                bodies.append(Int.random(in: 1...40, using: &generator))
                state.takeRoom(bodies[bodies.count - 1])
            case 3: if let bytes = bodies.popLast() { state.returnRoom(bytes) }
            case 4:
                guard running > 0 else { break }
                running -= 1
                state.endRead(on: queue)
            default:
                guard let id = waiting.keys.sorted().randomElement(using: &generator) else { break }
                waiting[id] = nil
                let hasLeft = state.leaveTransfer(id)
                #expect(hasLeft)
            }
            admit()
        }
        while let bytes = bodies.popLast() {
            state.returnRoom(bytes)
            admit()
        }
        while running > 0 {
            running -= 1
            state.endRead(on: queue)
            admit()
        }
        #expect(waiting.isEmpty && state.hasRoom)
    }
    @Test("Reads of a disk that hangs hold up none of another queue", .capability("3.6"))
    func hangingDisk() {
        var state = DecodeBudgetState(limit: 100)
        let (hanging, other) = (ObjectIdentifier(WorkQueue.files), ObjectIdentifier(WorkQueue.processing))
        let answers = [hanging, hanging, hanging, other].map { queue in
            state.requestRead(on: queue, most: 2, priority: .normal)
        }
        #expect(answers == [.granted, .granted, .wait(1), .granted])
        state.takeRoom(60)
        state.endRead(on: hanging)
        let none = state.admitTransfers()
        state.returnRoom(60)
        let next = state.admitTransfers()
        #expect(none.isEmpty && next == [1] && state.runningReads == 3)
    }
}
