import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("What a disk cache is told, and where its files are", .timeLimited)
struct DiskCacheConfigurationTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func contents() throws -> [String] {
        let names = try #require(FileManager.default.enumerator(atPath: path)).compactMap { $0 as? String }
        return names.map { path + "/" + $0 }
    }

    @Test("The directory is marked for programs that make backups, unless that is not wanted", .capability("CCF-01"))
    func backup() async throws {
        try await DiskCache.temporary(path).put(Data("image".utf8), "a")
        let tag = path + "/CACHEDIR.TAG"
        let text = try String(contentsOfFile: tag, encoding: .utf8)
        #expect(text.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        // Somebody's own mark is left as it is.
        try (text + "# and more").write(toFile: tag, atomically: true, encoding: .utf8)
        let next = DiskCache.temporary(path)
        try await next.put(Data("image".utf8), "b")
        #expect(try String(contentsOfFile: tag, encoding: .utf8).hasSuffix("and more"))
        #expect(await next.usage().entries == 2)
        var configuration = next.configuration
        configuration.isExcludedFromBackup = false
        let plain = DiskCache(configuration)
        try await plain.put(Data("image".utf8), "c")
        #expect(!FileManager.default.fileExists(atPath: tag))
        #expect(await plain.usage().entries == 3)
    }

    @Test(
        "Bytes that were read stay what they were, whatever becomes of their file", .capability("CCF-06"),
        arguments: [20_000, 900_000])
    func readBytes(count: Int) async throws {
        let cache = DiskCache.temporary(path)
        let bytes = someBytes(count)
        try await cache.put(bytes, "a")
        let entry = try #require(await cache.entry(forKey: "a"))
        // A mapped file that is cut under its reader ends the program.
        let file = try #require(await cache.path(forKey: "a"))
        #expect(truncate(file, 0) == 0)
        #expect(entry.data == bytes)
        #expect(await cache.entry(forKey: "a") == nil, "what is cut is no entry")
    }

    @Test("All that is written is for the user alone", .capability("CCF-07"))
    func modes() async throws {
        let cache = DiskCache.temporary(path)
        try await cache.put(Data("image".utf8), "a")
        await cache.flush()
        _ = await cache.usage()
        let files = try contents()
        #expect(files.contains { $0.contains("/entries/") } && files.contains(path + "/sizes"))
        for file in files + [path] {
            let mode = try #require(
                FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
            ).intValue
            #expect(mode & 0o077 == 0, "\(file) has mode \(String(mode, radix: 8))")
        }
    }

    @Test("Images are written, read and removed by way of the file system that is put in place", .capability("CCF-13"))
    func fileSystem() async throws {
        let files = FaultyFileSystem()
        let calls = Lock<Set<String>>([])
        files.fail { operation, path in
            if path.contains("entries/") { calls.withLock { _ = $0.insert(operation) } }
            return nil
        }
        let cache = DiskCache.temporary(path, files: files)
        try await cache.put(someBytes(600_000), "a")
        #expect(calls.withLock { $0.contains("write") && !$0.contains("read") })
        #expect(await cache.entry(forKey: "a") != nil)
        #expect(calls.withLock { $0.contains("read") && !$0.contains("remove") })
        try await cache.remove("a")
        #expect(calls.withLock { $0.contains("remove") })
    }

    @Test(
        "Files are read on the queue that the cache was made with; writing does not wait for it", .capability("CCF-14"))
    func queue() async throws {
        let queue = WorkQueue(label: "reads", width: 1)
        let cache = DiskCache(.init(directory: path, minimumFreeSpace: 0), queue: queue)
        // More than is read on the caller's thread.
        try await cache.put(someBytes(600_000), "a")
        let isHeld = Lock(true)
        let holding = Task { try await queue.perform { _ throws(ImageError) in while isHeld.withLock({ $0 }) {} } }
        while queue.load.running == 0 { await Task.yield() }
        let read = Task { await cache.entry(forKey: "a") }
        while queue.load.waiting == 0 { await Task.yield() }
        try await cache.put(Data("image".utf8), "b")
        try await cache.remove("b")
        #expect(queue.load.waiting == 1)
        isHeld.withLock { $0 = false }
        try await holding.value
        #expect(await read.value?.data.count == 600_000)
    }

    @Test(
        "A configuration is a value: each cache has its own, and its limits can change while it runs",
        .capability("CCF-17"))
    func values() async throws {
        var configuration = DiskCache.Configuration(directory: path, minimumFreeSpace: 0)
        let cache = DiskCache(configuration)
        let other = DiskCache(.init(directory: directory.path + "/other", minimumFreeSpace: 0))
        configuration.maximumCount = 1
        configuration.directory = "/nowhere"
        #expect(cache.configuration.maximumCount == nil && cache.configuration.directory == path)
        cache.configuration.maximumCount = 2
        cache.configuration.directory = "/nowhere"
        #expect(cache.configuration.directory == path, "it stays")
        #expect(other.configuration.maximumCount == nil)
        for key in ["a", "b", "c"] as [ImageKey] {
            try await cache.put(Data("image".utf8), key)
            try await other.put(Data("image".utf8), key)
        }
        #expect(await cache.usage().entries == 2)
        #expect(await other.usage().entries == 3)
        let memory = MemoryCache.Configuration(capacity: .megabytes(1))
        let (one, two) = (MemoryCache(memory), MemoryCache(memory))
        one.configuration.maximumCount = 7
        #expect(memory.maximumCount == nil && two.configuration.maximumCount == nil)
    }

    @Test("An entry has a path, where its image is; what there is not has none", .capability("CPA-05"))
    func paths() async throws {
        let cache = DiskCache.temporary(path)
        #expect(await cache.path(forKey: "a") == nil)
        async let stored: Void = cache.put(Data("image one".utf8), "a")
        try await stored
        let first = try #require(await cache.path(forKey: "a"))
        #expect(first.hasPrefix(path + "/"))
        #expect(try Data(contentsOf: URL(filePath: first)).starts(with: Data("image one".utf8)))
        try await cache.put(Data("image two".utf8), "a")
        let second = try #require(await cache.path(forKey: "a"))
        #expect(try Data(contentsOf: URL(filePath: second)).starts(with: Data("image two".utf8)))
        #expect(await DiskCache.temporary(path).path(forKey: "a") == second, "for another process too")
        #expect(await cache.path(forKey: ImageKey(source: "a", variant: ImageVariant(description: "fit=1x1"))) == nil)
        try await cache.remove("a")
        #expect(await cache.path(forKey: "a") == nil)
    }

    @Test(
        "The file of an SVG has more than the document, which parsers refuse; the entry has the document",
        .capability("CPA-05"))
    func documentFile() async throws {
        let cache = DiskCache.temporary(path)
        let document = Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
        try await cache.put(document, "a")
        let file = try Data(contentsOf: URL(filePath: try #require(await cache.path(forKey: "a"))))
        #expect(file.starts(with: document) && file.count > document.count)
        #expect(await cache.entry(forKey: "a")?.data == document)
    }
}
