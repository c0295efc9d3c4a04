import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Images in a format of the caller's choice", .timeLimited)
struct EncodedLoadTests {
    private func thumbnail(_ side: Int = 4) -> ImageRequest {
        var request = ImageRequest(url, thumbnailSize: PixelSize(width: side, height: side))
        request.cache.waitsForStore = true
        return request
    }

    private func failure(
        _ manager: ImageManager, _ request: ImageRequest, as format: ImageFormat = .dot
    ) async -> ImageError? {
        do throws(ImageError) {
            _ = try await manager.encoded(for: request, as: format)
            return nil
        } catch {
            return error
        }
    }

    @Test("A thumbnail is made and encoded once, and then comes from disk")
    func storedOnce() async throws {
        let bench = ManagerBench()
        let cold = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(cold.data == Data("DOT 4".utf8) && cold.info.size.width == 4 && cold.source == .network)
        #expect(cold.storeError == nil && cold.metrics.encode.total > .zero && cold.key.source == "test:a")
        // The original, and the thumbnail.
        #expect(bench.cache.now.disk.count == 2 && bench.cache.now.disk[cold.key]?.data == cold.data)
        #expect(bench.cache.now.memory.count == 1)
        let other = ImageManager(cache: bench.cache, loader: bench.loader, coders: ImageCoders([bench.coder]))
        for manager in [bench.manager, other] {
            let warm = try await manager.encoded(for: thumbnail(), as: .dot)
            #expect(warm.data == cold.data && warm.source == .disk && warm.key == cold.key && warm.info == cold.info)
        }
        #expect(bench.coder.decodes == 1 && bench.coder.encoded.count == 1 && bench.loader.calls.count == 1)
        #expect(bench.cache.now.diskStores == 2)
    }

    @Test("Callers at once share the transfer, the decode, the encode, and the writes")
    func shared() async throws {
        let bench = ManagerBench(answer: nil)
        let callers = (0..<20).map { _ in Task { try await bench.manager.encoded(for: thumbnail(), as: .dot) } }
        let image = Task { try await bench.manager.image(for: thumbnail()) }
        while bench.manager.waiting.data < 20 || bench.manager.waiting.images < 2 { await Task.yield() }
        callers[3].cancel()
        await #expect(throws: ImageError.self) { try await callers[3].value }
        bench.loader.answer(0, with: .success(.dot()))
        for (index, caller) in callers.enumerated() where index != 3 {
            #expect(try await caller.value.data == Data("DOT 4".utf8))
        }
        #expect(try await image.value.size.width == 4)
        #expect(bench.loader.calls.count == 1 && bench.coder.decodes == 1 && bench.coder.encoded.count == 1)
        #expect(bench.cache.now.diskStores == 2)
    }

    @Test("Each size, quality, and transformer has bytes of its own")
    func keys() async throws {
        let bench = ManagerBench()
        var worse = EncodeOptions()
        worse.quality = 0.3
        let first = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        let second = try await bench.manager.encoded(for: thumbnail(), as: .dot, options: worse)
        let third = try await bench.manager.encoded(for: thumbnail(5), as: .dot)
        let whole = try await bench.manager.encoded(for: ImageRequest(url), as: .dot)
        #expect(Set([first.key, second.key, third.key, whole.key]).count == 4)
        #expect(whole.key != bench.manager.key(for: url) && whole.data == Data("DOT 8".utf8))
        #expect(bench.coder.encoded.map(\.quality) == [0.85, 0.3, 0.85, 0.85] && bench.loader.calls.count == 1)
        // None of them serves as the original of a smaller thumbnail.
        let small = ImageVariant(thumbnail(2).decode)
        #expect(![first, second, third].contains { small.canBeMade(of: $0.key.variant) })
    }

    @Test("A format that nothing writes is an error before the source is asked")
    func notEncodable() async throws {
        let bench = ManagerBench()
        let error = await failure(bench.manager, thumbnail(), as: .jxl)
        #expect(error?.code == .formatNotEncodable && error?.source == "test:a" && bench.loader.calls.isEmpty)
    }

    @Test("The bytes go with their source, and with bytes that replace those that they were made of")
    func replaced() async throws {
        let size = Lock(8)
        let bench = ManagerBench { .success(.dot($0.absoluteString, size: size.withLock { $0 })) }
        let old = try await bench.manager.encoded(for: ImageRequest(url), as: .dot)
        size.withLock { $0 = 9 }
        var refresh = ImageRequest(url, cachePolicy: .revalidate)
        refresh.cache.waitsForStore = true
        _ = try await bench.manager.image(for: refresh)
        #expect(bench.cache.now.disk[old.key] == nil)
        let new = try await bench.manager.encoded(for: thumbnail(100), as: .dot)
        #expect(new.data == Data("DOT 9".utf8) && bench.loader.calls.count == 2)
        try await bench.manager.removeAll(of: url)
        #expect(bench.cache.now.disk.isEmpty)
    }

    @Test("A source that is removed while it is loaded leaves nothing behind")
    func removedMeanwhile() async throws {
        let cache = ImageCache(memory: MemoryCache(), disk: PlainDisk())
        let loader = GatedLoader()
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        let load = Task { try await manager.encoded(for: thumbnail(), as: .dot) }
        await loader.arrival(of: 1)
        try await manager.removeAll(of: url)
        loader.answer(0, with: .success(.dot()))
        let result = try await load.value
        #expect(result.data == Data("DOT 4".utf8))
        await manager.flush()
        #expect(await cache.contains(result.key) == [])
        #expect(await manager.cachedLayers(for: url) == [])
    }

    @Test("Damaged bytes on disk are discarded, and made again")
    func damaged() async throws {
        let bench = ManagerBench()
        let key = try await bench.manager.encoded(for: thumbnail(), as: .dot).key
        bench.cache.change { $0.disk[key]?.data = Data("DOT x".utf8) }
        let again = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(again.data == Data("DOT 4".utf8) && bench.cache.now.disk[key]?.data == again.data)
        #expect(bench.coder.encoded.count == 2 && bench.loader.calls.count == 1)
    }

    @Test("The request says whether the disk is asked, and whether it gets the bytes")
    func layers() async throws {
        let bench = ManagerBench()
        var request = thumbnail()
        request.cache.store = []
        _ = try await bench.manager.encoded(for: request, as: .dot)
        #expect(bench.cache.now.disk.isEmpty && bench.cache.now.memory.isEmpty)
        let key = try await bench.manager.encoded(for: thumbnail(), as: .dot).key
        // The original is lost; the bytes are there all the same.
        bench.cache.change { state in state.disk = state.disk.filter { $0.key == key } }
        request.cachePolicy = .cacheOnly
        #expect(try await bench.manager.encoded(for: request, as: .dot).source == .disk)
        request.cachePolicy = .cacheFirst
        request.cache.query = []
        #expect(try await bench.manager.encoded(for: request, as: .dot).source == .network)
        let other = ImageRequest(try #require(URL(string: "test:b")), cachePolicy: .cacheOnly)
        #expect(await failure(bench.manager, other)?.code == .notCached)
    }

    @Test("A write that fails is told to who waits for it; the bytes are there")
    func failedWrite() async throws {
        let bench = ManagerBench()
        bench.cache.change { $0.storeError = ImageError(.cacheWriteFailed, stage: .cache, reason: "full") }
        let result = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(result.data == Data("DOT 4".utf8) && result.storeError?.code == .cacheWriteFailed)
    }

    @Test("A still image isn't taken for the animation that a request requires")
    func stillImage() async throws {
        let bench = ManagerBench()
        _ = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        var request = thumbnail()
        request.requiresAnimation = true
        #expect(await failure(bench.manager, request)?.code == .notAnimated)
    }

    /// A manager whose server sends an image once, and then says that it is current.
    private func confirmingBench(_ control: String, fails: Bool = false, now: Lock<Date>) -> ManagerBench {
        let calls = Lock(0)
        var configuration = ImageManager.Configuration.still
        configuration.date = { now.withLock { $0 } }
        configuration.cachePolicy = .http
        return ManagerBench(configuration: configuration) { url in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            if !isFirst, fails {
                return .failure(ImageError(.badStatus, stage: .load, reason: "HTTP 503", statusCode: 503))
            }
            var answer = isFirst ? LoadedData.dot() : .notModified(url: url, statusCode: 304)
            answer.headers = ["Cache-Control": control, "ETag": "\"1\""]
            answer.validators = CacheValidators(entityTag: "\"1\"")
            if isFirst { answer.statusCode = 200 }
            return .success(answer)
        }
    }

    @Test("Bytes that their server confirms are renewed, and not encoded again", arguments: [true, false])
    func renewed(inBackground: Bool) async throws {
        let now = Lock(Date(timeIntervalSince1970: 1_000_000))
        let bench = confirmingBench(
            "max-age=10" + (inBackground ? ", stale-while-revalidate=1000" : ""), now: now)
        let first = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        for round in 1...3 {
            now.withLock { $0 += 20 }
            let stale = try await bench.manager.encoded(for: thumbnail(), as: .dot)
            await bench.manager.flush()
            if inBackground { #expect(stale.freshness.isStale) }
            let fresh = try await bench.manager.encoded(for: thumbnail(), as: .dot)
            #expect(!fresh.freshness.isStale && stale.data == first.data && fresh.data == first.data)
            #expect(bench.loader.calls.count == 1 + round)
        }
        #expect(bench.coder.encoded.count == 1)
    }

    @Test("A source that confirms its newer version renews no bytes of an older one")
    func otherVersion() async throws {
        let (now, calls) = (Lock(Date(timeIntervalSince1970: 1_000_000)), Lock(0))
        var configuration = ImageManager.Configuration.still
        configuration.date = { now.withLock { $0 } }
        configuration.cachePolicy = .http
        let bench = ManagerBench(configuration: configuration) { url in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            var answer = call < 3 ? LoadedData.dot(size: 7 + call) : .notModified(url: url, statusCode: 304)
            answer.validators = CacheValidators(entityTag: "\"\(min(call, 2))\"")
            answer.headers = ["Cache-Control": "max-age=10"]
            if call < 3 { answer.statusCode = 200 }
            return .success(answer)
        }
        let old = try await bench.manager.encoded(for: thumbnail(100), as: .dot)
        bench.cache.change { state in
            state.memory = [:]
            state.disk = state.disk.filter { $0.key == old.key }
        }
        let new = try await bench.manager.encoded(for: thumbnail(200), as: .dot)
        #expect(old.data == Data("DOT 8".utf8) && new.data == Data("DOT 9".utf8))
        now.withLock { $0 += 20 }
        #expect(try await bench.manager.encoded(for: thumbnail(100), as: .dot).data == new.data)
        #expect(bench.loader.calls.count == 3)
    }

    @Test("Bytes on disk are the result where their server fails and nothing forbids it")
    func serverFails() async throws {
        let now = Lock(Date(timeIntervalSince1970: 1_000_000))
        let bench = confirmingBench("max-age=10", fails: true, now: now)
        let key = try await bench.manager.encoded(for: thumbnail(), as: .dot).key
        bench.cache.change { state in
            state.memory = [:]
            state.disk = state.disk.filter { $0.key == key }
        }
        now.withLock { $0 += 20 }
        let stale = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(stale.freshness.isStale && stale.source == .disk && bench.loader.calls.count == 2)
    }

    @Test("Who comes while the image is encoded gets stored what he wishes")
    func lateCaller() async throws {
        let gate = ThreadGate()
        let bench = ManagerBench(coder: DotCoder(onEncode: { gate.wait() }))
        var request = thumbnail()
        request.cache.store = []
        let first = Task { [request] in try await bench.manager.encoded(for: request, as: .dot) }
        while bench.coder.encoded.isEmpty { await Task.yield() }
        let second = Task { try await bench.manager.encoded(for: thumbnail(), as: .dot) }
        while bench.manager.waiting.data < 2 { await Task.yield() }
        gate.open()
        let (one, other) = (try await first.value, try await second.value)
        #expect(one.data == other.data && other.storeError == nil)
        #expect(bench.cache.now.disk.count == 2 && bench.cache.now.memory.count == 1)
        #expect(bench.coder.encoded.count == 1 && bench.loader.calls.count == 1)
    }

    @Test("Memory gets the image before its transformer, and no other, if the request wants that")
    func originalInMemory() async throws {
        let bench = ManagerBench()
        var request = ImageRequest(url, transformer: .resize(width: 3))
        request.cache.store = .disk
        request.cache.storeOriginal = .all
        request.cache.waitsForStore = true
        #expect(try await bench.manager.encoded(for: request, as: .dot).data == Data("DOT 3".utf8))
        #expect(Array(bench.cache.now.memory.keys) == [bench.manager.key(for: url)])
    }

    @Test("Bytes go with the image of which they were made, and when another image takes its place")
    func removedWithImage() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ImageCache(disk: .init(directory: folder.path + "/cache"))
        let manager = ImageManager(
            cache: cache, loader: GatedLoader { .success(.dot($0.absoluteString)) }, coders: ImageCoders([DotCoder()]))
        let key = try await manager.encoded(for: thumbnail(), as: .dot).key
        let other = try await manager.encoded(for: thumbnail(5), as: .dot).key
        #expect(await cache.contains(key) == .disk)
        try await manager.removeCachedImage(for: thumbnail())
        #expect(await cache.contains(key) == [])
        #expect(await cache.contains(other) == .disk)
        let image = Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 2, height: 2), cleared: true).freeze())
        try await manager.store(image, for: thumbnail(5))
        #expect(try await manager.encoded(for: thumbnail(5), as: .dot).data == Data("DOT 2".utf8))
    }

    @Test("A canceled task removes the bytes with their image, and stores another image in memory and on disk")
    func canceledRemovalAndStore() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ImageCache(disk: .init(directory: folder.path + "/cache"))
        let manager = ImageManager(
            cache: cache, loader: GatedLoader { .success(.dot($0.absoluteString)) }, coders: ImageCoders([DotCoder()]))
        let request = thumbnail()
        let key = try await manager.encoded(for: request, as: .dot).key
        try await inCanceledTask { try await manager.removeCachedImage(for: request) }
        #expect(await cache.contains(key) == [])
        let image = try solidImage(3, 3).with { $0.format = .dot }
        try await inCanceledTask { try await manager.store(image, for: ImageRequest(url)) }
        #expect(await cache.disk?.entry(forKey: manager.key(for: url))?.data == Data("DOT 3".utf8))
    }

    @Test("An image that takes the place of another is on disk, also if the other was encoded")
    func storedAfterEncoded() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ImageCache(disk: .init(directory: folder.path + "/cache"))
        let loader = GatedLoader { .success(.dot($0.absoluteString)) }
        let manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([DotCoder()]))
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        _ = try await manager.encoded(for: request, as: .dot)
        try await manager.store(solidImage(3, 3), data: Data("DOT 3".utf8), for: request)
        #expect(await cache.disk?.entry(forKey: manager.key(for: url))?.data == Data("DOT 3".utf8))
        #expect(try await manager.encoded(for: request, as: .dot).data == Data("DOT 3".utf8))
    }

    @Test("Beside a serializer, which decides what the disk stores, no bytes are stored")
    func serializer() async throws {
        var configuration = ImageManager.Configuration.still
        configuration.cacheSerializer = { _, data, _ in data.map { Data($0.reversed()) } }
        let bench = ManagerBench(configuration: configuration)
        let result = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(Array(bench.cache.now.disk.keys) == [result.key.original])
    }

    @Test("No format and no option is taken for another")
    func formats() {
        let image = ImageVariant(DecodeOptions(thumbnailSize: PixelSize(width: 4, height: 4)))
        let lossless = EncodeOptions(lossless: true)
        let variants = [
            image.encoded(as: .webp, lossless),
            image.encoded(as: ImageFormat(rawValue: "webp;lossless"), EncodeOptions()),
            image.encoded(as: .webp, EncodeOptions()), ImageVariant.original.encoded(as: .webp, EncodeOptions()),
        ]
        #expect(Set(variants).count == variants.count && variants.filter { $0.isEncoded(of: image) }.count == 3)
        #expect(variants.filter { $0.isEncoded(of: .original) } == [variants[3]])
    }
}

extension Freshness {
    fileprivate var isStale: Bool { if case .stale = self { true } else { false } }
}
