import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Progressive loads", .timeLimited)
struct ProgressiveLoadTests {
    private let url = URL(string: "test:a")!
    private let loader = GatedLoader()
    private let coder = GrowingCoder()
    private let cache = DictionaryCache()
    private let time = Lock(ContinuousClock.now)
    private let manager: ImageManager
    private var request: ImageRequest

    init() {
        var configuration = ImageManager.Configuration()
        configuration.now = { [time] in time.withLock { $0 } }
        configuration.processing = WorkQueue(label: "test", width: 1)
        configuration.budget = DecodeBudget(limit: .megabytes(1))
        manager = ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([coder]), configuration: configuration)
        request = ImageRequest(url)
        request.isProgressive = true
    }

    /// The whole file: 20 bytes, sent in chunks of 4.
    private let data = Data("GROW0123456789abcdef".utf8)

    private func send(_ chunk: Int, call: Int = 0) {
        let end = chunk * 4 + 4
        loader.calls[call].request.receive(
            LoadProgress(chunk: data[chunk * 4..<end], receivedBytes: end, expectedBytes: data.count))
    }

    private func answer(_ call: Int = 0) {
        loader.answer(call, with: .success(LoadedData(data: data, url: url)))
    }

    private func advance(_ milliseconds: Int) { time.withLock { $0 += .milliseconds(milliseconds) } }

    /// Waits until decoders have been given so many bytes.
    private func appended(_ count: Int) async throws { try await coder.counts.wait { $0.appended >= count } }

    /// The bytes that the previews showed, and the end.
    private func follow(_ events: AsyncStream<ImageEvent>) async throws -> (previews: [Image], final: Image) {
        var previews: [Image] = []
        for await event in events {
            if case .preview(let image) = event { previews.append(image) }
            if case .finished(let result) = event { return (previews, try result.get().image) }
        }
        throw CancellationError()
    }

    private func nextPreview(_ events: inout AsyncStream<ImageEvent>.Iterator) async throws -> Image {
        while let event = await events.next() {
            if case .preview(let image) = event { return image }
            if case .finished(let result) = event { Issue.record("ended: \(result)") }
        }
        throw CancellationError()
    }

    @Test("A caller that wants previews gets them from a load that another one began without", .capability("OPT-02"))
    func lateWish() async throws {
        var plain = request
        plain.isProgressive = false
        let first = manager.task(for: plain)
        let firstEvents = first.events
        await loader.arrival(of: 1)
        let late = manager.task(for: request)
        var events = late.events.makeAsyncIterator()
        while manager.waiting.images < 2 { await Task.yield() }
        let bytes = ArrivingBytes()
        _ = bytes.append(data.prefix(12))
        loader.calls[0].request.report(bytes, from: 0, expected: data.count)
        #expect(try await nextPreview(&events).size.width > 0)
        answer()
        let (previews, image) = try await follow(firstEvents)
        let lateImage = try await late.image
        #expect(previews.isEmpty && image.size == lateImage.size)
        #expect(loader.calls.count == 1)
    }

    @Test(
        "From a loader that reports chunks, a caller that joins after the first chunk gets the image and no previews",
        .capability("OPT-02"))
    func lateWishForChunks() async throws {
        var plain = request
        plain.isProgressive = false
        let first = manager.task(for: plain)
        await loader.arrival(of: 1)
        send(0)
        let late = manager.task(for: request)
        let events = late.events
        while manager.waiting.images < 2 { await Task.yield() }
        for chunk in 1..<5 { send(chunk) }
        answer()
        let (previews, image) = try await follow(events)
        #expect(previews.isEmpty && image.byteCount == 20)
        #expect(try await first.image.byteCount == 20)
        let counts = coder.counts.value
        #expect(loader.calls.count == 1 && counts.appended == 0 && counts.decodes == 1)
    }

    @Test(
        "Previews come as bytes do; the end is the same decoder's, and nothing is decoded twice",
        .capability("DLR-27", "DLR-28", "DLR-32", "OPT-02"))
    func previews() async throws {
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        for chunk in 0..<3 {
            send(chunk)
            let preview = try await nextPreview(&events)
            #expect(preview.isPartial && preview.byteCount == chunk * 4 + 4)
            advance(100)
        }
        send(3)
        send(4)
        answer()
        let final = try await task.image
        #expect(!final.isPartial && final.byteCount == 20)
        let counts = coder.counts.value
        #expect(counts.decodes == 0 && counts.finishes == 1 && counts.appended == 20)
    }

    @Test("An observer that doesn't read keeps the newest preview only, and the end")
    func slowObserver() async throws {
        let task = manager.task(for: request)
        let slow = task.events
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        for chunk in 0..<3 {
            send(chunk)
            #expect(try await nextPreview(&events).byteCount == chunk * 4 + 4)
            advance(100)
        }
        answer()
        _ = try await task.image
        var seen: [String] = []
        for await event in slow {
            switch event {
            case .progress(let progress): seen.append("progress \(progress.receivedBytes)")
            case .preview(let image): seen.append("preview \(image.byteCount)")
            case .finished: seen.append("end")
            }
        }
        #expect(seen == ["progress 12", "preview 12", "end"])
    }

    @Test("The whole cached image stays while its source is asked: no preview of the new bytes follows it")
    func noPreviewOverCachedImage() async throws {
        let first = manager.task(for: request)
        await loader.arrival(of: 1)
        answer()
        _ = try await first.image
        await manager.flush()
        cache.change { $0.memory = [:] }
        var asking = request
        asking.cachePolicy = .revalidate
        let task = manager.task(for: asking)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 2)
        var cached: Image?
        while cached == nil, let event = await events.next() {
            if case .preview(let image) = event { cached = image }
        }
        #expect(cached?.byteCount == 20 && cached?.isPartial == false)
        let appended = coder.counts.value.appended
        for chunk in 0..<3 {
            send(chunk, call: 1)
            // The queue of the test has one thread: what came before this has run.
            for _ in 0..<20 { await Task.yield() }
            try await manager.configuration.processing.perform { _ in }
            advance(100)
        }
        #expect(coder.counts.value.appended == appended)
        answer(1)
        while let event = await events.next() {
            if case .preview = event { Issue.record("a preview came after the whole image") }
            if case .finished(let result) = event {
                #expect(try result.get().image.byteCount == 20)
                break
            }
        }
    }

    @Test("A preview is never cached", .capability("3.15", "MGR-21"))
    func neverStored() async throws {
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        send(0)
        _ = try await nextPreview(&events)
        #expect(cache.now.memory.isEmpty && cache.now.disk.isEmpty)
        loader.answer(0, with: .failure(ImageError(.connectionLost, stage: .load, reason: "gone")))
        _ = await task.result
        #expect(cache.now.memoryStores == 0 && cache.now.diskStores == 0)
    }

    @Test("At most one preview comes per interval, and the next shows all that has come")
    func interval() async throws {
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        send(0)
        #expect(try await nextPreview(&events).byteCount == 4)
        advance(99)
        send(1)
        try await appended(8)
        advance(1)
        send(2)
        #expect(try await nextPreview(&events).byteCount == 12)
        answer()
        // Not all was reported, so the image is decoded from the whole.
        #expect(try await task.image.byteCount == 20)
        #expect(coder.counts.value.previews == 2 && coder.counts.value.decodes == 1)
    }

    @Test("Chunks that come while a preview is made are taken together; one is made at a time")
    func coalescing() async throws {
        let queue = WorkQueue(label: "held", width: 1)
        manager.configuration.processing = queue
        manager.configuration.previewInterval = .zero
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        // The only thread is busy, so that the first pass has to wait.
        let gate = OneThreadGate()
        let holding = Task { try await queue.perform { _ throws(ImageError) in gate.hold() } }
        while queue.load.running == 0 { await Task.yield() }
        for chunk in 0..<4 { send(chunk) }
        gate.open()
        try await holding.value
        #expect(try await nextPreview(&events).byteCount == 16)
        #expect(coder.counts.value.previews == 1)
        send(4)
        answer()
        #expect(try await task.image.byteCount == 20)
    }

    @Test("One fetch feeds decoders with several options, each with previews of its size", .capability("DLR-13"))
    func shared() async throws {
        var small = request
        small.thumbnailSize = PixelSize(width: 4, height: 4)
        let tasks = [manager.task(for: request), manager.task(for: small)]
        var full = tasks[0].events.makeAsyncIterator()
        var thumbnail = tasks[1].events.makeAsyncIterator()
        await loader.arrival(of: 1)
        // The second has joined when it hears of the first bytes.
        send(0)
        #expect(try await nextPreview(&full).size == PixelSize(width: 8, height: 8))
        let preview = try await nextPreview(&thumbnail)
        #expect(preview.size == PixelSize(width: 4, height: 4) && preview.byteCount == 4)
        for chunk in 1..<5 { send(chunk) }
        answer()
        #expect(try await tasks[0].image.size == PixelSize(width: 8, height: 8))
        #expect(try await tasks[1].image.size == PixelSize(width: 4, height: 4))
        #expect(loader.calls.count == 1)
        #expect(coder.counts.value.decodes == 0 && coder.counts.value.finishes == 2)
    }

    @Test("Who comes late is told the newest preview; a late decoder gets the bytes from the beginning")
    func late() async throws {
        let early = manager.task(for: request)
        var events = early.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        send(0)
        send(1)
        _ = try await nextPreview(&events)
        try await appended(8)
        let same = manager.task(for: request)
        var replay = same.events.makeAsyncIterator()
        #expect([4, 8].contains(try await nextPreview(&replay).byteCount))
        var small = request
        small.thumbnailSize = PixelSize(width: 4, height: 4)
        let other = manager.task(for: small)
        var fromTheBeginning = other.events.makeAsyncIterator()
        #expect(try await nextPreview(&fromTheBeginning).byteCount == 8)
        for chunk in 2..<5 { send(chunk) }
        answer()
        for task in [early, same, other] { #expect(try await task.image.byteCount == 20) }
        #expect(loader.calls.count == 1 && coder.counts.value.decodes == 0)
    }

    @Test("Previews are transformed like the image", .capability("MGR-21"))
    func transformed() async throws {
        var request = request
        request.transformer = Doubling()
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        send(0)
        let preview = try await nextPreview(&events)
        #expect(preview.byteCount == 8 && preview.isPartial && preview.isTransformed)
        for chunk in 1..<5 { send(chunk) }
        answer()
        #expect(try await task.image.byteCount == 40)
    }

    @Test("Without the option, or with a coder that is not progressive, there are no previews", .capability("DLR-29"))
    func withoutPreviews() async throws {
        var plain = request
        plain.isProgressive = false
        let other = manager.copy(coders: DotCoder())
        for (index, (manager, request)) in [(manager, plain), (other, request)].enumerated() {
            let task = manager.task(for: request)
            let events = task.events
            await loader.arrival(of: index + 1)
            let bytes = index == 0 ? data : Data("DOT 8".utf8)
            loader.calls[index].request.receive(
                LoadProgress(chunk: bytes, receivedBytes: bytes.count, expectedBytes: bytes.count))
            loader.answer(index, with: .success(LoadedData(data: bytes, url: url)))
            #expect(try await follow(events).previews.isEmpty)
            try await cache.removeAll(from: .all)
        }
        #expect(coder.counts.value.appended == 0 && coder.counts.value.decodes == 1)
    }

    @Test("A transfer that begins anew, or in the middle, costs the previews and not the image")
    func broken() async throws {
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        send(0)
        _ = try await nextPreview(&events)
        send(2)
        answer()
        #expect(try await task.image.byteCount == 20)
        #expect(coder.counts.value.decodes == 1 && coder.counts.value.finishes == 0)
    }

    @Test("While a cached image is refreshed, it is not replaced by parts of the new one")
    func refreshing() async throws {
        let old = try coder.decode(Data("GROW".utf8), options: DecodeOptions(), context: ProcessingContext())
        cache.storeInMemory(old, forKey: manager.key(for: request))
        var request = request
        request.isProgressive = true
        request.cachePolicy = .revalidate
        let task = manager.task(for: request)
        let events = task.events
        await loader.arrival(of: 1)
        for chunk in 0..<5 { send(chunk) }
        answer()
        let (previews, final) = try await follow(events)
        #expect(previews.allSatisfy { $0.isIdentical(to: old) } && final.byteCount == 20)
    }

    @Test("A cancelled load stops decoding")
    func cancelled() async throws {
        let task = manager.task(for: request)
        var events = task.events.makeAsyncIterator()
        await loader.arrival(of: 1)
        let receive = loader.calls[0].request.receive
        send(0)
        _ = try await nextPreview(&events)
        task.cancel()
        #expect(await task.result.failure?.code == .cancelled)
        receive(LoadProgress(chunk: data[4..<8], receivedBytes: 8, expectedBytes: 20))
        #expect(loader.cancelled == 1 && coder.counts.value.finishes == 0)
    }
}

/// Keeps a thread busy until it is let go.
private final class OneThreadGate: Sendable {
    private let isOpen = Lock(false)

    func hold() { while !isOpen.withLock({ $0 }) {} }
    func open() { isOpen.withLock { $0 = true } }
}

/// Doubles every component.
private struct Doubling: ImageTransformer {
    var key: String { "double" }

    func transform(_ image: Image) throws -> Image {
        let target = try MutablePixelBuffer(size: image.size)
        for y in 0..<image.size.height {
            for x in 0..<image.size.width {
                target.row(y).storeBytes(of: image.pixels[x, y] &* 2, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        return Image(pixels: target.freeze(), properties: image.properties)
    }
}
