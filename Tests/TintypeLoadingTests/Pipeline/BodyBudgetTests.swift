import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// Returns one answer to all requests, and notes for each whether its transfer would have found room.
private final class RoomLoader: ImageLoading {
    private let answer: LoadedData
    private let notes = Lock<[Bool]>([])
    let schemes = ["test"]

    init(_ answer: LoadedData) { self.answer = answer }

    var foundRoom: [Bool] { notes.withLock { $0 } }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        notes.withLock { $0.append(request.budget?.hasRoom == true) }
        return answer
    }

    /// A manager with this loader, and a budget that any body fills.
    func manager(_ cache: DictionaryCache, _ coder: any ImageCoder = DotCoder()) -> ImageManager {
        var configuration = ImageManager.Configuration.still
        configuration.budget = DecodeBudget(limit: ByteCount(1))
        return ImageManager(cache: cache, loader: self, coders: ImageCoders([coder]), configuration: configuration)
    }
}

/// A stream of the bytes of a closure.
private struct StreamOfClosure: ImageStreaming {
    let closure: @Sendable () async throws -> Data
    let schemes = ["test"]

    func stream(_ request: LoadRequest) async throws -> ImageStream {
        let data = try await closure()
        let chunks = AsyncStream<Data> { chunks in
            chunks.yield(data)
            chunks.finish()
        }
        return ImageStream(url: request.url, chunks: chunks)
    }
}

@Suite("Bodies in the decode budget", .timeLimited)
struct BodyBudgetTests {
    @Test("The bytes of a load count from the first one that arrives until the load ends")
    func whileArriving() async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let receive = bench.loader.calls[0].request.receive
        receive(LoadProgress(chunk: Data(count: 3_000), receivedBytes: 3_000, expectedBytes: 9_000))
        #expect(budget.statistics.bodyBytes == 3_000)
        receive(LoadProgress(chunk: Data(count: 6_000), receivedBytes: 9_000, expectedBytes: 9_000))
        #expect(budget.statistics.bodyBytes == 9_000)
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await task.image
        await bench.manager.flush()
        while budget.statistics.bodyBytes > 0 { await Task.yield() }
    }

    @Test("A cancelled or failed transfer no longer counts", arguments: [true, false])
    func afterTheEnd(isCancelled: Bool) async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        bench.loader.calls[0].request.receive(
            LoadProgress(chunk: Data(count: 3_000), receivedBytes: 3_000, expectedBytes: nil))
        if isCancelled {
            task.cancel()
        } else {
            bench.loader.answer(0, with: .failure(ImageError(.timedOut, stage: .load, reason: "too slow")))
        }
        #expect(await task.result.failure != nil)
        // Although the loader still has the closure that reports progress.
        while budget.statistics.bodyBytes > 0 { await Task.yield() }
    }

    @Test("A loader that reports impossible numbers neither overflows the budget nor stops other loads")
    func impossibleNumbers() async throws {
        let budget = DecodeBudget(limit: .megabytes(10))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let tasks = try (0..<20).map { bench.manager.task(for: try #require(URL(string: "test:\($0)"))) }
        await bench.loader.arrival(of: tasks.count)
        for call in bench.loader.calls {
            call.request.receive(LoadProgress(chunk: Data(), receivedBytes: .max, expectedBytes: .min))
            call.request.receive(LoadProgress(chunk: Data(), receivedBytes: .min, expectedBytes: .max))
        }
        for index in tasks.indices { bench.loader.answer(index, with: .success(.dot())) }
        for task in tasks { #expect(try await task.image.size.width == 8) }
    }

    @Test("A transfer begins only while the bodies that wait for their decode leave room")
    func transfersWaitForRoom() async throws {
        let budget = DecodeBudget(limit: ByteCount(5))
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = budget
        let task = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let request = bench.loader.calls[0].request
        let arriving = BodyReservation(budget)
        arriving.grow(to: 1_000)
        try await request.waitForRoom()  // Bytes that are still arriving don't count.
        withExtendedLifetime(arriving) {}
        budget.takeRoom(1_000)
        let began = Lock(false)
        let waiting = Task {
            try await request.waitForRoom()
            began.withLock { $0 = true }
        }
        let cancelled = Task { try await request.waitForRoom() }
        cancelled.cancel()
        #expect(await cancelled.result.failure is ImageError)
        #expect(!began.withLock { $0 })
        budget.returnRoom(1_000)
        try await waiting.value
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await task.image
    }

    @Test("A stream and the closure of a request start only when there is room", arguments: [true, false])
    func othersWaitForRoom(isStream: Bool) async throws {
        let began = Lock(false)
        let closure = { @Sendable () async throws -> Data in
            began.withLock { $0 = true }
            return Data("DOT 3".utf8)
        }
        let loader: any ImageLoading =
            isStream ? StreamOfClosure(closure: closure) : BytesLoader(source: .closure(closure), mimeType: nil)
        var request = LoadRequest(url: url)
        let budget = DecodeBudget(limit: ByteCount(5))
        request.budget = budget
        budget.takeRoom(1_000)
        let load = Task { [request] in try await loader.load(request).data }
        while budget.statistics.waitingTransfers == 0 { await Task.yield() }
        #expect(!began.withLock { $0 })
        budget.returnRoom(1_000)
        #expect(try await load.value == Data("DOT 3".utf8))
        // A caller that leaves while it waits is canceled, not failed.
        budget.takeRoom(1_000)
        let canceled = Task { [request] in try await loader.load(request).data }
        canceled.cancel()
        #expect((await canceled.result.failure as? ImageError)?.code == .cancelled)
        budget.returnRoom(1_000)
    }

    @Test("Transfers begin in the order of their priority, and those that leave hold nobody up")
    func orderOfTransfers() {
        var state = DecodeBudgetState(limit: 100)
        state.takeRoom(50)
        let ids = [ImagePriority.low, .high, .normal].compactMap { priority -> Int? in
            guard case .wait(let id) = state.requestDownload(priority: priority) else { return nil }
            return id
        }
        #expect(ids.count == 3 && state.admitTransfers() == [])
        let hasLeft = state.leaveTransfer(ids[2])
        #expect(hasLeft)
        state.returnRoom(1)
        #expect(state.admitTransfers() == [ids[1], ids[0]])
        #expect(state.requestDownload(priority: .low) == .granted)
    }

    @Test("One decode may run however much the bodies take; the next one waits for them")
    func decodesWaitForBodies() {
        var state = DecodeBudgetState(limit: 100)
        state.addBody(500)
        let isFirstAdmitted = state.reserve(10, priority: .normal)
        #expect(isFirstAdmitted)
        guard case .wait(let second) = state.request(10, priority: .normal) else {
            Issue.record("decoded beside a body that fills the budget")
            return
        }
        let admitted = state.removeBody(450)
        #expect(admitted == [second])
        #expect(state.bodyBytes == 50)
        #expect(state.reservedBytes == 20)
    }

    // MARK: Loads that hold bytes

    @Test(
        "A load that asks whether its cached bytes are current doesn't wait for the room of these bytes",
        .capability("3.1"), arguments: [CachePolicy.revalidate, .staleWhileRevalidate])
    func revalidation(policy: CachePolicy) async throws {
        let loader = RoomLoader(.notModified(url: url))
        let cache = DictionaryCache()
        cache.change { $0.disk["test:a"] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date()) }
        let manager = loader.manager(cache)
        let image = try await manager.image(for: ImageRequest(url, cachePolicy: policy))
        await manager.flush()
        #expect(image.size.width == 3 && loader.foundRoom == [true])
        #expect(manager.configuration.budget.hasRoom)
    }

    @Test(
        "While sources are asked, cached bytes beyond half of the budget aren't held, but read once more afterwards",
        .capability("3.1"), arguments: [true, false])
    func manyRevalidations(isConfirmed: Bool) async throws {
        let bench = ManagerBench(answer: nil)
        let budget = DecodeBudget(limit: ByteCount(1))
        bench.manager.configuration.budget = budget
        let urls = try (0..<10).map { try #require(URL(string: "test:\($0)")) }
        bench.cache.change { state in
            for url in urls {
                let key = ImageKey(source: url.absoluteString)
                state.disk[key] = DiskCacheEntry(
                    data: Data("DOT 3".utf8), created: Date(), validators: CacheValidators(entityTag: "\"1\""))
            }
        }
        let tasks = urls.map { bench.manager.task(for: ImageRequest($0, cachePolicy: .revalidate)) }
        await bench.loader.arrival(of: urls.count)
        #expect(budget.statistics.bodyBytes == 0)
        #expect(bench.loader.calls.allSatisfy { $0.request.validators?.entityTag == "\"1\"" })
        let error = ImageError(.connectionFailed, stage: .load, reason: "no")
        for index in urls.indices {
            bench.loader.answer(index, with: isConfirmed ? .success(.notModified(url: urls[0])) : .failure(error))
        }
        for task in tasks { #expect(try await task.image.size.width == 3) }
        #expect(bench.loader.calls.count == urls.count)
    }

    @Test("A source that confirms cached bytes that are gone meanwhile is asked for all of them")
    func goneMeanwhile() async throws {
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = DecodeBudget(limit: ByteCount(1))
        bench.cache.change { state in
            state.disk["test:a"] = DiskCacheEntry(
                data: Data("DOT 3".utf8), created: Date(), validators: CacheValidators(entityTag: "\"1\""))
        }
        let task = bench.manager.task(for: ImageRequest(url, cachePolicy: .revalidate))
        await bench.loader.arrival(of: 1)
        bench.cache.change { $0.disk = [:] }
        bench.loader.answer(0, with: .success(.notModified(url: url)))
        await bench.loader.arrival(of: 2)
        #expect(bench.loader.calls[1].request.validators == nil)
        bench.loader.answer(1, with: .success(.dot(size: 5)))
        #expect(try await task.image.size.width == 5)
    }

    @Test(
        "New bytes replace old images, whatever another process has stored while the source was asked",
        arguments: [true, false])
    func storedMeanwhile(hasBytes: Bool) async throws {
        let bench = ManagerBench(answer: nil)
        bench.manager.configuration.budget = DecodeBudget(limit: ByteCount(1))
        func entry(_ size: Int) -> DiskCacheEntry {
            DiskCacheEntry(
                data: Data("DOT \(size)".utf8), created: Date(), validators: CacheValidators(entityTag: "\"\(size)\""))
        }
        bench.cache.change { $0.disk["test:a"] = entry(3) }
        let task = Task { try await bench.manager.load(ImageRequest(url, cachePolicy: .revalidate)) }
        await bench.loader.arrival(of: 1)
        bench.cache.change { $0.disk["test:a"] = entry(5) }
        // An image without bytes isn't the cached one because that isn't held.
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 5, height: 5), cleared: true).freeze()
        let loaded = hasBytes ? LoadedData.dot(size: 5) : LoadedData(image: Image(pixels: pixels), url: url)
        bench.loader.answer(0, with: .success(loaded))
        let result = try await task.value
        guard case .updated = result.freshness else {
            Issue.record("\(result.freshness)")
            return
        }
    }

    @Test("A load that finds its cached bytes damaged doesn't wait for their room")
    func damage() async throws {
        let loader = RoomLoader(.dot())
        let cache = DictionaryCache()
        cache.change { $0.disk["test:a"] = DiskCacheEntry(data: Data("DOT ?".utf8), created: Date()) }
        #expect(try await loader.manager(cache).image(for: url).size.width == 8)
        #expect(loader.foundRoom == [true])
    }

    @Test("A load that needs bytes twice, and may not keep them, doesn't wait for their room")
    func twice() async throws {
        var answer = LoadedData(data: MovieCoder.bytes(frames: 2, side: 100), url: url, statusCode: 200)
        answer.headers["cache-control"] = "no-store"
        let loader = RoomLoader(answer)
        var request = ImageRequest(url, cachePolicy: .http)
        request.transformer = .resize(width: 20)
        let image = try await loader.manager(DictionaryCache(), MovieCoder()).image(for: request)
        #expect(image.size.width == 100 && loader.foundRoom == [true, true])
    }

    @Test("Bytes that wait for their decode take room from transfers, unless their load is canceled")
    func untilTheDecode() async throws {
        var configuration = ImageManager.Configuration.still
        let (budget, queue) = (DecodeBudget(limit: ByteCount(5)), WorkQueue(label: "test", width: 1))
        (configuration.budget, configuration.processing) = (budget, queue)
        let bench = ManagerBench(configuration: configuration)
        let gate = ThreadGate()
        let blocker = Task { try await queue.perform { _ throws(ImageError) in gate.wait() } }
        while queue.load.running == 0 { await Task.yield() }
        let canceled = bench.manager.task(for: url)
        while budget.hasRoom { await Task.yield() }
        canceled.cancel()
        #expect(await canceled.result.failure?.code == .cancelled)
        while !budget.hasRoom { await Task.yield() }
        let task = bench.manager.task(for: url)
        while budget.hasRoom { await Task.yield() }
        gate.open()
        _ = try await task.image
        #expect(budget.hasRoom)
        try await blocker.value
    }

    @Test("Bytes of several decodes take their room once, until the last decode ends")
    func severalDecodes() async throws {
        let budget = DecodeBudget(limit: ByteCount(5))
        let bytes = SourceBytes(
            DiskCacheEntry(data: Data(count: 5), created: Date()), source: .network,
            reservation: BodyReservation(budget))
        #expect(budget.hasRoom)
        bytes.awaitDecode()
        #expect(!budget.hasRoom)
        try await bytes.decoding { () throws(ImageError) in
            try await bytes.decoding { () throws(ImageError) in #expect(!budget.hasRoom) }
            #expect(!budget.hasRoom)
        }
        #expect(budget.hasRoom)
    }
}
