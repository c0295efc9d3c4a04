import CXXHash
import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

/// Directories as the versions 1 and 2 of the index left them.
@Suite("Disk cache: older versions", .timeLimited)
struct DiskCacheMigrationTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func checksum(_ data: Data) -> UInt64 { data.withUnsafeBytes { tintype_xxh3($0.baseAddress, $0.count) } }

    /// A file of version 1 or 2.
    private func oldFile(_ data: Data, key: ImageKey, version: UInt32, codec: String? = nil) -> Data {
        var bytes = Data()
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        func append(_ text: String?) {
            append(text.map { UInt32($0.utf8.count) } ?? .max)
            bytes.append(contentsOf: (text ?? "").utf8)
        }
        append(key.source)
        append(key.variant.description)
        append(Int64(1_690_000_000_000_000))
        append(Int64.max)
        append("image/png")
        append("\"tag\"")
        append(nil as String?)
        append(nil as String?)
        if version > 1 {
            append(Int64.max)
            append(codec)
        }
        let description = bytes
        bytes = data + description
        append(checksum(data))
        append(checksum(description))
        append(UInt64(data.count))
        append(UInt32(description.count))
        append(version)
        return bytes + Data("TINTYPE\n".utf8)
    }

    /// The hash that old indexes found an entry by.
    private func hash(_ key: ImageKey) -> Int64 {
        func hash(_ text: String) -> UInt64 { checksum(Data(text.utf8)) }
        return Int64(bitPattern: hash(key.source) & ~0xFF_FFFF | hash(key.variant.description) >> 40)
    }

    private func place(_ id: Int64) -> String {
        let digits = String(id, radix: 16)
        let name = String(repeating: "0", count: 16 - digits.count) + digits
        return "\(path)/data/\(name.suffix(2))/\(name)"
    }

    private static func tables(_ version: UInt32) -> String {
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, key INTEGER NOT NULL, source TEXT NOT NULL, variant TEXT NOT NULL,
            payload_size INTEGER NOT NULL, file_size INTEGER NOT NULL, checksum INTEGER NOT NULL,
            created INTEGER NOT NULL, accessed INTEGER NOT NULL, expires INTEGER, mime_type TEXT, entity_tag TEXT,
            last_modified TEXT, extended_data BLOB, \(version == 1 ? "cost INTEGER NOT NULL DEFAULT 0" : "lifetime INTEGER, transform TEXT")
        );
        CREATE INDEX entries_key ON entries (key);
        CREATE INDEX entries_accessed ON entries (accessed);
        CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL;
        CREATE TABLE state (
            entries INTEGER NOT NULL, bytes INTEGER NOT NULL, rebuild_shard INTEGER NOT NULL,
            orphan_shard INTEGER NOT NULL
        );
        """
    }

    /// Makes a directory of an older version.
    /// - Parameters:
    ///   - tagged: says which entries have names that tell a part of the key's hash, as all had but the first.
    ///   - rows: says which entries have a row in the index. Others were about to get one.
    private func makeOld(
        _ count: Int, version: UInt32 = 2, tagged: (Int) -> Bool = { _ in true }, rows: (Int) -> Bool = { _ in true }
    ) throws {
        try FileManager.default.createDirectory(atPath: path + "/data", withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(FileManager.default.createFile(atPath: path + "/index.sqlite", contents: nil))
        let database = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try database.execute("PRAGMA journal_mode = WAL;" + Self.tables(version))
        for index in 0..<count {
            let key = ImageKey(source: "\(index)")
            var id = (1_690_000_000_000 + Int64(index)) << 20 | LegacyLayout.tag(of: key)
            if !tagged(index) { id ^= 0x155 }
            let data = someBytes(50, seed: UInt64(index))
            let file = oldFile(data, key: key, version: version)
            let place = place(id)
            try FileManager.default.createDirectory(
                atPath: String(place.dropLast(17)), withIntermediateDirectories: true)
            try file.write(to: URL(fileURLWithPath: place))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_690_000_000)], ofItemAtPath: place)
            guard rows(index) else { continue }
            try database.execute(
                """
                INSERT INTO entries (id, key, source, variant, payload_size, file_size, checksum, created, accessed, mime_type)
                VALUES (\(id), \(hash(key)), '\(index)', '', 50, \(file.count),
                    \(Int64(bitPattern: checksum(data))), 1690000000000000, \(1_690_000_500_000_000 + index),
                    'image/png')
                """)
        }
        try database.execute(
            """
            INSERT INTO state VALUES (\(count), 0, 256, 0);
            PRAGMA application_id = \(DiskIndex.applicationID); PRAGMA user_version = \(version);
            """)
        for name in ["table", "lock", "write-lock"] { try Data().write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    @Test(
        "on a medium that can't be written to, an older directory is read and listed where it is",
        .enabled(if: DiskCacheVolumeTests.mayMount), arguments: [1, 2] as [UInt32])
    func readOnlyMedium(version: UInt32) async throws {
        try makeOld(20, version: version, rows: { $0 % 5 != 0 })
        // The log of the old index stays where it is.
        try #require(DiskCacheVolumeTests.run("/bin/mount", "--bind", path, path))
        defer { DiskCacheVolumeTests.run("/bin/umount", "-l", path) }
        try #require(DiskCacheVolumeTests.run("/bin/mount", "-o", "remount,ro,bind", path))
        let cache = DiskCache.temporary(path)
        for index in 0..<20 {
            #expect(await cache.entry(forKey: ImageKey(source: "\(index)"))?.data == someBytes(50, seed: UInt64(index)))
        }
        let listed = await cache.entries()
        #expect(listed.map(\.key.source) == (0..<20).map { "\($0)" })
        #expect(await cache.entries(after: listed[7].cursor, limit: 3).map(\.key.source) == ["8", "9", "10"])
        #expect(await cache.entries(ofSource: "4").count == 1)
        #expect(await cache.variants(ofSource: "4") == [.original])
        await #expect(throws: ImageError.self) { try await cache.put(someBytes(1), "x") }
    }

    @Test(
        "nothing of an older directory is lost, and nothing of its layout is left", arguments: [1, 2] as [UInt32],
        [true, false])
    func migrates(version: UInt32, storesFirst: Bool) async throws {
        try makeOld(20, version: version, tagged: { version == 2 || $0.isMultiple(of: 2) }, rows: { $0 % 5 != 0 })
        let cache = DiskCache.temporary(path)
        if storesFirst { try await cache.put(someBytes(9), "new") }
        #expect(await cache.usage().entries == (storesFirst ? 21 : 20))
        for index in 0..<20 {
            let entry = await cache.entry(forKey: ImageKey(source: "\(index)"))
            #expect(entry?.data == someBytes(50, seed: UInt64(index)) && entry?.mimeType == "image/png")
            #expect(entry?.validators?.entityTag == "\"tag\"")
        }
        await cache.flush()
        #expect(cache.statistics.corruptions == 0)
        #expect(try await cache.verify().damaged.isEmpty)
        let entries = await cache.usage().entries
        #expect(try DiskCacheTests.payloadFiles(path).count == entries)
        await cache.close()
        #expect(try names() == ["CACHEDIR.TAG", "entries", "index.sqlite", "index.sqlite-journal", "journal"])
        #expect(await DiskCache.temporary(path).usage().entries == entries)
    }

    @Test("old entries are found before anything was stored, removed, and cleared")
    func readsFirst() async throws {
        try makeOld(4)
        let reader = DiskCache.temporary(path)
        #expect(await reader.entry(forKey: "3")?.data == someBytes(50, seed: 3))
        #expect(await reader.contains("2"))
        #expect(await !reader.contains("7"))
        await reader.close()
        let cache = DiskCache.temporary(path)
        #expect(await cache.variants(ofSource: "1") == [.original])
        #expect(await cache.entries(ofSource: "2").count == 1)
        #expect(try await cache.remove("2"))
        #expect(await cache.entry(forKey: "2") == nil)
        #expect(await cache.path(forKey: "1") != nil)
        try await cache.removeAll()
        #expect(await cache.usage() == CacheUsage())
        #expect(await DiskCache.temporary(path).entry(forKey: "1") == nil)
    }

    @Test("an entry that is stored takes the place of the old one, and a removed one doesn't come back")
    func replaced() async throws {
        try makeOld(3)
        let cache = DiskCache.temporary(path)
        try await cache.put(someBytes(70), "1")
        #expect(try await cache.remove("2"))
        #expect(await cache.entry(forKey: "1")?.data == someBytes(70))
        #expect(await cache.entry(forKey: "2") == nil)
        #expect(await cache.usage().entries == 2)
    }

    @Test("the times of the last use come along")
    func accessTimes() async throws {
        try makeOld(3)
        let clock = WallClock(Date(timeIntervalSince1970: 1_690_000_700))
        let cache = DiskCache.temporary(path, maximumAge: .seconds(300), clock: clock)
        #expect(await cache.entry(forKey: "1") != nil, "used 200 seconds ago, stored 700 seconds ago")
        let accessed = await cache.entries().map(\.accessed.timeIntervalSince1970)
        #expect(accessed.count == 3 && accessed.allSatisfy { $0 >= 1_690_000_500 && $0 <= 1_690_000_700 })
    }

    @Test("old files without their index are adopted, and an old index without files does no harm")
    func parts() async throws {
        try makeOld(5)
        for name in ["index.sqlite", "table"] { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
        let cache = DiskCache.temporary(path)
        try await cache.put(someBytes(1), "new")
        await cache.maintain()
        #expect(await cache.usage().entries == 6)
        #expect(await cache.entry(forKey: "0")?.data == someBytes(50, seed: 0))
        await cache.close()
        try FileManager.default.removeItem(atPath: path)
        try makeOld(5)
        try FileManager.default.removeItem(atPath: path + "/data")
        let other = DiskCache.temporary(path)
        #expect(await other.usage() == CacheUsage())
        try await other.put(someBytes(1), "new")
        #expect(await other.usage().entries == 1)
    }

    @Test("an adoption that was killed half-way goes on; of two files with one key the later counts")
    func halfWay() async throws {
        try makeOld(6)
        // A file that was replaced just before the end.
        let key = ImageKey(source: "3")
        let stale = 1_680_000_000_000 << 20 | LegacyLayout.tag(of: key)
        try oldFile(someBytes(5), key: key, version: 2).write(to: URL(fileURLWithPath: place(stale)))
        let first = DiskCache.temporary(path)
        #expect(await first.usage().entries == 6)
        await first.close()
        // As if some were still in their old place.
        for index in 0..<3 {
            let key = ImageKey(source: "\(index)")
            let old = place((1_690_000_000_000 + Int64(index)) << 20 | LegacyLayout.tag(of: key))
            try FileManager.default.createDirectory(atPath: String(old.dropLast(17)), withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: path + "/" + EntryName(key).path, toPath: old)
        }
        let cache = DiskCache.temporary(path)
        #expect(await cache.usage().entries == 6)
        for index in 0..<6 {
            #expect(await cache.entry(forKey: ImageKey(source: "\(index)"))?.data == someBytes(50, seed: UInt64(index)))
        }
        let bytes = await cache.entries().reduce(0) { $0 + $1.fileBytes }
        #expect(await cache.usage().bytes == bytes)
    }

    @Test("a foreign tree in the place of the old layout is left as it is")
    func foreignTree() async throws {
        // As restic has it.
        let names = ["data/00/\(String(repeating: "0a", count: 32))", "data/ff/0123456789abcdff", "lock", "index/x"]
        for name in names { try directory.write(Data("precious".utf8), to: "cache/\(name)") }
        try FileManager.default.createDirectory(atPath: path + "/data/01", withIntermediateDirectories: true)
        let cache = DiskCache.temporary(path)
        try await cache.put(someBytes(10), "a")
        await cache.maintain()
        try await cache.removeExpired()
        _ = try await cache.verify()
        try await cache.removeAll()
        for name in names {
            #expect(FileManager.default.contents(atPath: "\(path)/\(name)") == Data("precious".utf8), "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: path + "/data/01"))
    }
}
