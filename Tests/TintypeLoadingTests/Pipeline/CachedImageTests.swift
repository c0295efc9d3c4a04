import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:photo@2x.movie")!

/// Reads nothing, for one reason.
private struct FailingCoder: ImageCoder {
    var code: ImageError.Code
    let decodableFormats: Set<ImageFormat> = []

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(code, stage: .decode, reason: "not here")
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(code, stage: .decode, reason: "not here")
    }
}

extension ImageError.Code {
    /// An error of a program's own coder.
    fileprivate static let decodeFailedByCoder = Self(rawValue: "decodeFailedByCoder")
}

@Suite("Cached images of a manager", .timeLimited)
struct CachedImageTests {
    private let directory: TemporaryDirectory
    private let coder = MovieCoder()
    private let cache: ImageCache
    private let loader = GatedLoader { .success(LoadedData(data: MovieCoder.bytes(frames: 1), url: $0)) }

    init() throws {
        directory = try TemporaryDirectory()
        cache = ImageCache(memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"))
    }

    private func manager(
        _ coders: (any ImageCoder)? = nil, configuration: ImageManager.Configuration = .init()
    ) -> ImageManager {
        ImageManager(cache: cache, loader: loader, coders: coders ?? coder, configuration: configuration)
    }

    private func storeOnDisk(_ key: ImageKey, _ data: Data = MovieCoder.bytes(frames: 1)) async throws {
        let entry = DiskCacheEntry(data: data, created: Date(timeIntervalSince1970: 1_700_000_000))
        try await cache.store(entry, forKey: key)
    }

    @Test(
        "Memory answers first, then the disk; the source is never asked, and a miss is nil",
        .capability("CQU-02", "CQU-04", "CQU-09", "CQU-14"))
    func order() async throws {
        let manager = manager()
        #expect(try await manager.cachedImage(for: url) == nil)
        try await storeOnDisk(manager.key(for: url))
        #expect(manager.memoryImage(for: url) == nil, "that looks into memory alone")
        let image = try #require(try await manager.cachedImage(for: url))
        #expect(image.scale == 2, "it is decoded as a load decodes it")
        #expect(manager.memoryImage(for: url)?.isIdentical(to: image) == true, "a disk hit is kept in memory")
        #expect(try await manager.cachedImage(for: url)?.isIdentical(to: image) == true)
        #expect(coder.decodes.count == 1 && loader.calls.isEmpty)
    }

    @Test("Whatever the request and the manager say of the source, it isn't asked", arguments: CachePolicy.allCases)
    func policies(_ policy: CachePolicy) async throws {
        var configuration = ImageManager.Configuration()
        configuration.optionsProcessor = { request in
            var request = request
            request.cachePolicy = policy
            return request
        }
        let manager = manager(configuration: configuration)
        #expect(try await manager.cachedImage(for: url) == nil)
        try await storeOnDisk(manager.key(for: url))
        #expect(try await manager.cachedImage(for: url) != nil)
        #expect(loader.calls.isEmpty)
    }

    @Test("A request's options and layers count", .capability("CQU-15", "CQU-01"))
    func options() async throws {
        let manager = manager()
        try await storeOnDisk(manager.key(for: url))
        var request = ImageRequest(url)
        request.cache.query = []
        #expect(try await manager.cachedImage(for: request) == nil)
        request.cache.query = .all
        request.cache.store = []
        request.thumbnailSize = PixelSize(width: 4, height: 4)
        #expect(try await manager.cachedImage(for: request)?.size.width == 4)
        #expect(manager.memoryImage(for: request) == nil)
    }

    @Test(
        "A query of the disk alone keeps the image in memory, unless the request doesn't store it there",
        .capability("CQU-14"))
    func diskAlone() async throws {
        let manager = manager()
        try await storeOnDisk(manager.key(for: url))
        var request = ImageRequest(url)
        request.cache.query = .disk
        request.cache.store = .disk
        #expect(try await manager.cachedImage(for: request) != nil)
        #expect(manager.memoryImage(for: ImageRequest(url)) == nil)
        request.cache.store = .all
        #expect(try await manager.cachedImage(for: request) != nil)
        #expect(manager.memoryImage(for: ImageRequest(url)) != nil)
    }

    @Test("Of many who ask for one image at once, all get the same, decoded once", .capability("CQU-07"))
    func decodesOnce() async throws {
        let manager = manager()
        try await storeOnDisk(manager.key(for: url))
        let images = try await withThrowingTaskGroup(of: Image?.self) { group in
            for _ in 0..<50 { group.addTask { try await manager.cachedImage(for: url) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let first = try #require(images[0])
        #expect(images.allSatisfy { $0?.isIdentical(to: first) == true })
        #expect(coder.decodes.count == 1)
    }

    @Test("A decode that takes long holds up no other read of the disk", .capability("CQU-08", "D8"))
    func decodesApart() async throws {
        let queue = WorkQueue(label: "test", width: 1)
        var configuration = ImageManager.Configuration()
        configuration.processing = queue
        let manager = manager(configuration: configuration)
        try await storeOnDisk(manager.key(for: url))
        try await storeOnDisk("b")
        let isHeld = Lock(true)
        let holding = Task { try await queue.perform { _ throws(ImageError) in while isHeld.withLock({ $0 }) {} } }
        while queue.load.running == 0 { await Task.yield() }
        let slow = Task { try await manager.cachedImage(for: url) }
        while queue.load.waiting == 0 { await Task.yield() }
        #expect(await cache.entry(forKey: "b") != nil)
        isHeld.withLock { $0 = false }
        try await holding.value
        #expect(try await slow.value?.size.width == 8)
    }

    @Test("Who is cancelled is told at once; what nobody waits for is not decoded", .capability("CQU-13"))
    func cancelling() async throws {
        let queue = WorkQueue(label: "test", width: 1)
        var configuration = ImageManager.Configuration()
        configuration.processing = queue
        let manager = manager(configuration: configuration)
        try await storeOnDisk(manager.key(for: url))
        let isHeld = Lock(true)
        let holding = Task { try await queue.perform { _ throws(ImageError) in while isHeld.withLock({ $0 }) {} } }
        while queue.load.running == 0 { await Task.yield() }
        let cancelled = Task { try await manager.cachedImage(for: url) }
        while queue.load.waiting == 0 { await Task.yield() }
        cancelled.cancel()
        let error = await #expect(throws: ImageError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled, "while the queue is still held")
        isHeld.withLock { $0 = false }
        try await holding.value
        #expect(coder.decodes.isEmpty)
    }

    @Test("Bytes that are no image are an error, and are removed from the disk", .capability("3.8"))
    func brokenImage() async throws {
        let manager = manager(FailingCoder(code: .corruptImage))
        let key = manager.key(for: url)
        try await storeOnDisk(key, Data("rubbish".utf8))
        let error = await #expect(throws: ImageError.self) { try await manager.cachedImage(for: url) }
        #expect(error?.code == .corruptImage)
        #expect(await cache.contains(key) == [])
    }

    @Test(
        "An entry is kept after every error that says nothing about it",
        arguments: [
            ImageError.Code.limitExceeded, .outOfMemory, .unknownFormat, .formatNotEnabled, .decodeFailedByCoder,
        ])
    func keepsReadableEntries(_ code: ImageError.Code) async throws {
        let manager = manager(FailingCoder(code: code))
        let key = manager.key(for: url)
        try await storeOnDisk(key)
        do throws(ImageError) {
            #expect(try await manager.cachedImage(for: url) == nil)
        } catch {
            #expect(error.code == code)
        }
        #expect(await cache.contains(key) == .disk)
    }

    @Test("A failure to encode is told; the image is in memory, nothing is on disk", .capability("CST-07"))
    func encodeFailure() async throws {
        let manager = manager()
        await #expect(throws: ImageError.self) { try await manager.store(try solidImage(3, 1), for: url) }
        #expect(await cache.contains(manager.key(for: url)) == .memory)
    }

    @Test("Without bytes an image is encoded anew, in place of the bytes that are there", .capability("OLD-02"))
    func encodesAnew() async throws {
        let dots = DotCoder()
        let manager = manager(ImageCoders([dots]))
        let image = try solidImage(4, 4).with { $0.format = .dot }
        let key = manager.key(for: url)
        try await manager.store(image, data: Data("DOT 04".utf8), for: url)
        #expect(await cache.entry(forKey: key)?.data == Data("DOT 04".utf8) && dots.encoded.isEmpty)
        var request = ImageRequest(url)
        request.cache.encoding = EncodeOptions(quality: 0.3)
        try await manager.store(image, for: request)
        #expect(await cache.entry(forKey: key)?.data == Data("DOT 4".utf8))
        #expect(dots.encoded.map(\.quality) == [0.3])
    }
}
