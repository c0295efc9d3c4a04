import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: the index and the journal", .timeLimited)
struct DiskCacheIndexTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func key(_ number: Int) -> ImageKey { ImageKey(source: "\(number)") }

    private func fill(_ cache: DiskCache, _ numbers: Range<Int>) async throws {
        for number in numbers { try await cache.put(someBytes(20, seed: UInt64(number)), key(number)) }
    }

    /// Checks that a cache works, and that its index agrees with its files.
    private func expectWorking(_ cache: DiskCache, entries: Int, _ comment: Comment? = nil) async throws {
        try await cache.put(someBytes(9), "probe")
        #expect(await cache.entry(forKey: "probe") != nil, comment)
        #expect(try await cache.verify().damaged.isEmpty, comment)
        let usage = await cache.usage()
        #expect(usage.entries == entries + 1, comment)
        #expect(try DiskCacheTests.payloadFiles(path).count == entries + 1, comment)
        #expect(await cache.entries().reduce(0) { $0 + $1.fileBytes } == usage.bytes, comment)
        #expect(try await cache.remove("probe"), comment)
        try await cache.removeExpired()
    }

    private func copy(_ name: String, to copy: String) throws {
        try? FileManager.default.removeItem(atPath: "\(path)/\(copy)")
        try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(path)/\(copy)")
    }

    @Test("an index that another process is just making is never taken for another program's")
    func indexBeingMade() async throws {
        let path = directory.path
        for round in 0..<100 {
            let file = "\(path)/\(round).sqlite"
            #expect(FileManager.default.createFile(atPath: file, contents: nil))
            let maker = Task.detached {
                try DiskIndex.createTables(in: Database(path: file, mode: .readWrite, busyTimeout: 60_000))
            }
            let database = try Database(path: file, mode: .readWrite, busyTimeout: 60_000)
            var isMade = false
            while !isMade {
                switch try DiskIndex.identify(database) {
                // Not without a pause: the maker may need this thread.
                case .new: await Task.yield()
                case .ours: isMade = true
                case .newer, .foreign:
                    Issue.record("taken for another one in round \(round)")
                    isMade = true
                }
            }
            try await maker.value
        }
    }

    @Test("an index of an older version is made again from the files")
    func olderVersion() async throws {
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<3)
        await cache.close()
        try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 0).execute("PRAGMA user_version = 2")
        cache = DiskCache.temporary(path)
        #expect(await cache.entries().count == 3)
    }

    @Test("an old index beside new files, and a new index beside old files, heal", arguments: [true, false])
    func oldIndex(closesFirst: Bool) async throws {
        var cache = DiskCache.temporary(path)
        try await fill(cache, 0..<100)
        await cache.close()
        try copy("index.sqlite", to: "old")
        try await fill(cache, 100..<101)
        if closesFirst {
            await cache.close()
        } else {
            await cache.flush()
        }
        // A loss of power can do so.
        try FileManager.default.removeItem(atPath: path + "/index.sqlite")
        try FileManager.default.moveItem(atPath: path + "/old", toPath: path + "/index.sqlite")
        if closesFirst { cache = DiskCache.temporary(path) }
        try await fill(cache, 101..<701)
        try await expectWorking(cache, entries: 701)
        await cache.close()
        for number in 0..<50 { try FileManager.default.removeItem(atPath: "\(path)/\(EntryName(key(number)).path)") }
        cache = DiskCache.temporary(path, maximumCount: 300)
        try await fill(cache, 701..<800)
        #expect(await cache.usage().entries <= 300)
        try await cache.removeAll()
        try await expectWorking(cache, entries: 0)
    }

    @Test(
        "removing or truncating the index or the journal of a running program loses no entry",
        arguments: ["index.sqlite", "journal"], [true, false])
    func removedFiles(name: String, isTruncated: Bool) async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<10)
        await cache.flush()
        try await fill(cache, 10..<20)
        let files =
            name == "journal"
            ? try FileManager.default.contentsOfDirectory(atPath: path + "/journal").map { "\(path)/journal/\($0)" }
            : ["\(path)/\(name)"]
        for file in files {
            if isTruncated { #expect(truncate(file, 0) == 0) } else { try FileManager.default.removeItem(atPath: file) }
        }
        try await fill(cache, 20..<30)
        await cache.flush()
        for number in 0..<30 {
            #expect(await cache.entry(forKey: key(number))?.data == someBytes(20, seed: UInt64(number)))
        }
        #expect(await cache.usage().entries == 30)
        try await expectWorking(cache, entries: 30)
    }

    @Test("entries whose rows are wrong or missing are found again after a loss of power")
    func powerLoss() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<30)
        await cache.flush()
        await cache.close()
        do {
            let database = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
            try database.execute(
                """
                DELETE FROM entries WHERE id IN (SELECT id FROM entries LIMIT 10);
                UPDATE state SET entries = 20, bytes = 81920, boot = 'another', closed = 0
                """)
        }
        for number in 25..<30 { try FileManager.default.removeItem(atPath: "\(path)/\(EntryName(key(number)).path)") }
        let second = DiskCache.temporary(path)
        #expect(await second.usage() == CacheUsage(entries: 25, bytes: 25 * 4_096))
        try await expectWorking(second, entries: 25)
    }

    @Test(
        "numbers in the index that can't be right end no program, lose no entry, and are mended",
        arguments: [
            "state SET next_folder = -1", "state SET next_folder = 9e18", "state SET sweep_folder = -7",
            "state SET entries = 9223372036854775807", "state SET bytes = 9223372036854775807",
            "state SET bytes = 1e300", "state SET bytes = -100000000, entries = -5", "state SET bytes = 5, entries = 1",
            "state SET bytes = 1000000000000, entries = 5000000", "entries SET size = -9223372036854775808",
            "entries SET size = 9223372036854775807", "entries SET accessed = 9223372036854775807, lifetime = 1",
            "entries SET id = 9223372036854775807 WHERE rowid = (SELECT max(rowid) FROM entries)",
        ])
    func damagedNumbers(update: String) async throws {
        var cache = DiskCache.temporary(path, capacity: .megabytes(1), maximumCount: 100)
        try await fill(cache, 0..<30)
        await cache.close()
        do {
            let database = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
            try database.execute("UPDATE \(update)")
        }
        cache = DiskCache.temporary(path, capacity: .megabytes(1), maximumCount: 100)
        try await fill(cache, 30..<32)
        await cache.flush()
        try await cache.remove(key(31))
        _ = try await cache.verify()
        #expect(await cache.usage() == CacheUsage(entries: 31, bytes: 31 * 4_096))
        for number in 0..<31 { #expect(await cache.contains(key(number))) }
        try await fill(cache, 40..<140)
        await cache.flush()
        #expect(try DiskCacheTests.payloadFiles(path).count <= 100)
    }

    @Test("flipped bits anywhere in the index lose no entry")
    func flippedBits() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<40)
        await cache.close()
        try copy("index.sqlite", to: "intact")
        let intact = try Data(contentsOf: URL(fileURLWithPath: path + "/intact"))
        var generator = SeededRandom(seed: 11)
        for round in 0..<24 {
            var data = intact
            for _ in 0..<1 + round % 8 {
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
                // The version of a newer Tintype, or another program's mark, would be believed.
                let offset = Int.random(in: 100..<data.count, using: &generator)
                data[offset] ^= bit
            }
            try data.write(to: URL(fileURLWithPath: path + "/index.sqlite"))
            let cache = DiskCache.temporary(path)
            for number in 0..<40 {
                #expect(
                    await cache.entry(forKey: key(number))?.data == someBytes(20, seed: UInt64(number)),
                    "round \(round)")
            }
            try await cache.put(someBytes(9), "probe")
            #expect(try await cache.verify().damaged.isEmpty)
            try await cache.remove("probe")
            await cache.close()
        }
    }

    @Test("while another process holds the index, images are stored, found, listed, and removed; later all is indexed")
    func heldIndex() async throws {
        let cache = DiskCache.temporary(path, maximumCount: 60)
        try await fill(cache, 0..<50)
        await cache.flush()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try other.execute("BEGIN EXCLUSIVE")
        try await fill(cache, 50..<100)
        #expect(await cache.entry(forKey: key(99)) != nil)
        #expect(await cache.variants(ofSource: "70") == [.original])
        #expect(await cache.contains(key(80)))
        #expect(try await cache.remove(key(99)))
        #expect(await cache.entry(forKey: key(99)) == nil)
        await cache.flush()
        let opened = DiskCache.temporary(path)
        #expect(await opened.entry(forKey: key(98)) != nil)
        try await opened.put(someBytes(5), "opened")
        await opened.close()
        try other.execute("ROLLBACK")
        #expect(await cache.usage().entries <= 60)
        #expect(await cache.contains("opened"))
        try await expectWorking(cache, entries: await cache.usage().entries)
    }

    @Test("while another process holds the index for long, 64 MB wait; what comes then is dropped and counted")
    func droppedStores() async throws {
        let cache = DiskCache.temporary(path, capacity: .gigabytes(10))
        try await fill(cache, 0..<2)
        await cache.flush()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try other.execute("BEGIN EXCLUSIVE")
        try await fill(cache, 2..<3)
        await cache.flush()
        let large = Data(count: 9 << 20)
        for number in 10..<18 { try await cache.put(large, key(number)) }
        #expect(cache.statistics.droppedStores == 0)
        for number in [1, 20] { try await cache.put(someBytes(9), key(number)) }
        #expect(cache.statistics.droppedStores == 2)
        #expect(await cache.entry(forKey: key(20)) == nil)
        #expect(await cache.entry(forKey: key(1)) == nil, "what it would have replaced is out of date")
        #expect(await cache.entry(forKey: key(17)) != nil)
        try other.execute("ROLLBACK")
        await cache.flush()
        try await cache.put(someBytes(9), key(20))
        #expect(await cache.entry(forKey: key(20)) != nil)
        #expect(await cache.usage().entries == 11)
        #expect(cache.statistics.droppedStores == 2)
    }

    @Test("the index is written after a while without a flush, and again until another process lets it")
    func delayedBatch() async throws {
        let cache = DiskCache.temporary(path, batchDelay: .milliseconds(1))
        func waitForIndex() async { while !cache.store.pending.isEmpty { await Task.yield() } }
        try await fill(cache, 0..<3)
        await waitForIndex()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        #expect(try other.integer("SELECT count(*) FROM entries") == 3)
        try other.execute("BEGIN EXCLUSIVE")
        try await fill(cache, 3..<5)
        try other.execute("ROLLBACK")
        await waitForIndex()
        #expect(try other.integer("SELECT count(*) FROM entries") == 5)
    }

    /// Fills a cache with five entries, and begins a flush that waits when it looks at the first file.
    private func flushThatWaits(
        _ cache: DiskCache, _ faulty: FaultyFileSystem
    ) async throws -> (flush: Task<Void, Never>, finish: () -> Void) {
        let (isLooking, gate) = (Watched(false), ThreadGate())
        faulty.fail { operation, path in
            if operation == "look at", path.utf8.count > EntryName.length {
                isLooking.update { $0 = true }
                gate.wait()
            }
            return nil
        }
        try await fill(cache, 0..<5)
        let flush = Task { await cache.flush() }
        try await isLooking.wait { $0 }
        return (
            flush,
            {
                faulty.fail { _, _ in nil }
                gate.open()
            }
        )
    }

    @Test("the usage never leaves out what a batch has taken and not written yet")
    func usageDuringBatch() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        let (flush, finish) = try await flushThatWaits(cache, faulty)
        #expect(await cache.approximateUsage().entries == 5)
        finish()
        await flush.value
        #expect(await cache.approximateUsage().entries == 5)
    }

    @Test("a slow disk delays only the index: stores and reads go on")
    func slowLook() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        let (flush, finish) = try await flushThatWaits(cache, faulty)
        try await fill(cache, 5..<10)
        #expect(await cache.entry(forKey: key(9)) != nil)
        #expect(await cache.entry(forKey: key(77)) == nil)
        #expect(await cache.variants(ofSource: "3") == [.original])
        finish()
        await flush.value
        #expect(await cache.usage().entries == 10)
    }

    @Test("a cache is cleared though another process holds the index")
    func clearingHeldIndex() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<50)
        await cache.flush()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try other.execute("BEGIN EXCLUSIVE")
        try await cache.removeAll()
        #expect(await cache.entry(forKey: key(1)) == nil)
        #expect(try DiskCacheTests.payloadFiles(path).isEmpty)
        try other.execute("ROLLBACK")
        try await expectWorking(cache, entries: 0)
    }

    @Test("without free descriptors no entry is taken for missing", arguments: ["look at", "read"])
    func noDescriptors(operation: String) async throws {
        let faulty = FaultyFileSystem()
        do {
            let writer = DiskCache.temporary(path)
            try await fill(writer, 0..<50)
        }
        try await waitForRelease(ofCacheAt: path)
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 50..<60)
        faulty.fail { made, path in made == operation && path.hasPrefix("entries/") ? EMFILE : nil }
        await cache.flush()
        faulty.fail { _, _ in nil }
        #expect(await cache.usage().entries == 60)
    }

    @Test("a folder that can't be read is not an empty one")
    func unreadableFolder() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, files: faulty)
        try await fill(cache, 0..<20)
        await cache.flush()
        faulty.fail { operation, path in operation == "list" && path.hasPrefix("entries/") ? EACCES : nil }
        for _ in 0..<64 { try await cache.removeExpired() }
        _ = try await cache.verify()
        faulty.fail { _, _ in nil }
        #expect(await cache.usage().entries == 20)
    }

    @Test("while another process holds the index, clearing waits for it once, and not where stores would wait, too")
    func clearingWaits() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<10)
        await cache.flush()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try other.execute("BEGIN EXCLUSIVE")
        try await fill(cache, 10..<11)
        await cache.flush()
        #expect(cache.store.keeper.failures == 1)
        try await cache.removeAll()
        #expect(cache.store.keeper.failures == 2)
        #expect(await cache.entry(forKey: key(3)) == nil)
        try other.execute("ROLLBACK")
        try await fill(cache, 20..<23)
        #expect(await cache.usage().entries == 3)
    }

    @Test("the first store that is dropped after the index was free again writes it, so that the next ones are kept")
    func endOfDroppedStores() async throws {
        let cache = DiskCache.temporary(path, capacity: .gigabytes(10))
        try await fill(cache, 0..<2)
        await cache.flush()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try other.execute("BEGIN EXCLUSIVE")
        try await fill(cache, 2..<3)
        await cache.flush()
        let large = Data(count: 9 << 20)
        for number in 10..<18 { try await cache.put(large, key(number)) }
        try await fill(cache, 20..<21)
        #expect(cache.statistics.droppedStores == 1)
        try other.execute("ROLLBACK")
        // Without a flush, and with a timer that doesn't fire.
        while await cache.entry(forKey: key(21)) == nil { try await fill(cache, 21..<22) }
        #expect(await cache.usage().entries == 12)
    }
}
