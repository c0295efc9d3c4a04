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

    @Test("a thumbnail is made and encoded once, and then comes from disk")
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

    @Test("callers at once share the transfer, the decode, the encode, and the writes")
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

    @Test("each size, quality, and transformer has bytes of its own")
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

    @Test("a format that nothing writes is an error before the source is asked")
    func notEncodable() async throws {
        let bench = ManagerBench()
        let error = await failure(bench.manager, thumbnail(), as: .jxl)
        #expect(error?.code == .formatNotEncodable && error?.source == "test:a" && bench.loader.calls.isEmpty)
    }

    @Test("the bytes go with their source, and with bytes that replace those that they were made of")
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

    @Test("a source that is removed while it is loaded leaves nothing behind")
    func removedMeanwhile() async throws {
        let cache = LayeredImageCache(memory: MemoryCache(), disk: PlainDisk())
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

    @Test("damaged bytes on disk are discarded, and made again")
    func damaged() async throws {
        let bench = ManagerBench()
        let key = try await bench.manager.encoded(for: thumbnail(), as: .dot).key
        bench.cache.change { $0.disk[key]?.data = Data("DOT x".utf8) }
        let again = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(again.data == Data("DOT 4".utf8) && bench.cache.now.disk[key]?.data == again.data)
        #expect(bench.coder.encoded.count == 2 && bench.loader.calls.count == 1)
    }

    @Test("the request says whether the disk is asked, and whether it gets the bytes")
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

    @Test("a write that fails is told to who waits for it; the bytes are there")
    func failedWrite() async throws {
        let bench = ManagerBench()
        bench.cache.change { $0.storeError = ImageError(.cacheWriteFailed, stage: .cache, reason: "full") }
        let result = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        #expect(result.data == Data("DOT 4".utf8) && result.storeError?.code == .cacheWriteFailed)
    }

    @Test("a still image isn't taken for the animation that a request requires")
    func stillImage() async throws {
        let bench = ManagerBench()
        _ = try await bench.manager.encoded(for: thumbnail(), as: .dot)
        var request = thumbnail()
        request.requiresAnimation = true
        #expect(await failure(bench.manager, request)?.code == .notAnimated)
    }
}
