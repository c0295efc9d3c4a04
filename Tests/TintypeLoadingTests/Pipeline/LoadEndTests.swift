import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// A loader that calls a closure.
private struct ClosureLoader: ImageLoading {
    var body: @Sendable (LoadRequest) async -> Result<LoadedData, ImageError>

    func canLoad(_ url: URL) -> Bool { url.scheme == "test" }
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData { try await body(request).get() }
}

@Suite("The ends of loads", .timeLimited)
struct LoadEndTests {
    private func manager(
        _ configuration: ImageManager.Configuration = .init(),
        _ body: @escaping @Sendable (LoadRequest) async -> Result<LoadedData, ImageError>
    ) -> ImageManager {
        ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: PlainDisk()),
            loader: ClosureLoader(body: body), coders: ImageCoders([DotCoder()]), configuration: configuration)
    }

    private func isIdle(_ manager: ImageManager) -> Bool {
        !manager.hasActiveLoads && manager.shared.work.isIdle
    }

    /// Waits for the jobs that end a moment after their callers.
    private func waitUntilIdle(_ manager: ImageManager) async {
        await manager.flush()
        while !isIdle(manager) { await Task.yield() }
    }

    @Test(
        "A cancelled load ends at once, also while it waits for the disk, which gets the image all the same",
        .capability("MGR-33"))
    func cancelledStore() async throws {
        let disk = GatedDisk()
        let manager = ImageManager(
            cache: ImageCache(memory: MemoryCache(), disk: disk),
            loader: GatedLoader { .success(.dot($0.absoluteString)) }, coders: ImageCoders([DotCoder()]))
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        let loads = [
            Task { [request] () -> ImageError? in
                do throws(ImageError) { _ = try await manager.load(request) } catch { return error }
                return nil
            },
            Task { [request] () -> ImageError? in
                do throws(ImageError) { _ = try await manager.encoded(for: request, as: .dot) } catch { return error }
                return nil
            },
            Task { [request] () -> ImageError? in
                do throws(ImageError) { _ = try await manager.data(for: request) } catch { return error }
                return nil
            },
        ]
        while manager.storeWaits < 3 { await Task.yield() }
        for load in loads { load.cancel() }
        for load in loads { #expect(await load.value?.code == .cancelled) }
        disk.gate.open()
        await manager.flush()
        #expect(await manager.cachedLayers(for: url) == .all)
    }

    @Test("Loads that succeed, fail, and are cancelled at any moment all end once, and leave nothing behind")
    func allEnds() async throws {
        // With `CRASH_ROUNDS=200`, 100,000 loads.
        let rounds = ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) } ?? 10
        var configuration = ImageManager.Configuration()
        configuration.failureLimit = 10
        let manager = manager(configuration) { request in
            for _ in 0..<3 { await Task.yield() }
            let number = Int(request.url.absoluteString.dropFirst(5)) ?? 0
            return switch number % 4 {
            case 0: .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404))
            case 1: .success(LoadedData(data: Data("no image".utf8), url: request.url))
            default: .success(.dot(request.url.absoluteString))
            }
        }
        var random = SeededRandom(seed: 7)
        let ends = Lock(0)
        for round in 0..<rounds {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    var request = ImageRequest(URL(string: "test:\(round % 7 * 60 + number % 60)")!)
                    if number.isMultiple(of: 5) { request.thumbnailSize = PixelSize(width: 2, height: 2) }
                    if number.isMultiple(of: 7) { request.transformer = .closure(key: "same") { $0 } }
                    if number.isMultiple(of: 11) { request.cachePolicy = .revalidate }
                    request.retriesFailed = number.isMultiple(of: 3)
                    let (task, wait) = (manager.task(for: request), Int.random(in: 0..<40, using: &random))
                    group.addTask {
                        for _ in 0..<wait { await Task.yield() }
                        if wait.isMultiple(of: 2) { task.cancel() }
                        _ = await task.result
                        ends.withLock { $0 += 1 }
                    }
                }
            }
            try await manager.cache.removeAll()
        }
        #expect(ends.withLock { $0 } == rounds * 500)
        await waitUntilIdle(manager)
        #expect(manager.failureCount <= 10)
    }

    @Test("Ten thousand callers of a hundred images make a hundred requests", .capability("DLR-09"))
    func manyCallers() async throws {
        let requests = Lock(0)
        let gate = AsyncGate()
        let manager = manager { request in
            requests.withLock { $0 += 1 }
            await gate.wait()
            return .success(.dot(request.url.absoluteString))
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    try await manager.image(for: URL(string: "test:\(number % 100)")!).size.width
                }
            }
            while manager.waiting.images < 10_000 { await Task.yield() }
            gate.open()
            for try await width in group { #expect(width == 8) }
        }
        #expect(requests.withLock { $0 } == 100)
        await waitUntilIdle(manager)
    }

    @Test("A loader that asks its own manager for the image that it loads gets an error")
    func loaderAsksItself() async throws {
        let manager = Lock<ImageManager?>(nil)
        let seen = Lock<[ImageError.Code]>([])
        let bench = self.manager { request in
            guard let manager = manager.withLock({ $0 }) else { return .failure(.cancelled) }
            do throws(ImageError) {
                // A load of another image, whose loader asks for this one, and one of this image in another size.
                var small = ImageRequest(request.url)
                small.thumbnailSize = PixelSize(width: 2, height: 2)
                let next = request.url.absoluteString == "test:a" ? ImageRequest(URL(string: "test:b")!) : small
                _ = try await manager.image(for: next)
            } catch {
                seen.withLock { $0.append(error.code) }
            }
            return .success(.dot())
        }
        manager.withLock { $0 = bench }
        #expect(try await bench.image(for: URL(string: "test:a")!).size.width == 8)
        #expect(seen.withLock { $0 } == [.invalidRequest])
        #expect(!bench.hasActiveLoads)
        manager.withLock { $0 = nil }
    }

    @Test("A loader that waits for a prefetch of the image that it loads sees it fail", arguments: [true, false])
    func loaderPrefetchesItself(onDisk: Bool) async throws {
        let prefetcher = Lock<ImagePrefetcher?>(nil)
        let seen = Lock<[ImageError.Code]>([])
        let manager = self.manager { request in
            guard let prefetcher = prefetcher.withLock({ $0 }) else { return .failure(.cancelled) }
            let prefetch = prefetcher.prefetch([request.url])
            await prefetch.wait()
            seen.withLock { $0 += prefetch.failures.map(\.error.code) }
            return .success(.dot())
        }
        var configuration = ImagePrefetcher.Configuration()
        configuration.storesOnDiskOnly = onDisk
        let own = ImagePrefetcher(manager: manager, configuration: configuration, pressure: nil)
        prefetcher.withLock { $0 = own }
        #expect(try await manager.image(for: URL(string: "test:a")!).size.width == 8)
        #expect(seen.withLock { $0 } == [.invalidRequest])
        prefetcher.withLock { $0 = nil }
    }

    @Test("A loader, a transformer, and hooks may use the manager that calls them")
    func reentrancy() async throws {
        let current = Lock<ImageManager?>(nil)
        var configuration = ImageManager.Configuration()
        configuration.optionsProcessor = { request in
            _ = current.withLock { $0 }?.configuration
            return request
        }
        configuration.shouldCache = { _, request in
            _ = current.withLock { $0 }?.memoryImage(for: request)
            return true
        }
        let manager = manager(configuration) { request in
            guard request.url == url, let manager = current.withLock({ $0 }) else {
                return .success(.dot("test:b", size: 5))
            }
            do throws(ImageError) {
                // An image that is made of another one.
                let other = try await manager.image(for: URL(string: "test:b")!)
                manager.configuration.failureLimit += 1
                return .success(.dot(size: other.size.width + 1))
            } catch {
                return .failure(error)
            }
        }
        current.withLock { $0 = manager }
        var request = ImageRequest(url)
        request.transformer = .closure(key: "asks") { image in
            _ = current.withLock { $0 }?.memoryImage(for: URL(string: "test:b")!)
            return image
        }
        #expect(try await manager.image(for: request).size.width == 6)
        await waitUntilIdle(manager)
        current.withLock { $0 = nil }
    }

    @Test("A load that is cancelled because of its own first event ends once")
    func cancelledByObserver() async {
        let manager = manager { request in
            for count in 1...100 {
                request.receive(LoadProgress(chunk: Data([0]), receivedBytes: count, expectedBytes: 100))
                await Task.yield()
                if Task.isCancelled { return .failure(ImageError(.cancelled, stage: .load, reason: "cancelled")) }
            }
            await withTaskCancellationHandler {
                while !Task.isCancelled { await Task.yield() }
            } onCancel: {
            }
            return .failure(ImageError(.cancelled, stage: .load, reason: "cancelled"))
        }
        let task = manager.task(for: url)
        var ends = 0
        for await event in task.events {
            switch event {
            case .progress: task.cancel()
            case .preview: break
            case .finished(let result):
                ends += 1
                #expect(result.failure?.code == .cancelled)
            }
        }
        #expect(ends == 1)
        await waitUntilIdle(manager)
    }

    @Test("A loader that ignores cancellation holds up neither its caller nor the next one")
    func stubbornLoader() async throws {
        let gate = AsyncGate()
        let requests = Lock(0)
        let manager = manager { _ in
            let number = requests.withLock { count in
                count += 1
                return count
            }
            if number == 1 { await gate.wait() }
            return .success(.dot(size: number))
        }
        let first = manager.task(for: url)
        while requests.withLock({ $0 }) < 1 { await Task.yield() }
        first.cancel()
        #expect(await first.result.failure?.code == .cancelled)
        #expect(!manager.hasActiveLoads)
        #expect(try await manager.image(for: url).size.width == 2)
        gate.open()
        await waitUntilIdle(manager)
        #expect(manager.memoryImage(for: url)?.size.width == 2, "the late answer is nobody's")
    }

    @Test("A loader that reports nonsense does no harm")
    func lyingLoader() async throws {
        let late = Lock<(@Sendable (LoadProgress) -> Void)?>(nil)
        // The nonsense fills no budget of other tests.
        let manager = manager(.still) { request in
            late.withLock { $0 = request.receive }
            request.receive(LoadProgress(chunk: Data([1]), receivedBytes: .max, expectedBytes: .max))
            request.receive(LoadProgress(chunk: Data(count: 10), receivedBytes: -5, expectedBytes: -1))
            request.receive(LoadProgress(receivedBytes: 1, expectedBytes: 0))
            return .success(.dot())
        }
        var request = ImageRequest(url)
        request.isProgressive = true
        let task = manager.task(for: request)
        var ends = 0
        for await event in task.events {
            switch event {
            case .progress(let progress): #expect(progress.fraction.map { (0...1).contains($0) } ?? true)
            case .preview: Issue.record("a preview of nothing")
            case .finished: ends += 1
            }
        }
        #expect(ends == 1)
        #expect(try await task.image.size.width == 8)
        // After its end, a report reaches nobody.
        late.withLock { $0 }?(LoadProgress(chunk: Data([1]), receivedBytes: 2, expectedBytes: 2))
        await waitUntilIdle(manager)
    }

    @Test("A loader that says “not modified” without having been asked gives an error, which is not remembered")
    func unaskedNotModified() async throws {
        let manager = manager { .success(.notModified(url: $0.url)) }
        for _ in 0..<2 {
            let error = await #expect(throws: ImageError.self) { try await manager.image(for: url) }
            #expect(error?.code == .badResponse)
        }
    }
}
