import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

private func request(_ change: (inout ImageRequest) -> Void) -> ImageRequest {
    var request = ImageRequest(url)
    change(&request)
    return request
}

@Suite("Work that loads share", .timeLimited)
struct SharingTests {
    @Test(
        "Loads of one URL share one transfer, whatever they store and in which size they decode",
        .capability("DLR-09", "DLR-11", "DLR-12"))
    func oneTransfer() async throws {
        let bench = ManagerBench(answer: nil)
        let requests = [
            ImageRequest(url), request { $0.cache.store = .memory }, request { $0.cache.store = [] },
            request { $0.thumbnailSize = PixelSize(width: 2, height: 2) },
            request { $0.thumbnailSize = PixelSize(width: 3, height: 3) },
            request { $0.retriesFailed = true },
        ]
        let tasks = requests.map { bench.manager.task(for: $0) }
        let data = Task { try await bench.manager.data(for: url) }
        await bench.loader.arrival(of: 1)
        // Those that differ in `storeTo` alone are one load.
        while bench.manager.waiting.images < 6 || bench.manager.waiting.fetches < 5 { await Task.yield() }
        bench.loader.answer(0, with: .success(.dot()))
        for (task, request) in zip(tasks, requests) {
            #expect(try await task.image.size.width == (request.thumbnailSize?.width ?? 8))
        }
        #expect(try await data.value.data == Data("DOT 8".utf8))
        #expect(bench.loader.calls.count == 1)
    }

    @Test(
        "A load that begins while the bytes of an earlier one are written has them from the disk",
        .capability("MGR-02", "MGR-15", "OBS-05"), arguments: [true, false])
    func loadDuringWrite(retriesFailed: Bool) async throws {
        let (disk, bench) = (GatedDisk(), ManagerBench())
        let manager = bench.manager.copy(cache: ImageCache(memory: MemoryCache(), disk: disk))
        let first = try await manager.load(request { $0.retriesFailed = retriesFailed })
        #expect(first.source == .network)
        manager.cache.memory.removeAll()
        let second = try await manager.load(request { $0.retriesFailed = retriesFailed })
        #expect(second.source == .disk && second.response == nil)
        if case .cached = second.freshness {} else { Issue.record("the source wasn't asked for this load") }
        manager.cache.memory.removeAll()
        #expect(try await manager.data(for: url).source == .disk)
        #expect(bench.loader.calls.count == 1)
        disk.gate.open()
        await manager.flush()
    }

    @Test("A load that stores nothing on disk doesn't say that its image was there", .capability("MGR-02", "MGR-31"))
    func sourceWithoutStore() async throws {
        let (entered, gate) = (AsyncGate(), BlockingSignal())
        let coder = DotCoder {
            entered.open()
            while gate.wait(milliseconds: 1_000) == nil {}
        }
        let bench = ManagerBench(coder: coder)
        let tasks = [2, 3].map { side in
            bench.manager.task(
                for: request {
                    $0.thumbnailSize = PixelSize(width: side, height: side)
                    $0.cache.store = .memory
                })
        }
        await entered.wait()
        gate.send(true)
        for task in tasks { #expect(try await task.result.get().source == .network) }
    }

    @Test("A load that needs the bytes twice has them from the network", .capability("MGR-02", "MGR-31"))
    func sourceOfUnchangedAnimation() async throws {
        let bench = GatedLoader { .success(LoadedData(data: MovieCoder.bytes(frames: 3), url: $0)) }
        let manager = ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: GatedDisk()), loader: bench,
            coders: ImageCoders([MovieCoder()]))
        let result = try await manager.load(request { $0.transformer = .resize(width: 2) })
        #expect(result.image.isAnimated && result.source == .network && bench.calls.count == 1)
        if case .fresh = result.freshness {} else { Issue.record("the source sent the image for this load") }
    }

    @Test("A load that waits for its store is active, and ends with all others", .capability("MGR-35", "MGR-36"))
    func cancelWaitForStore() async throws {
        let disk = GatedDisk()
        let manager = ManagerBench().manager.copy(cache: ImageCache(memory: MemoryCache(), disk: disk))
        let task = manager.task(for: request { $0.cache.waitsForStore = true })
        while manager.storeWaits == 0 { await Task.yield() }
        #expect(manager.hasActiveLoads)
        manager.cancelAll()
        let error = await #expect(throws: ImageError.self) { try await task.image }
        #expect(error?.isCancellation == true)
        #expect(!manager.hasActiveLoads)
        disk.gate.open()
        await manager.flush()
    }

    @Test("A hundred sizes of one URL share one transfer", .capability("DLR-11"))
    func hundredSizes() async throws {
        let bench = ManagerBench()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for side in 1...100 {
                group.addTask {
                    let small = request { $0.thumbnailSize = PixelSize(width: side, height: side) }
                    _ = try await bench.manager.image(for: small)
                }
            }
            try await group.waitForAll()
        }
        #expect(bench.loader.calls.count == 1)
    }

    @Test("Requests with different policies share no transfer, so that each gets its own answer", .capability("DLR-12"))
    func policies() async throws {
        let bench = ManagerBench(answer: nil)
        let first = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let only = await bench.failure(request { $0.cachePolicy = .cacheOnly })
        #expect(only?.code == .notCached)
        let others = [request { $0.cachePolicy = .reload }, request { $0.cache.query = [] }]
            .map { bench.manager.task(for: $0) }
        await bench.loader.arrival(of: 3)
        for index in 0..<3 { bench.loader.answer(index, with: .success(.dot())) }
        for task in [first] + others { #expect(try await task.image.size.width == 8) }
    }

    @Test(
        "A reload gets no bytes that were asked for before it began", .capability("OPT-03"),
        arguments: [CachePolicy.reload, .cacheFirst])
    func reloads(policy: CachePolicy) async throws {
        let bench = ManagerBench(answer: nil)
        let reload = request {
            $0.cachePolicy = policy
            $0.cache.query = []
        }
        let first = bench.manager.task(for: reload)
        await bench.loader.arrival(of: 1)
        let second = bench.manager.task(for: reload)
        await bench.loader.arrival(of: 2)
        bench.loader.answer(0, with: .success(.dot(size: 3)))
        bench.loader.answer(1, with: .success(.dot(size: 4)))
        #expect(try await first.image.size.width == 3)
        #expect(try await second.image.size.width == 4)
    }

    @Test("A size that is asked for while another is decoded needs no second transfer", .capability("DLR-12", "DLR-11"))
    func duringDecode() async throws {
        let isFirst = Lock(true)
        let (decoding, release) = (BlockingSignal(), BlockingSignal())
        let coder = DotCoder {
            guard
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return }
            decoding.send(true)
            while release.wait(milliseconds: 1_000) == nil {}
        }
        let bench = ManagerBench(coder: coder)
        let large = bench.manager.task(for: request { $0.cache.store = .memory })
        while decoding.wait(milliseconds: 0) == nil { await Task.yield() }
        let small = request { $0.thumbnailSize = PixelSize(width: 2, height: 2) }
        #expect(try await bench.manager.image(for: small).size.width == 2)
        release.send(true)
        #expect(try await large.image.size.width == 8)
        #expect(bench.loader.calls.count == 1)
    }

    @Test("A transformer that fails leaves the downloaded original in the cache", .capability("MGR-23", "MGR-26"))
    func failedTransform() async throws {
        struct Failure: Error {}
        let bench = ManagerBench()
        let failing = request {
            $0.transformer = .closure(key: "failing") { _ in throw Failure() }
            $0.cache.waitsForStore = true
        }
        #expect(await bench.failure(failing)?.code == .transformFailed)
        #expect(try await bench.manager.load(url).source == .disk)
        #expect(bench.loader.calls.count == 1)
    }

    @Test("A load that waits for the write learns its error, whoever began it", .capability("MGR-30", "OPT-22"))
    func sharedStoreError() async throws {
        let bench = ManagerBench(answer: nil)
        let full = ImageError(.cacheWriteFailed, stage: .store, reason: "no space left on device")
        bench.cache.change { $0.storeError = full }
        let first = bench.manager.task(for: url)
        let second = bench.manager.task(for: request { $0.cache.waitsForStore = true })
        let third = bench.manager.task(
            for: request {
                $0.cache.waitsForStore = true
                $0.thumbnailSize = PixelSize(width: 2, height: 2)
            })
        await bench.loader.arrival(of: 1)
        while bench.manager.waiting.images < 3 { await Task.yield() }
        bench.loader.answer(0, with: .success(.dot()))
        _ = try await first.image
        #expect(try await second.result.get().storeError == full)
        #expect(try await third.result.get().storeError == full)
        #expect(bench.cache.now.diskStores == 1)
    }

    @Test("Late subscribers first receive the most recent progress and the most recent preview", .capability("3.12"))
    func lateSubscriber() async throws {
        let work = SharedWork<ClosureJob<String, Int>>()
        let preview = Image(
            pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
        let (told, end) = (Promise<Void>(), Promise<Void>())
        let first = Task {
            try await work.value(
                "a", LoadWishes(),
                .init { job async throws(ImageError) in
                    job.publish(.preview(preview))
                    job.publish(.progress(ImageProgress(receivedBytes: 5, expectedBytes: 9)))
                    told.fulfill(())
                    _ = await end.value
                    return 1
                })
        }
        _ = await told.value
        let seen = Lock<[String]>([])
        let second = Task {
            try await work.value(
                "a", LoadWishes(),
                onUpdate: { update in
                    seen.withLock { seen in
                        switch update {
                        case .arriving, .asking, .outdated: break
                        case .progress(let progress): seen.append("progress \(progress.receivedBytes)")
                        case .preview: seen.append("preview")
                        }
                    }
                }, .init { _ async throws(ImageError) in 2 })
        }
        while work.waiting["a"] != 2 { await Task.yield() }
        end.fulfill(())
        #expect(try await first.value == 1)
        #expect(try await second.value == 1)
        #expect(seen.withLock { $0 } == ["progress 5", "preview"])
    }

    @Test("Waiting for writes ends although later ones go on", .capability("CCF-05"))
    func pendingStores() async {
        let stores = PendingStores()
        let (first, _) = stores.begin(bytes: 1, limit: .bytes(10))
        // Immediate: it waits before the second write begins.
        let wait = Task.immediate { await stores.wait() }
        let (second, isOverLimit) = stores.begin(bytes: 10, limit: .bytes(10))
        #expect(isOverLimit)
        stores.end(first, bytes: 1)
        await wait.value
        stores.end(second, bytes: 10)
    }

    @Test("Of two changes of a priority, the later one wins in any order of their arrival", .capability("3.11"))
    func priorityOrder() throws {
        let priority = WorkPriority(.normal)
        let seen = Lock<[ImagePriority]>([])
        _ = priority.observe { value in seen.withLock { $0.append(value) } }
        let low = try #require(priority.reserveChange(to: .low))
        let high = try #require(priority.reserveChange(to: .high))
        high()
        low()
        #expect(priority.value == .high && seen.withLock { $0 } == [.high])
    }

    @Test("A load that begins after a change of loaders or coders doesn't join one from before", .capability("PLG-04"))
    func changedManager() async throws {
        let bench = ManagerBench(answer: nil)
        let first = bench.manager.task(for: url)
        await bench.loader.arrival(of: 1)
        let other = GatedLoader { _ in .success(.dot(size: 4)) }
        bench.manager.loaders = ImageLoaders([other])
        #expect(try await bench.manager.image(for: url).size.width == 4)
        try await bench.manager.removeAll(of: url)
        bench.manager.loaders = ImageLoaders([bench.loader])
        bench.manager.coders = ImageCoders([])
        let second = bench.manager.task(for: url)
        await bench.loader.arrival(of: 2)
        bench.loader.answer(1, with: .success(.dot(size: 5)))
        #expect(await second.result.failure?.code == .unknownFormat)
        bench.loader.answer(0, with: .success(.dot(size: 6)))
        #expect(try await first.image.size.width == 6)
    }
}
