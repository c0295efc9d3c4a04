import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// The files that appear in the folders of a cache, as the kernel reports them.
private final class FileWatch {
    private let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))

    /// Watches the 256 folders of a cache, which it creates.
    init(_ cache: String) throws {
        for folder in 0..<256 {
            let name = String(folder, radix: 16)
            let path = cache + "/entries/" + (name.count == 1 ? "0" + name : name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            #expect(inotify_add_watch(descriptor, path, UInt32(IN_MOVED_TO | IN_CLOSE_WRITE)) >= 0)
        }
    }

    deinit { close(descriptor) }

    /// The numbers of files that were renamed to an entry, and of those that were written in its folder, since the last call.
    func counts() -> (renamed: Int, written: Int) {
        var counts = (renamed: 0, written: 0)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return counts }
            var offset = 0
            while offset < count {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                if event.mask & UInt32(IN_MOVED_TO) != 0 { counts.renamed += 1 }
                if event.mask & UInt32(IN_CLOSE_WRITE) != 0 { counts.written += 1 }
                offset += MemoryLayout<inotify_event>.size + Int(event.len)
            }
        }
    }
}

@Suite("Writes of loads that share an image", .timeLimited)
struct StoreCountTests {
    private let directory: TemporaryDirectory
    private let disk: DiskCache
    private let loader = GatedLoader()
    private let manager: ImageManager

    init() throws {
        directory = try TemporaryDirectory()
        disk = DiskCache.temporary(directory.path + "/cache")
        let cache = ImageCache(memory: MemoryCache(), disk: disk)
        manager = ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([DotCoder()]), configuration: .still)
    }

    @Test("The original and its variant are written once, however many want them", .capability("MGR-26", "MGR-27"))
    func writes() async throws {
        let url = URL(string: "test:a")!
        // The cache makes its directory before it is watched.
        try await disk.put(Data("DOT 1".utf8), "test:other")
        let watch = try FileWatch(directory.path + "/cache")
        var thumbnail = ImageRequest(url, transformer: ClosureTransformer(key: "same") { $0 })
        thumbnail.cache.storesVariant = true
        let tasks = (0..<200).map { manager.task(for: $0.isMultiple(of: 2) ? thumbnail : ImageRequest(url)) }
        await loader.arrival(of: 1)
        loader.answer(0, with: .success(.dot("test:a")))
        for task in tasks { _ = try await task.image }
        await manager.flush()
        #expect(loader.calls.count == 1)
        #expect(watch.counts() == (renamed: 2, written: 2))

        try await manager.cache.removeAll(from: .memory)
        #expect(try await manager.load(thumbnail).source == .disk)
        #expect(try await manager.load(url).source == .disk)
        await manager.flush()
        #expect(watch.counts() == (renamed: 0, written: 0), "what came from the disk isn't written again")
    }
}
