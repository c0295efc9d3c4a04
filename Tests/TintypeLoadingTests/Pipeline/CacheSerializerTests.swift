import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

@Suite("Bytes that a program has the disk store", .timeLimited)
struct CacheSerializerTests {
    private let bench = ManagerBench()

    @Test(
        "The serializer returns the bytes of the original and of a stored variant, once each",
        .capability("MGR-09", "CTX-27"))
    func serializer() async throws {
        let calls = Lock<[String]>([])
        let serializer: @Sendable (Image, Data?, URL) throws -> Data? = { image, data, url in
            let text = data.map { String(decoding: $0, as: UTF8.self) } ?? "none"
            calls.withLock { $0.append("\(image.size.width) \(text) \(url)") }
            return Data("DOT \(image.size.width * 2)".utf8)
        }
        var request = ImageRequest(url)
        request.transformer = .resize(width: 2)
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        bench.manager.configuration.cacheSerializer = serializer
        let result = try await bench.manager.load(request)
        #expect(result.image.size.width == 2 && result.data == Data("DOT 8".utf8) && result.storeError == nil)
        #expect(calls.withLock { $0.sorted() } == ["2 none test:a", "8 DOT 8 test:a"])
        let disk = bench.cache.now.disk
        #expect(
            disk["test:a"]?.data == Data("DOT 16".utf8),
            "the original at its full size, not one made for the transformer")
        #expect(disk[bench.manager.key(for: request)]?.data == Data("DOT 4".utf8))
    }

    @Test("Bytes that are loaded without decoding are serialized, too", .capability("MGR-09"))
    func data() async throws {
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        bench.manager.configuration.cacheSerializer = { image, data, _ in
            data.map { $0 + Data("\(image.size.width)".utf8) }
        }
        #expect(try await bench.manager.data(for: request).data == Data("DOT 8".utf8))
        #expect(bench.cache.now.disk["test:a"]?.data == Data("DOT 88".utf8))
    }

    @Test("Without bytes from the serializer, the disk stores what it would store", .capability("MGR-09"))
    func none() async throws {
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        bench.manager.configuration.cacheSerializer = { _, _, _ in nil }
        #expect(try await bench.manager.load(request).storeError == nil)
        #expect(bench.cache.now.disk["test:a"]?.data == Data("DOT 8".utf8))
    }

    @Test("A serializer that fails, or returns nothing, is an error of the write", .capability("MGR-09"))
    func failure() async throws {
        struct Trouble: Error {}
        var request = ImageRequest(url)
        request.cache.waitsForStore = true
        bench.manager.configuration.cacheSerializer = { _, _, _ in throw Trouble() }
        let error = try await bench.manager.load(request).storeError
        #expect(error?.code == .encodeFailed && error?.underlying is Trouble)
        request.cache.query = []
        bench.manager.configuration.cacheSerializer = { _, _, _ in Data() }
        #expect(try await bench.manager.load(request).storeError?.code == .encodeFailed)
        #expect(bench.cache.now.disk.isEmpty)
    }

    @Test("Bytes that aren't stored, and those that come from the disk, are not serialized", .capability("MGR-09"))
    func notCalled() async throws {
        let calls = Lock(0)
        var request = ImageRequest(url)
        bench.manager.configuration.cacheSerializer = { _, _, _ in
            calls.withLock { $0 += 1 }
            return nil
        }
        request.cache.store = .memory
        _ = try await bench.manager.image(for: request)
        bench.cache.change { $0.disk["test:a"] = DiskCacheEntry(data: Data("DOT 3".utf8), created: Date()) }
        request.cache.store = .all
        request.cache.query = .disk
        #expect(try await bench.manager.load(request).source == .disk)
        await bench.manager.flush()
        #expect(calls.withLock { $0 } == 0)
    }
}
