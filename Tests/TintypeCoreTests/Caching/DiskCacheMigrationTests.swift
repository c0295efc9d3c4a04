import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

/// Directories as version 1 left them.
@Suite("Disk cache: older versions", .timeLimited)
struct DiskCacheMigrationTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    /// A file of version 1: its description ends with the extended data.
    private func oldFile(_ data: Data, key: ImageKey) throws -> Data {
        let entry = DiskCacheEntry(
            data: data, created: Date(timeIntervalSince1970: 1_690_000_000), mimeType: "image/png")
        let trailer = EntryFile.trailer(for: entry, key: key, checksum: EntryFile.checksum(data))
        let size = EntryFile.footerSize
        // Without the lifetime (8 bytes) and the transform (4).
        let description = Data(trailer.dropLast(size + 12))
        var footer = Data(trailer.suffix(size))
        func write(_ value: some FixedWidthInteger, at offset: Int) {
            withUnsafeBytes(of: value.littleEndian) { bytes in
                footer.replaceSubrange(
                    footer.startIndex + offset..<footer.startIndex + offset + bytes.count, with: bytes)
            }
        }
        write(EntryFile.checksum(description), at: 8)
        write(UInt32(description.count), at: 24)
        write(UInt32(1), at: 28)
        return data + description + footer
    }

    private static let oldTables = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, key INTEGER NOT NULL, source TEXT NOT NULL, variant TEXT NOT NULL,
            payload_size INTEGER NOT NULL, file_size INTEGER NOT NULL, checksum INTEGER NOT NULL,
            created INTEGER NOT NULL, accessed INTEGER NOT NULL, expires INTEGER, mime_type TEXT, entity_tag TEXT,
            last_modified TEXT, extended_data BLOB, cost INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX entries_key ON entries (key);
        CREATE INDEX entries_accessed ON entries (accessed);
        CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL;
        CREATE TABLE state (
            entries INTEGER NOT NULL, bytes INTEGER NOT NULL, rebuild_shard INTEGER NOT NULL,
            orphan_shard INTEGER NOT NULL
        );
        """

    /// Makes a directory of version 1; `tagged` says which entries have names that the table finds.
    private func makeOld(_ count: Int, tagged: (Int) -> Bool) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let database = try Database(path: path + "/index.sqlite", mode: .create, busyTimeout: 0)
        try database.execute("PRAGMA journal_mode = WAL;" + Self.oldTables)
        var total = 0
        for index in 0..<count {
            let key = ImageKey(source: "\(index)")
            let hash = DiskIndexSchema.hash(key)
            var id = DiskLayout.newID(at: 1_690_000_000_000_000 + Int64(index) * 1_000, hash: hash)
            if !tagged(index) { id ^= 0x155 }
            let data = someBytes(50, seed: UInt64(index))
            let file = try oldFile(data, key: key)
            let place = DiskLayout(directory: path).file(id)
            try FileManager.default.createDirectory(
                atPath: String(place.prefix(upTo: try #require(place.lastIndex(of: "/")))),
                withIntermediateDirectories: true)
            try file.write(to: URL(fileURLWithPath: place))
            try database.execute(
                """
                INSERT INTO entries (id, key, source, variant, payload_size, file_size, checksum, created, accessed, mime_type)
                VALUES (\(id), \(hash), '\(index)', '', 50, \(file.count),
                    \(Int64(bitPattern: EntryFile.checksum(data))), 1690000000000000, \(1_690_000_000_000_000 + index),
                    'image/png')
                """)
            total += file.count
        }
        try database.execute(
            """
            INSERT INTO state VALUES (\(count), \(total), 256, 0);
            PRAGMA application_id = \(DiskIndexSchema.applicationID); PRAGMA user_version = 1;
            """)
    }

    private func columns() throws -> Set<String> {
        let database = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 0)
        let statement = try database.prepare("SELECT name FROM pragma_table_info('entries')")
        var names: Set<String> = []
        while try statement.step() { names.insert(statement.text(0) ?? "") }
        return names
    }

    @Test("an index of version 1 is migrated, with files under names of before", arguments: [true, false])
    func migrates(storesFirst: Bool) async throws {
        try makeOld(20) { $0.isMultiple(of: 2) }
        let cache = DiskCache.temporary(path)
        if storesFirst { try await cache.put(someBytes(9), "new") }
        #expect(await cache.usage().entries == (storesFirst ? 21 : 20))
        for index in 0..<20 {
            let entry = await cache.entry(forKey: ImageKey(source: "\(index)"))
            #expect(entry?.data == someBytes(50, seed: UInt64(index)) && entry?.mimeType == "image/png")
        }
        await cache.flush()
        #expect(cache.statistics.corruptions == 0)
        #expect(try await cache.verify().damaged.isEmpty)
        let entries = await cache.usage().entries
        #expect(try DiskCacheTests.payloadFiles(path).count == entries)
        await cache.close()
        #expect(try columns().isSuperset(of: ["lifetime", "transform"]) && !columns().contains("cost"))
        #expect(await DiskCache.temporary(path).usage().entries == entries)
    }

    @Test("entries of version 1 are read before anybody has written")
    func readsFirst() async throws {
        try makeOld(4) { _ in true }
        let cache = DiskCache.temporary(path)
        #expect(await cache.entries(ofSource: "2").count == 1)
        #expect(await cache.entry(forKey: "3")?.data == someBytes(50, seed: 3))
        // A file of version 1 is as good as its row: also when the index is lost.
        await cache.close()
        for name in ["index.sqlite", "table"] { try? FileManager.default.removeItem(atPath: "\(path)/\(name)") }
        let second = DiskCache.temporary(path)
        try await second.put(someBytes(1), "new")
        await second.maintain()
        #expect(await second.usage().entries == 5)
        #expect(await second.entry(forKey: "0")?.data == someBytes(50, seed: 0))
    }

    @Test("a migration that was killed half-way goes on, and a row without a file goes")
    func halfWay() async throws {
        try makeOld(6) { _ in false }
        let layout = DiskLayout(directory: path)
        let ids = try DiskCacheTests.payloadFiles(path).compactMap { layout.id(ofFile: String($0.suffix(16))) }.sorted()
        for (index, id) in ids.enumerated() where index < 3 {
            let hash = DiskIndexSchema.hash(ImageKey(source: "\(index)"))
            let new = id & ~DiskLayout.tagMask | EntryTable.tag(hash)
            try PosixFileSystem().makeDirectory(layout.shard(layout.shard(of: new)))
            try FileManager.default.moveItem(atPath: layout.file(id), toPath: layout.file(new))
        }
        try FileManager.default.removeItem(atPath: layout.file(ids[5]))
        let cache = DiskCache.temporary(path)
        #expect(await cache.usage().entries == 5)
        for index in 0..<5 {
            #expect(await cache.entry(forKey: ImageKey(source: "\(index)"))?.data == someBytes(50, seed: UInt64(index)))
        }
        let bytes = await cache.entries().reduce(0) { $0 + $1.fileBytes }
        #expect(await cache.usage().bytes == bytes)
    }
}
