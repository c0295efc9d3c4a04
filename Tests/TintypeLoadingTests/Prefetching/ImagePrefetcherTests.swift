import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Prefetching", .timeLimited)
struct ImagePrefetcherTests {
    private func url(_ number: Int) -> URL { URL(string: "test:\(number)")! }
    private func urls(_ range: Range<Int>) -> [URL] { range.map(url) }

    private func prefetcher(
        _ bench: ManagerBench, pressure: MemoryPressure? = nil, clock: any Clock<Duration> = ContinuousClock(),
        _ change: (inout ImagePrefetcher.Configuration) -> Void = { _ in }
    ) -> ImagePrefetcher {
        var configuration = ImagePrefetcher.Configuration()
        change(&configuration)
        return ImagePrefetcher(manager: bench.manager, configuration: configuration, pressure: pressure, clock: clock)
    }

    @Test("Loads, skips what is there, and counts what fails", .capability("PRE-01", "PRE-02", "PRE-05", "PRE-06"))
    func counts() async throws {
        let bench = ManagerBench { url in
            url == URL(string: "test:2")!
                ? .failure(ImageError(.badStatus, stage: .load, reason: "404", statusCode: 404)) : .success(.dot())
        }
        _ = try await bench.manager.image(for: url(0))
        let prefetch = prefetcher(bench).prefetch(urls(0..<4))
        let end = await prefetch.wait()
        #expect(end.total == 4 && end.loaded == 2 && end.skipped == 1 && end.failed == 1 && end.cancelled == 0)
        #expect(end.finished == 4 && end.isFinished)
        #expect(prefetch.failures.map(\.url) == [url(2)])
        #expect(prefetch.failures.first?.error.statusCode == 404)
        #expect(bench.manager.memoryImage(for: url(3)) != nil)
        #expect(bench.loader.calls.count == 4)
    }

    @Test("Nothing to prefetch ends at once", .capability("PRE-02"))
    func empty() async {
        let prefetch = prefetcher(ManagerBench()).prefetch([URL]())
        var seen: [PrefetchProgress] = []
        for await progress in prefetch.progress { seen.append(progress) }
        #expect(seen == [PrefetchProgress()] && prefetch.currentProgress.isFinished)
    }

    @Test("At most so many loads run as the limit says, also after a change", .capability("PRE-04"))
    func limit() async {
        let bench = ManagerBench(answer: nil)
        let prefetcher = prefetcher(bench) { $0.maximumConcurrentLoads = 2 }
        let prefetch = prefetcher.prefetch(urls(0..<6))
        await bench.loader.arrival(of: 2)
        #expect(bench.loader.calls.count == 2)
        bench.loader.answer(0, with: .success(.dot()))
        await bench.loader.arrival(of: 3)
        prefetcher.configuration.maximumConcurrentLoads = 4
        await bench.loader.arrival(of: 5)
        #expect(bench.loader.calls.count == 5)
        for index in 1..<6 { bench.loader.answer(index, with: .success(.dot())) }
        #expect(await prefetch.wait().loaded == 6)
        prefetcher.configuration.maximumConcurrentLoads = 0
        #expect(await prefetcher.prefetch([url(0)]).wait().skipped == 1, "a limit of less than one is one")
    }

    @Test("Its loads have at most its priority; options and thumbnails are those of the request", .capability("PRE-03"))
    func priorities() async throws {
        let bench = ManagerBench(answer: nil)
        var requests = [ImageRequest(url(0)), ImageRequest(url(1), priority: .veryLow)]
        requests[0].thumbnailSize = PixelSize(width: 4, height: 4)
        let prefetch = prefetcher(bench).prefetch(requests)
        await bench.loader.arrival(of: 2)
        let priorities = Dictionary(
            uniqueKeysWithValues: bench.loader.calls.map { ($0.request.url, $0.request.priority.value) })
        #expect(priorities == [url(0): .low, url(1): .veryLow])
        for index in 0..<2 { bench.loader.answer(index, with: .success(.dot())) }
        await prefetch.wait()
        #expect(bench.manager.memoryImage(for: requests[0])?.size == PixelSize(width: 4, height: 4))
        #expect(bench.manager.memoryImage(for: url(0)) == nil)
    }

    @Test("A load for the screen begins before thousands of prefetches, and takes over one that is running")
    func visible() async throws {
        let bench = ManagerBench(answer: nil)
        let prefetch = prefetcher(bench).prefetch(urls(0..<5_000))
        await bench.loader.arrival(of: 3)
        let visible = bench.manager.task(for: url(9_999))
        await bench.loader.arrival(of: 4)
        #expect(bench.loader.calls[3].request.url == url(9_999))
        let first = bench.loader.calls[0].request
        let joining = bench.manager.task(for: ImageRequest(first.url, priority: .high))
        let raised = Watched(first.priority.value)
        let token = first.priority.observe { priority in raised.update { $0 = priority } }
        raised.update { $0 = max($0, first.priority.value) }
        try await raised.wait { $0 == .high }
        first.priority.stopObserving(token)
        for index in [0, 3] { bench.loader.answer(index, with: .success(.dot())) }
        _ = try await (visible.image, joining.image)
        prefetch.cancel()
        let end = await prefetch.wait()
        #expect(end.finished == 5_000 && end.loaded <= 1 && end.cancelled >= 4_999)
        #expect(!bench.manager.hasActiveLoads)
    }

    @Test("To disk, bytes are stored and nothing is decoded", .capability("PRE-13"))
    func disk() async throws {
        let bench = ManagerBench()
        let seen = Lock(0)
        bench.manager.configuration.optionsProcessor = { request in
            seen.withLock { $0 += 1 }
            return request
        }
        let prefetcher = prefetcher(bench) { $0.storesOnDiskOnly = true }
        #expect(await prefetcher.prefetch(urls(0..<3)).wait().loaded == 3)
        #expect(seen.withLock { $0 } == 3, "the processor sees each request once")
        #expect(bench.coder.decodes == 0 && bench.cache.now.memory.isEmpty && bench.cache.now.disk.count == 3)
        let again = await prefetcher.prefetch(urls(0..<3)).wait()
        #expect(again.skipped == 3 && bench.loader.calls.count == 3)
        bench.cache.change { $0.storeError = ImageError(.cacheWriteFailed, stage: .cache, reason: "full") }
        let full = prefetcher.prefetch([url(3)])
        #expect(await full.wait().failed == 1)
        #expect(full.failures.first?.error.code == .cacheWriteFailed)
    }

    @Test("To disk, an image that was loaded with other credentials is loaded again", .capability("PRE-13"))
    func otherCredentials() async throws {
        let bench = ManagerBench()
        let prefetcher = prefetcher(bench) { $0.storesOnDiskOnly = true }
        for (token, loaded) in [("A", 1), ("A", 0), ("B", 1), ("B", 0)] {
            let request = ImageRequest(url(0), headers: ["Authorization": token])
            #expect(await prefetcher.prefetch([request]).wait().loaded == loaded, "\(token)")
        }
    }

    @Test("Loads begin in the order of the list", .capability("PRE-04"))
    func order() async {
        let bench = ManagerBench(answer: nil)
        let prefetch = prefetcher(bench) { $0.maximumConcurrentLoads = 6 }.prefetch(urls(0..<6))
        await bench.loader.arrival(of: 6)
        #expect(bench.loader.calls.map(\.request.url) == urls(0..<6))
        bench.manager.cancelAll()
        #expect(await prefetch.wait().cancelled == 6)
    }

    @Test("A display of an image that is being prefetched joins the load", .capability("PRE-01"))
    func display() async throws {
        let bench = ManagerBench(answer: nil)
        let prefetch = prefetcher(bench).prefetch([url(0)])
        await bench.loader.arrival(of: 1)
        guard case .task(let task, _, _) = bench.manager.displayLoad(ImageRequest(url(0)), isSuspended: false) else {
            Issue.record("nothing is in memory yet")
            return
        }
        bench.loader.answer(0, with: .success(.dot()))
        let image = try await task.image
        #expect(await prefetch.wait().loaded == 1)
        #expect(bench.coder.decodes == 1)
        #expect(bench.manager.memoryImage(for: ImageRequest(url(0)))?.isIdentical(to: image) == true)
    }

    @Test(
        "An image of which only a part can be decoded counts as failed, unless the request allows a part",
        .capability("PRE-05"))
    func partialImage() async {
        struct HalfCoder: ImageCoder {
            var decodableFormats: Set<ImageFormat> { [.dot] }

            func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

            func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
                try DotCoder().info(of: data, context: context)
            }

            func decode(
                _ data: Data, options: DecodeOptions, context: ProcessingContext
            ) throws(ImageError) -> Image {
                try DotCoder().decode(data, options: options, context: context).with { $0.isPartial = true }
            }
        }
        let manager = ImageManager(
            cache: DictionaryCache(), loader: GatedLoader { _ in .success(.dot()) }, coders: ImageCoders([HalfCoder()]))
        let prefetcher = ImagePrefetcher(manager: manager, pressure: nil)
        var request = ImageRequest(url(0))
        let prefetch = prefetcher.prefetch([request])
        #expect(await prefetch.wait().failed == 1)
        #expect(prefetch.failures.first?.error.code == .truncatedImage)
        request.decode.allowsPartialImage = true
        #expect(await prefetcher.prefetch([request]).wait().loaded == 1)
    }

    @Test("Without a disk cache, prefetching to disk fails and says so")
    func noDisk() async throws {
        let manager = ImageManager(
            cache: ImageCache(), loader: GatedLoader { _ in .success(.dot()) }, coders: DotCoder())
        var configuration = ImagePrefetcher.Configuration()
        configuration.storesOnDiskOnly = true
        let prefetch = ImagePrefetcher(manager: manager, configuration: configuration, pressure: nil).prefetch([url(0)])
        #expect(await prefetch.wait().failed == 1)
        #expect(prefetch.failures.first?.error.code == .cacheUnavailable)
    }

    @Test(
        "A cancelled prefetch ends with its counts, and leaves others alone",
        .capability("MGR-41", "PRE-08", "PRE-10", "D22"))
    func cancelling() async {
        let bench = ManagerBench(answer: nil)
        let prefetcher = prefetcher(bench) { $0.maximumConcurrentLoads = 2 }
        let one = prefetcher.prefetch(urls(0..<10))
        let two = prefetcher.prefetch(urls(10..<12))
        await bench.loader.arrival(of: 2)
        one.cancel()
        let end = await one.wait()
        #expect(end.cancelled == 10 && end.isFinished)
        await bench.loader.arrival(of: 4)
        for index in 2..<4 { bench.loader.answer(index, with: .success(.dot())) }
        #expect(await two.wait().loaded == 2)
        #expect(prefetcher.currentProgress.total == 12 && prefetcher.currentProgress.isFinished)
    }

    @Test("All prefetches end when all are cancelled", .capability("PRE-09"))
    func cancellingAll() async {
        let bench = ManagerBench(answer: nil)
        let prefetcher = prefetcher(bench)
        let all = (0..<3).map { prefetcher.prefetch(urls($0 * 10..<$0 * 10 + 10)) }
        await bench.loader.arrival(of: 3)
        prefetcher.cancelAll()
        for prefetch in all { #expect(await prefetch.wait().cancelled == 10) }
        #expect(bench.loader.calls.count == 3)
        bench.manager.loaders.add(DataURLLoader())
        #expect(await prefetcher.prefetch([URL(string: "data:image/x-dot,DOT%204")!]).wait().loaded == 1)
    }

    @Test("One URL is cancelled, whether it waits or runs, and another one goes on")
    func cancellingOne() async {
        let bench = ManagerBench(answer: nil)
        let prefetcher = prefetcher(bench) { $0.maximumConcurrentLoads = 1 }
        let prefetch = prefetcher.prefetch(urls(0..<3) + [url(1)])
        await bench.loader.arrival(of: 1)
        prefetch.cancel(url(1))
        prefetch.cancel(url(1))
        #expect(prefetch.currentProgress.cancelled == 2)
        prefetcher.cancel(url(0))
        await bench.loader.arrival(of: 2)
        #expect(bench.loader.calls[1].request.url == url(2))
        bench.loader.answer(1, with: .success(.dot()))
        let end = await prefetch.wait()
        #expect(end.cancelled == 3 && end.loaded == 1)
    }

    @Test("Loads that the manager ends count as cancelled, and nothing hangs", .capability("PRE-11"))
    func cancelledByManager() async {
        let bench = ManagerBench(answer: nil)
        let prefetch = prefetcher(bench).prefetch(urls(0..<3))
        await bench.loader.arrival(of: 3)
        bench.manager.cancelAll()
        #expect(await prefetch.wait().cancelled == 3)
    }

    @Test("A refresh counts each URL once, and so does one that is prefetched twice", .capability("PRE-14"))
    func refreshing() async throws {
        let bench = ManagerBench()
        _ = try await bench.manager.image(for: url(0))
        let request = ImageRequest(url(0), cachePolicy: .revalidate)
        let end = await prefetcher(bench).prefetch([request, request]).wait()
        #expect(end.finished == 2 && end.failed == 0)
    }

    @Test(
        "Observers see the numbers grow, the last included; sums go over all prefetches",
        .capability("PRE-05", "PRE-07", "PRE-12"))
    func progress() async throws {
        let bench = ManagerBench(answer: nil)
        let prefetcher = prefetcher(bench) { $0.maximumConcurrentLoads = 1 }
        let sums = Watched<[PrefetchProgress]>([])
        let observer = Task { for await progress in prefetcher.progress { sums.update { $0.append(progress) } } }
        let prefetch = prefetcher.prefetch(urls(0..<3))
        var seen: [Int] = []
        var answered = 0
        for await progress in prefetch.progress {
            seen.append(progress.finished)
            guard progress.finished == answered, answered < 3 else { continue }
            await bench.loader.arrival(of: answered + 1)
            bench.loader.answer(answered, with: .success(.dot()))
            answered += 1
        }
        #expect(seen == [0, 1, 2, 3])
        try await sums.wait { $0.last?.finished == 3 }
        #expect(zip(sums.value, sums.value.dropFirst()).allSatisfy { $0.finished <= $1.finished })
        observer.cancel()
        await observer.value
        #expect(await prefetcher.prefetch([url(0)]).wait().skipped == 1)
        #expect(prefetcher.currentProgress.total == 1, "the sums begin anew when all had ended")
    }

    @Test("A wait that is cancelled ends; the prefetch goes on without its objects")
    func released() async throws {
        let bench = ManagerBench(answer: nil)
        let waiting: Task<PrefetchProgress, Never>
        do {
            let prefetch = prefetcher(bench) { $0.maximumConcurrentLoads = 1 }.prefetch(urls(0..<2))
            waiting = Task { await prefetch.wait() }
        }
        waiting.cancel()
        #expect(await waiting.value.total == 2)
        for index in 0..<2 {
            await bench.loader.arrival(of: index + 1)
            bench.loader.answer(index, with: .success(.dot()))
        }
        _ = try await bench.manager.image(for: url(1))
    }

    @Test("Nothing begins while it is paused, or under memory pressure until its time is over")
    func pausing() async throws {
        let bench = ManagerBench()
        let pressure = MemoryPressure()
        let clock = ManualClock()
        let prefetcher = prefetcher(bench, pressure: pressure, clock: clock)
        prefetcher.isPaused = true
        let prefetch = prefetcher.prefetch(urls(0..<2))
        #expect(bench.loader.calls.isEmpty)
        pressure.report(.warning)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        pressure.report(.critical)
        try await clock.waitForSleepers(2)
        prefetcher.isPaused = false
        clock.advance(by: .seconds(9))
        try await clock.waitForSleepers(1)
        #expect(bench.loader.calls.isEmpty, "the second report prolongs the pause")
        clock.advance(by: .seconds(1))
        #expect(await prefetch.wait().loaded == 2)
        prefetcher.configuration.pauseUnderMemoryPressure = .seconds(Int64.max)
        pressure.report(.critical)
        try await clock.waitForSleepers(1)
        prefetcher.configuration.pauseUnderMemoryPressure = .zero
        pressure.report(.critical)
        #expect(await prefetcher.prefetch([url(2)]).wait().loaded == 1)
    }

    @Test("A paused prefetcher that is released cancels what it would have loaded", .capability("PRE-01"))
    func releasedWhilePaused() async {
        let bench = ManagerBench()
        var prefetcher: ImagePrefetcher? = prefetcher(bench)
        prefetcher?.isPaused = true
        let prefetch = prefetcher?.prefetch(urls(0..<2))
        prefetcher = nil
        #expect(await prefetch?.wait().cancelled == 2)
    }

    @Test("The newest prefetch is first if it should be")
    func newestFirst() async {
        let bench = ManagerBench()
        let prefetcher = prefetcher(bench) {
            $0.newestFirst = true
            $0.maximumConcurrentLoads = 1
        }
        prefetcher.isPaused = true
        let all = [prefetcher.prefetch(urls(0..<2)), prefetcher.prefetch(urls(2..<4))]
        prefetcher.isPaused = false
        for prefetch in all { await prefetch.wait() }
        #expect(bench.loader.calls.map(\.request.url) == [url(2), url(3), url(0), url(1)])
    }

    @Test(
        "Random prefetches and cancellations all end, with every image counted once", arguments: 0..<10 as Range<UInt64>
    )
    func property(seed: UInt64) async {
        let bench = ManagerBench { url in
            url.absoluteString.hasSuffix("7")
                ? .failure(ImageError(.connectionFailed, stage: .load, reason: "")) : .success(.dot())
        }
        var generator = SeededRandom(seed: seed)
        let prefetcher = prefetcher(bench) { $0.maximumConcurrentLoads = Int.random(in: 1...4, using: &generator) }
        var all: [(ImagePrefetch, Int)] = []
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let numbers = (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                    Int.random(in: 0..<30, using: &generator)
                }
                all.append((prefetcher.prefetch(numbers.map(url)), numbers.count))
            case 5: all.randomElement(using: &generator)?.0.cancel()
            case 6: prefetcher.cancel(url(Int.random(in: 0..<30, using: &generator)))
            case 7: prefetcher.isPaused.toggle()
            case 8: await Task.yield()
            default: if Bool.random(using: &generator) { prefetcher.cancelAll() }
            }
        }
        prefetcher.isPaused = false
        for (prefetch, count) in all {
            let end = await prefetch.wait()
            #expect(end.total == count && end.isFinished && prefetch.failures.count == end.failed)
        }
        #expect(prefetcher.currentProgress.isFinished)
    }
}
