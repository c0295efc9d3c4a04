import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private func url(_ name: String) -> URL { URL(string: "test:\(name)")! }

@Suite("A manager at the end of a program, and for code that blocks", .timeLimited)
struct ManagerEndTests {
    private let directory: TemporaryDirectory
    private let clock = WallClock()
    private let loader = GatedLoader()

    init() throws { directory = try TemporaryDirectory() }

    private func disk() -> DiskCache {
        .temporary(directory.path + "/cache", maximumAge: .days(1), expiry: .byModification, clock: clock)
    }

    private func manager(_ disk: DiskCache) -> ImageManager {
        let coders = ImageCoders([DotCoder()])
        return ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: disk), loader: loader, coders: coders)
    }

    /// A cache with an entry that has ended, and one that has not.
    private func filled() async throws -> DiskCache {
        let disk = disk()
        try await disk.put(Data("DOT 1".utf8), "test:old")
        clock.advance(.hours(30))
        try await disk.put(Data("DOT 2".utf8), "test:new")
        #expect(await disk.usage().entries == 2)
        return disk
    }

    @Test("A program that is not seen gives back the space of what has ended", .capability("CCF-04"))
    func sweep() async throws {
        let disk = try await filled()
        let swept = try await manager(disk).removeExpired()
        #expect(swept.entries == 1 && swept.bytes > 0)
        #expect(await disk.usage().entries == 1)
        let caches = TieredDiskCache([disk])
        clock.advance(.hours(30))
        #expect(try await caches.removeExpired().entries == 1)
    }

    @Test(
        "Shutting down ends all loads, waits for what came, and sweeps, even in a task that is cancelled",
        .capability("CCF-05"))
    func shutdown() async throws {
        let disk = try await filled()
        let manager = manager(disk)
        let ended = manager.task(for: url("a"))
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot("test:a")))
        _ = try await ended.image
        let running = manager.task(for: url("b"))
        await loader.arrival(of: 2)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await manager.shutdown()
        }.value
        #expect(await running.result.failure?.code == .cancelled)
        #expect(!manager.hasActiveLoads)
        #expect(await disk.usage().entries == 2, "test:new and test:a; test:old is swept")
        #expect(await self.disk().entry(forKey: "test:a")?.data == Data("DOT 8".utf8))
        // Who goes on can.
        #expect(try await manager.load(url("new")).source == .disk)
        clock.advance(.hours(30))
        await manager.shutdown(removingExpired: false)
        #expect(await disk.usage().entries == 2)
    }

    @Test("A sweep that cannot be made does not keep the rest from being done", .capability("CCF-05"))
    func brokenSweep() async throws {
        let manager = ImageManager(
            cache: ImageCache(
                memory: MemoryCache(), disk: DiskCache.temporary("/dev/null/cache")),
            loader: loader, coders: ImageCoders([DotCoder()]))
        let running = manager.task(for: url("b"))
        await loader.arrival(of: 1)
        await manager.shutdown()
        #expect(await running.result.failure?.code == .cancelled)
    }

    @Test(
        "Code that cannot await waits for disk and loader on its own thread alone",
        .capability("CQU-06", "OPT-13", "OPT-14"))
    func blocking() async throws {
        let disk = disk()
        try await disk.put(Data("DOT 3".utf8), "test:a")
        let manager = manager(disk)
        var request = ImageRequest(url("a"))
        request.cachePolicy = .cacheOnly
        func load() async throws -> ImageResult {
            try await onOwnThread { [request] in
                Result<ImageResult, ImageError> { () throws(ImageError) in try manager.loadBlocking(request) }
            }.get()
        }
        #expect(try await load().source == .disk)
        let hit = try await load()
        #expect(hit.source == .memory && hit.image.size.width == 3 && hit.data == nil)
        request.cachePolicy = .cacheOnly
        request.cache.queriesData = true
        #expect(try await load().data == Data("DOT 3".utf8))
        request.url = url("b")
        let missing = await #expect(throws: ImageError.self) { try await load() }
        #expect(missing?.code == .notCached)
        request.cachePolicy = .cacheFirst
        request.cache.queriesData = false
        async let loaded = load()
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot("test:b")))
        #expect(try await loaded.source == .network)
        await manager.flush()
    }

    @Test(
        "A blocking load is an error where it would wait for its own thread: in tasks, and on the threads of queues",
        .capability("CQU-06"))
    func blockingThreads() async throws {
        let disk = disk()
        let manager = manager(disk)
        let (first, second) = (ImageRequest(url("a")), ImageRequest(url("b")))
        loader.answer(0, with: .success(.dot()))
        /// As a program's synchronous function would in a task.
        func load(_ request: ImageRequest) -> Result<ImageResult, ImageError> {
            do throws(ImageError) { return .success(try manager.loadBlocking(request)) } catch {
                return .failure(error)
            }
        }
        #expect(load(first).failure?.code == .invalidRequest)
        _ = try await manager.image(for: first)
        #expect(try load(first).get().source == .memory)
        var transformed = first
        transformed.transformer = .closure(key: "blocking") { image in
            _ = try manager.loadBlocking(second)
            return image
        }
        let error = await #expect(throws: ImageError.self) { try await manager.image(for: transformed) }
        #expect(error?.reason.contains("blocking load") == true)
        // Such as the queue for the reads of a disk cache.
        let queue = WorkQueue(label: "reads", width: 1)
        let other = await #expect(throws: ImageError.self) {
            try await queue.perform { _ throws(ImageError) in try manager.loadBlocking(second) }
        }
        #expect(other?.code == .invalidRequest)
    }
}
