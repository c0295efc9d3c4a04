import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

/// What a query of an image cache may ask for, and what it may leave out.
@Suite("Queries of an image cache", .timeLimited)
struct ImageCacheOptionsTests {
    private let directory: TemporaryDirectory
    private let coder = MovieCoder()
    private let memory = MemoryCache()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(memory: MemoryCache? = nil, processing: WorkQueue = .processing) -> ImageCache {
        ImageCache(
            memory: memory ?? self.memory, disk: DiskCache.temporary(directory.path + "/cache"), coder: coder,
            processing: processing)
    }

    private func still() -> DecodeOptions {
        var options = DecodeOptions()
        options.firstFrameOnly = true
        return options
    }

    @Test("who asks no layer gets nothing, and nothing is done for it", .capability("CQU-01"))
    func noLayer() async throws {
        let cache = cache()
        try await cache.store(try solidImage(1, 1), data: MovieCoder.bytes(frames: 1), forKey: "a", in: [])
        #expect(await cache.contains("a") == [])
        try await cache.store(try solidImage(1, 1), data: MovieCoder.bytes(frames: 1), forKey: "a")
        #expect(await cache.image(forKey: "a", in: []) == nil)
        #expect(await cache.contains("a", in: []) == [])
        try await cache.remove("a", from: [])
        #expect(await cache.contains("a") == .all)
        #expect(cache.disk.statistics.hits == 0 && memory.statistics.hits == 0 && coder.decodes.isEmpty)
    }

    @Test(
        "the first frame of an animation in memory is a still image of its own; the animation stays as it is",
        .capability("CQU-11"))
    func firstFrame() async throws {
        let cache = cache()
        try await cache.store(nil, data: MovieCoder.bytes(frames: 3), forKey: "a")
        let animation = try #require(await cache.image(forKey: "a")).image
        let hit = try #require(await cache.image(forKey: "a", options: still()))
        #expect(hit.source == .memory && !hit.image.isAnimated && hit.image.pixels === animation.pixels)
        #expect(memory.statistics.entries == 1 && coder.decodes.count == 1)
        #expect(cache.memoryImage(forKey: "a")?.isIdentical(to: animation) == true)
        // Without the animation the first frame is decoded alone, and known as what it is.
        try await cache.removeAll(from: .memory)
        let decoded = try #require(await cache.image(forKey: "a", options: still()))
        #expect(decoded.source == .disk && !decoded.image.isAnimated && coder.decodes.last?.firstFrameOnly == true)
        #expect(cache.memoryImage(forKey: "a") == nil)
        #expect(await cache.image(forKey: "a", options: still())?.source == .memory)
    }

    @Test("who is cancelled gets nothing at once; what nobody waits for is not decoded", .capability("CQU-13"))
    func cancelling() async throws {
        let queue = WorkQueue(label: "test", width: 1)
        let cache = cache(processing: queue)
        try await cache.store(nil, data: MovieCoder.bytes(frames: 1), forKey: "a")
        let isHeld = Lock(true)
        let holding = Task { try await queue.perform { _ throws(ImageError) in while isHeld.withLock({ $0 }) {} } }
        let cancelled = Task { await cache.image(forKey: "a") }
        while queue.load.waiting == 0 { await Task.yield() }
        cancelled.cancel()
        #expect(await cancelled.value == nil, "while the queue is still held")
        #expect(queue.load.waiting == 0)
        let staying = Task { await cache.image(forKey: "a") }
        while queue.load.waiting == 0 { await Task.yield() }
        let leaving = Task { await cache.image(forKey: "a") }
        while cache.reads.waitingCount < 2 { await Task.yield() }
        leaving.cancel()
        #expect(await leaving.value == nil)
        isHeld.withLock { $0 = false }
        try await holding.value
        #expect(await staying.value?.image.size.width == 8)
        #expect(coder.decodes.count == 1)
    }

    @Test(
        "from memory at once, from disk, from either, and the bytes alone; for code that blocks, too",
        .capability("CQU-14"))
    func getters() async throws {
        let cache = cache()
        let bytes = MovieCoder.bytes(frames: 2, side: 5)
        try await cache.store(nil, data: bytes, forKey: "a")
        #expect(cache.memory.image(forKey: "a") == nil)
        #expect(await cache.entry(forKey: "a")?.data == bytes)
        #expect(coder.decodes.isEmpty)
        #expect(await cache.image(forKey: "a", in: .disk)?.image.frames.count == 2)
        #expect(await cache.contains("a", in: .memory) == [], "memory was not named")
        #expect(await cache.image(forKey: "a")?.source == .disk)
        #expect(cache.memory.image(forKey: "a")?.frames.count == 2)

        // On a thread that may block, unlike those that tests run on.
        let thread = WorkQueue(label: "a thread of the program", width: 1)
        try await thread.perform { [memory] _ throws(ImageError) in
            #expect(cache.imageBlocking(forKey: "a")?.source == .memory)
            memory.removeAll()
            #expect(cache.imageBlocking(forKey: "a", in: .memory) == nil)
            let small = cache.imageBlocking(
                forKey: "a", options: DecodeOptions(thumbnailSize: PixelSize(width: 2, height: 2)))
            #expect(small?.source == .disk && small?.image.size.width == 2)
            #expect(cache.entryBlocking(forKey: "a")?.data == bytes)
            #expect(cache.entryBlocking(forKey: "b") == nil && cache.imageBlocking(forKey: "b") == nil)
        }
    }

    @Test(
        "a query decodes as a load does: with its options, and what the key's name and the type tell",
        .capability("CQU-15"))
    func derivedOptions() async throws {
        let cache = cache()
        let key = ImageKey(source: "https://example.org/dir.v2/photo@2x.NEF?token=a/b.png")
        try await cache.store(nil, data: MovieCoder.bytes(frames: 1), forKey: key)
        #expect(await cache.image(forKey: key)?.image.scale == 2)
        #expect(coder.decodes.last?.formatHint == .raw)
        var options = DecodeOptions(thumbnailSize: PixelSize(width: 4, height: 4))
        options.scale = 3
        options.formatHint = .tiff
        let thumbnail = try #require(await cache.image(forKey: key, options: options))
        #expect(thumbnail.image.size.width == 4 && thumbnail.image.scale == 3)
        #expect(coder.decodes.last == options)
        // Each is in memory under what was made of it, as a load looks for it.
        #expect(cache.memoryImage(forKey: key)?.size.width == 8)
        let made = ImageKey(source: key.source, variant: ImageVariant(options))
        #expect(cache.memoryImage(forKey: made)?.isIdentical(to: thumbnail.image) == true)
        #expect(key.decoded(with: options) == made && key.decoded(with: DecodeOptions()) == key)
        #expect(made.decoded(with: options) != made)
        let entry = DiskCacheEntry(
            data: MovieCoder.bytes(frames: 1), created: Date(), mimeType: "image/x-adobe-dng")
        try await cache.store(entry, forKey: "plain")
        _ = await cache.image(forKey: "plain")
        #expect(coder.decodes.last?.formatHint == .raw && coder.decodes.last?.scale == 1)
    }

    @Test("a memory cache without capacity keeps nothing, whoever stores, until it gets some", .capability("CCF-02"))
    func withoutMemory() async throws {
        let memory = MemoryCache(.init(capacity: 0))
        let cache = cache(memory: memory)
        try await cache.store(nil, data: MovieCoder.bytes(frames: 1), forKey: "a")
        #expect(await cache.image(forKey: "a")?.source == .disk)
        #expect(await cache.image(forKey: "a")?.source == .disk, "it was not kept")
        memory.store(try solidImage(4, 4), forKey: "b")
        cache.storeInMemory(try solidImage(4, 4), forKey: "c")
        #expect(memory.image(forKey: "b") == nil && memory.image(forKey: "c") == nil)
        #expect(memory.statistics.entries == 0 && memory.statistics.bytes == 0)
        memory.configuration.capacity = .megabytes(1)
        #expect(await cache.image(forKey: "a")?.source == .disk)
        #expect(await cache.image(forKey: "a")?.source == .memory)
    }

    @Test("without bytes an image is encoded anew, in place of the bytes that are there", .capability("OLD-02"))
    func encodesAnew() async throws {
        let dots = DotCoder()
        let cache = ImageCache(
            memory: memory, disk: DiskCache.temporary(directory.path + "/cache"), coder: ImageCoders([dots]))
        let image = try solidImage(4, 4).with { $0.format = .dot }
        try await cache.store(image, data: Data("DOT 04".utf8), forKey: "a")
        #expect(await cache.entry(forKey: "a")?.data == Data("DOT 04".utf8) && dots.encoded.isEmpty)
        try await cache.store(image, forKey: "a", options: EncodeOptions(quality: 0.3))
        #expect(await cache.entry(forKey: "a")?.data == Data("DOT 4".utf8))
        #expect(dots.encoded.map(\.quality) == [0.3])
    }
}
