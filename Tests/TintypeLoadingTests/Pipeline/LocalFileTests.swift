import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Files that change", .timeLimited)
struct LocalFileTests {
    private let directory: TemporaryDirectory
    private let cache = DictionaryCache()
    private let half = Half()
    private let request: ImageRequest

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(Data("DOT 8".utf8), to: "a.dot")
        var request = ImageRequest(directory.url(of: "a.dot"))
        request.transformer = half
        request.cache.storesVariant = true
        request.cache.waitsForStore = true
        self.request = request
    }

    private var manager: ImageManager {
        ImageManager(cache: cache, loader: FileLoader(), coders: ImageCoders([DotCoder()]))
    }

    @Test("A thumbnail of a file is on disk if the request wants that, until the file changes", .capability("MGR-27"))
    func variants() async throws {
        #expect(try await manager.load(request).source == .network)
        #expect(Set(cache.now.disk.keys.map(\.variant.description)) == ["transform=half"], "the file isn't copied")
        try await cache.removeAll(from: .memory)
        let again = try await manager.load(request)
        #expect(again.source == .disk && again.image.size.width == 4 && half.runs == 1)

        try await cache.removeAll(from: .memory)
        try directory.write(Data("DOT 16".utf8), to: "a.dot")
        let changed = try await manager.load(request)
        #expect(changed.source == .network && changed.image.size.width == 8 && half.runs == 2)
        try await cache.removeAll(from: .memory)
        #expect(try await manager.load(request).source == .disk)

        try await cache.removeAll(from: .memory)
        try FileManager.default.removeItem(atPath: directory.path + "/a.dot")
        #expect(await manager.task(for: request).result.failure?.code == .fileUnreadable)
    }

    @Test("What was made of a file is known by its validators, whatever its key, and isn't stored without them")
    func otherKeys() async throws {
        for key in ["photo 7", "photo 8"] {
            var request = request
            request.cache.key = key
            request.loadsTargetSize = key == "photo 8"
            #expect(try await manager.load(request).image.size.width == 4)
        }
        let stored = cache.now.disk
        #expect(stored.count == 2)
        #expect(stored.values.allSatisfy { $0.validators?.entityTag?.hasPrefix(CacheValidators.filePrefix) == true })
        // The image in memory may be that of other contents.
        let memory = ImageManager(cache: DictionaryCache(), loader: FileLoader(), coders: ImageCoders([DotCoder()]))
        _ = try await memory.load(ImageRequest(request.url))
        var transformed = request
        transformed.cache.queryOriginal = .memory
        #expect(try await memory.load(transformed).source == .memory)
        #expect(await memory.cachedVariants(of: transformed).isEmpty)
    }

    @Test("Nothing of bytes that a program has, or of a data: URL, is on disk", .capability("MGR-27"))
    func otherLocalSources() async throws {
        let manager = ImageManager(cache: cache, loader: DataURLLoader(), coders: ImageCoders([DotCoder()]))
        for source in [
            ImageRequest(data: Data("DOT 8".utf8), identifier: "bytes"), try ImageRequest(string: "data:,DOT%208"),
        ] {
            var request = source
            request.transformer = half
            request.cache.storesVariant = true
            request.cache.waitsForStore = true
            #expect(try await manager.load(request).image.size.width == 4)
        }
        #expect(cache.now.disk.isEmpty)
    }

    @Test("With the policy of HTTP, a file that has changed is read again, and with the default it isn't")
    func memory() async throws {
        let manager = manager
        for policy in [CachePolicy.cacheFirst, .http] {
            let request = ImageRequest(request.url, cachePolicy: policy)
            try directory.write(Data("DOT 8".utf8), to: "a.dot")
            #expect(try await manager.load(ImageRequest(request.url, cachePolicy: .reload)).image.size.width == 8)
            try directory.write(Data("DOT 16".utf8), to: "a.dot")
            #expect(try await manager.load(request).image.size.width == (policy == .http ? 16 : 8))
        }
    }
}
