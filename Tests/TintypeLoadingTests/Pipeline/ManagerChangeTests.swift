import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Changes of a manager's parts", .timeLimited)
struct ManagerChangeTests {
    private struct OtherLoader: ImageLoading {
        let scheme: String
        func canLoad(_ url: URL) -> Bool { url.scheme == scheme }
        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            LoadedData(data: Data("DOT 1".utf8), url: request.url)
        }
    }

    @Test("Of loaders that many threads add at once, none is lost", .capability("MGR-43"))
    func loaders() async throws {
        let manager = ManagerBench().manager
        let before = manager.loaders.loaders.count
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    manager.loaders.add(OtherLoader(scheme: "s\(number)"))
                    manager.configuration.insignificantHeaders.insert("x-\(number)")
                }
            }
        }
        #expect(manager.loaders.loaders.count == before + 200)
        #expect(manager.configuration.insignificantHeaders.count == 200)
    }

    @Test("A change may read and change the manager itself")
    func nested() throws {
        let manager = ManagerBench().manager
        func changes(_ loaders: inout ImageLoaders) {
            manager.configuration.failureLimit = manager.loaders.loaders.count + 7
            loaders.add(OtherLoader(scheme: "other"))
        }
        let before = manager.loaders.loaders.count
        changes(&manager.loaders)
        #expect(manager.loaders.loaders.count == before + 1)
        #expect(manager.configuration.failureLimit == before + 7)
    }

    @Test("The manager's cache says what it has in each layer")
    func usage() async throws {
        let disk = PlainDisk()
        let cache = ImageCache(memory: MemoryCache(), disk: TieredDiskCache([disk, disk]))
        cache.storeInMemory(try solidImage(4, 4), forKey: ImageKey(source: "a"))
        #expect(await cache.usage(of: .memory).entries == 1)
        #expect(await cache.usage(of: .disk) == CacheUsage())
        await disk.store(DiskCacheEntry(data: Data([1]), created: Date()), forKey: "a") { true }
        #expect(await cache.usage(of: .disk).entries == 2)
        #expect(await cache.usage().entries == 3)
    }
}
