import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Refreshing cached images", .timeLimited)
struct RefreshTests {
    @Test(
        "A refresh previews what is cached and ends once, with what is new",
        .capability("OPT-03", "MGR-19", "CTX-28", "3.3"), arguments: [true, false])
    func refresh(isInMemory: Bool) async throws {
        let bench = ManagerBench(answer: nil)
        bench.cache.change { state in
            state.disk[ImageKey(source: "test:a")] = DiskCacheEntry(
                data: Data("DOT 3".utf8), created: Date(), validators: CacheValidators(entityTag: "\"1\""))
        }
        if isInMemory { _ = try await bench.manager.image(for: url) }
        var request = ImageRequest(url)
        request.cachePolicy = .revalidate
        let task = bench.manager.task(for: request)
        let events = task.events
        await bench.loader.arrival(of: 1)
        #expect(bench.loader.calls[0].request.validators?.entityTag == "\"1\"")
        var previews: [Int] = []
        var ends: [Int] = []
        for await event in events {
            switch event {
            case .progress: break
            case .preview(let image):
                previews.append(image.size.width)
                bench.loader.answer(0, with: .success(.dot(size: 9)))
            case .finished(let result): ends.append(try result.get().image.size.width)
            }
        }
        #expect(previews == [3] && ends == [9])
        #expect(bench.coder.decodes == 2, "the cached image is decoded once, and the new one")
        #expect(try await bench.manager.image(for: url).size.width == 9)
    }

    @Test(
        "A refresh that fails leaves the cached image, and the result says why", .capability("MGR-20", "3.3"),
        arguments: [ImageError.Code.connectionFailed, .badStatus])
    func failedRefresh(code: ImageError.Code) async throws {
        let bench = ManagerBench { _ in .failure(ImageError(code, stage: .load, reason: "no")) }
        bench.cache.change {
            $0.disk[ImageKey(source: "test:a")] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date())
        }
        var request = ImageRequest(url)
        request.cachePolicy = .revalidate
        let result = try await bench.manager.load(request)
        #expect(result.source == .disk)
        #expect(result.image.size.width == 3)
        #expect(bench.loader.calls.count == 1)
        guard case .stale(.failed(let error)) = result.freshness else {
            Issue.record("the image is not marked as stale")
            return
        }
        #expect(error.code == code)
    }

    @Test(
        "A refresh that brings no image leaves the cached one, and the result says why",
        .capability("MGR-20", "3.3"), arguments: [CachePolicy.revalidate, .http])
    func pageInsteadOfImage(policy: CachePolicy) async throws {
        let key = ImageKey(source: "test:a")
        func make() -> ManagerBench {
            let bench = ManagerBench { _ in .success(LoadedData(data: Data("<html>".utf8), url: url)) }
            var entry = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date())
            entry.answer = StoredResponse(
                statusCode: 200, headers: ["cache-control": "max-age=0"], request: SelectingFields([:]),
                requestTime: .distantPast, responseTime: .distantPast)
            bench.cache.change { [entry] in $0.disk[key] = entry }
            return bench
        }
        let request = ImageRequest(url, cachePolicy: policy)
        func isStale(_ freshness: Freshness) -> Bool {
            if case .stale(.failed(let error)) = freshness { error.code == .unknownFormat } else { false }
        }
        var bench = make()
        let result = try await bench.manager.load(request)
        #expect(result.image.size.width == 3 && result.source == .disk && isStale(result.freshness))
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 3".utf8))
        bench = make()
        let data = try await bench.manager.data(for: request)
        #expect(data.data == Data("DOT 3".utf8) && isStale(data.freshness))
        bench = make()
        let encoded = try await bench.manager.encoded(for: request, as: .dot)
        #expect(isStale(encoded.freshness))
    }

    @Test("A refresh that brings nothing new renews the cached image", .capability("MGR-20", "ERR-03", "OPT-03"))
    func notModified() async throws {
        let bench = ManagerBench { _ in
            .success(.notModified(url: url, validators: CacheValidators(lastModified: "yesterday")))
        }
        let old = Date(timeIntervalSince1970: 1)
        bench.cache.change {
            $0.disk[ImageKey(source: "test:a")] = DiskCacheEntry(
                data: Data("DOT 3".utf8), created: old, validators: CacheValidators(entityTag: "\"1\""))
        }
        var request = ImageRequest(url)
        request.cachePolicy = .revalidate
        request.cache.waitsForStore = true
        let result = try await bench.manager.load(request)
        guard case .notModified = result.freshness else {
            Issue.record("the image is not marked as not modified")
            return
        }
        #expect(result.source == .disk && result.image.size.width == 3 && bench.coder.decodes == 1)
        let entry = try #require(bench.cache.now.disk[ImageKey(source: "test:a")])
        #expect(entry.created > old)
        #expect(entry.validators == CacheValidators(entityTag: "\"1\"", lastModified: "yesterday"))
    }

    @Test("Bytes that equal the cached ones are not modified", .capability("ERR-03"))
    func sameBytes() async throws {
        let bench = ManagerBench { _ in .success(.dot(size: 3)) }
        bench.cache.change {
            $0.disk[ImageKey(source: "test:a")] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date())
            $0.disk[
                ImageKey(
                    source: "test:a",
                    variant: ImageVariant(DecodeOptions(thumbnailSize: PixelSize(width: 1, height: 1))))] =
                DiskCacheEntry(data: Data("DOT 1".utf8), created: Date())
        }
        var request = ImageRequest(url)
        request.cachePolicy = .revalidate
        request.cache.waitsForStore = true
        let result = try await bench.manager.load(request)
        guard case .notModified = result.freshness else {
            Issue.record("the image is not marked as not modified")
            return
        }
        #expect(bench.coder.decodes == 1 && bench.cache.now.disk.count == 2)
    }

    @Test("A refresh that brings new bytes removes every variant of the old ones", .capability("OPT-03"))
    func refreshRemovesVariants() async throws {
        let size = Lock(100)
        let bench = ManagerBench { _ in .success(.dot(size: size.withLock { $0 })) }
        var thumbnail = ImageRequest(url)
        thumbnail.thumbnailSize = PixelSize(width: 5, height: 5)
        thumbnail.cache.storesVariant = true
        thumbnail.cache.waitsForStore = true
        _ = try await bench.manager.image(for: thumbnail)
        #expect(bench.cache.now.disk.count == 2 && bench.cache.now.memory.count == 1)
        size.withLock { $0 = 50 }
        var refresh = ImageRequest(url)
        refresh.cachePolicy = .revalidate
        refresh.cache.waitsForStore = true
        let result = try await bench.manager.load(refresh)
        #expect(result.image.size.width == 50)
        guard case .updated = result.freshness else {
            Issue.record("the image is not marked as updated")
            return
        }
        let key = bench.manager.key(for: url)
        #expect(Array(bench.cache.now.disk.keys) == [key] && Array(bench.cache.now.memory.keys) == [key])
    }

    @Test(
        "A refresh whose cached bytes are damaged gets them anew, also if the source says that they are current",
        .capability("OPT-03"), arguments: [true, false])
    func damagedEntry(wantsData: Bool) async throws {
        let bench = ManagerBench(answer: nil)
        bench.loader.answer(
            0, with: .success(.notModified(url: url)))
        bench.loader.answer(1, with: .success(.dot()))
        bench.cache.change {
            $0.disk[ImageKey(source: "test:a")] = DiskCacheEntry(
                data: Data("DOT x".utf8), created: Date(), validators: CacheValidators(entityTag: "\"1\""))
        }
        var request = ImageRequest(url)
        request.cachePolicy = .revalidate
        request.cache.waitsForStore = true
        if wantsData {
            _ = try await bench.manager.data(for: request)
        } else {
            _ = try await bench.manager.load(request)
        }
        #expect(bench.loader.calls.map { $0.request.validators?.entityTag } == ["\"1\"", nil])
        #expect(bench.cache.now.disk[ImageKey(source: "test:a")]?.data == Data("DOT 8".utf8))
    }

    /// A thumbnail in memory, made of an older version.
    private func oldThumbnail(_ bench: ManagerBench) throws -> ImageRequest {
        var thumbnail = ImageRequest(url)
        thumbnail.thumbnailSize = PixelSize(width: 5, height: 5)
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 5, height: 5), cleared: true).freeze()
        bench.cache.storeInMemory(Image(pixels: pixels), forKey: bench.manager.key(for: thumbnail))
        return thumbnail
    }

    @Test(
        "A refresh that stores only a transformed image in memory still replaces all variants", .capability("OPT-03"),
        arguments: [CachePolicy.reload, .revalidate])
    func refreshIntoMemory(policy: CachePolicy) async throws {
        let bench = ManagerBench()
        let thumbnail = try oldThumbnail(bench)
        var request = ImageRequest(url, cachePolicy: policy)
        request.transformer = .closure(key: "same") { $0 }
        request.cache.store = .memory
        _ = try await bench.manager.image(for: request)
        #expect(bench.manager.memoryImage(for: thumbnail) == nil)
        #expect(bench.manager.memoryImage(for: request) != nil)
    }

    @Test("A reload replaces all variants, though another one that replaces none runs", .capability("OPT-03", "DLR-11"))
    func concurrentReload() async throws {
        let bench = ManagerBench(answer: nil)
        let thumbnail = try oldThumbnail(bench)
        var reload = ImageRequest(url)
        reload.cachePolicy = .reload
        var first = reload
        first.cache.store = []
        let firstTask = bench.manager.task(for: first)
        await bench.loader.arrival(of: 1)
        let secondTask = bench.manager.task(for: reload)
        await bench.loader.arrival(of: 2)
        for index in 0..<2 { bench.loader.answer(index, with: .success(.dot(size: 9))) }
        _ = try await (firstTask.image, secondTask.image)
        #expect(bench.manager.memoryImage(for: thumbnail) == nil)
    }

    @Test(
        "Bytes that a load stored are on disk while another one is about to replace older ones; those don't come back",
        .capability("OPT-03"))
    func storedBeforeReplacement() async throws {
        let key = ImageKey(source: "test:a")
        let decodes = Lock(0)
        let release = BlockingSignal()
        var refresh = ImageRequest(url)
        refresh.cachePolicy = .revalidate
        refresh.cache.waitsForStore = true
        let coder = DotCoder {
            let number = decodes.withLock { count in
                count += 1
                return count
            }
            // The second one decodes the new bytes.
            while number == 2, release.wait(milliseconds: 1_000) == nil {}
        }
        let bench = ManagerBench(answer: nil)
        bench.cache.change { $0.disk[key] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date()) }
        var first = ImageRequest(url)
        first.cache.query = []
        first.cache.waitsForStore = true
        let task = bench.manager.task(for: first)
        await bench.loader.arrival(of: 1)
        let second = bench.manager.copy(coders: coder).task(for: refresh)
        await bench.loader.arrival(of: 2)
        for index in 0..<2 { bench.loader.answer(index, with: .success(.dot(size: 9))) }
        _ = try await task.image
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 9".utf8))
        release.send(true)
        // The second one's bytes were asked for later.
        #expect(try await second.image.size.width == 9)
        #expect(bench.cache.now.disk[key]?.data == Data("DOT 9".utf8))
    }
}
