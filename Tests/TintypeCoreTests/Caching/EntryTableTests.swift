import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Disk cache: table", .timeLimited)
struct EntryTableTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func table() throws -> EntryTable {
        let table = try #require(EntryTable.create(directory.path + "/table", slots: 1 << 14))
        table.isComplete = true
        return table
    }

    @Test("behaves like a set, with many removals and hashes that differ in few bits", arguments: [UInt64(1), 2])
    func model(seed: UInt64) throws {
        let table = try table()
        var generator = SeededRandom(seed: seed)
        var model: [Int64: Int64] = [:]
        for step in 0..<60_000 {
            // Originals: the lower 24 bits of all hashes are the same.
            let hash = Int64.random(in: 0..<8_000, using: &generator) << 24 | 0xABCDEF
            if let id = model[hash] {
                #expect(table.newest(hash) == id)
                table.remove(id, hash: hash)
                model[hash] = nil
                #expect(table.newest(hash) == nil)
            } else {
                let id = DiskLayout.newID(at: Int64(step + 1) * 1_000, hash: hash)
                #expect(table.newest(hash) == nil)
                table.insert(id, hash: hash)
                table.insert(id, hash: hash)
                model[hash] = id
            }
            #expect(table.live == model.count)
        }
        for (hash, id) in model { #expect(table.newest(hash) == id) }
        #expect(!table.isCrowded(adding: 0), "removed slots are used again")
        table.removeAll()
        #expect(model.keys.allSatisfy { table.newest($0) == nil } && table.live == 0)
    }

    @Test("of two files of a key the newer one counts, then the older one")
    func newest() throws {
        let table = try table()
        let ids = [5_000, 9_000, 7_000].map { DiskLayout.newID(at: $0, hash: 42) }
        for id in ids { table.insert(id, hash: 42) }
        #expect(table.newest(42) == ids[1])
        #expect(table.newest(42, before: ids[1]) == ids[2])
        #expect(table.newest(42, before: ids[0]) == nil)
        #expect(ids.allSatisfy { !table.isOnly($0, hash: 42) })
        table.remove(ids[0], hash: 42)
        table.remove(ids[1], hash: 42)
        #expect(table.isOnly(ids[2], hash: 42) && !table.isOnly(ids[1], hash: 42))
    }

    @Test("what is no table is not taken for one")
    func foreign() throws {
        let file = directory.path + "/table"
        #expect(EntryTable.open(file) == nil)
        for bytes in [0, 10, 4_096, 4_096 + 8 * EntryTable.minimumSlots] {
            try someBytes(bytes).write(to: URL(fileURLWithPath: file))
            #expect(EntryTable.open(file) == nil)
        }
    }

    @Test("a table that is lost, damaged, or was left half changed is made again, and nothing is missed meanwhile")
    func repair() async throws {
        let file = path + "/table"
        for damage in 0..<4 {
            let first = DiskCache.temporary(path)
            for index in 0..<50 { try await first.put(someBytes(10), ImageKey(source: "\(index)")) }
            await first.flush()
            switch damage {
            case 0: try FileManager.default.removeItem(atPath: file)
            case 1: try someBytes(5_000).write(to: URL(fileURLWithPath: file))
            case 2: try #require(EntryTable.open(file)).isChanging = true
            default:
                // A row that the table does not know, and the other way round.
                let table = try #require(EntryTable.open(file))
                let hash = DiskIndexSchema.hash("7")
                table.remove(try #require(table.newest(hash)), hash: hash)
            }
            let second = DiskCache.temporary(path)
            if damage == 3 { try await second.put(someBytes(10), "x"); await second.flush() }
            for index in 0..<50 { #expect(await second.contains(ImageKey(source: "\(index)")), "\(damage) \(index)") }
            try await second.put(someBytes(10), "y")
            await second.flush()
            let usage = await second.usage()
            #expect(try #require(EntryTable.open(file)).live == usage.entries)
            try await second.removeAll()
        }
    }

    @Test("a table grows with the cache, and another cache on the directory follows")
    func growth() async throws {
        let first = DiskCache.temporary(path, capacity: .megabytes(100)), second = DiskCache.temporary(path)
        try await first.put(someBytes(1), "0")
        #expect(await second.contains("0"))
        let before = try #require(EntryTable.open(path + "/table"))
        for index in 1..<1_000 { try await first.put(Data(), ImageKey(source: "\(index)")) }
        #expect(!before.isComplete, "another took its place")
        try await second.put(someBytes(1), "new")
        #expect(await second.contains("999"))
        #expect(await first.contains("new"))
        #expect(await first.usage().entries == 1_001)
    }

    @Test("another process's entry is seen at once, and so is that it is gone")
    func sharing() async throws {
        let first = DiskCache.temporary(path), second = DiskCache.temporary(path)
        for round in 0..<20 {
            let key = ImageKey(source: "\(round)")
            #expect(await second.entry(forKey: key) == nil)
            try await first.put(someBytes(100), key)
            #expect(await second.entry(forKey: key) != nil)
            try await second.remove(key)
            #expect(await first.entry(forKey: key) == nil)
        }
    }

    @Test("an entry stored after the clock was set back replaces the one of before")
    func clockSetBack() async throws {
        let clock = WallClock()
        let cache = DiskCache.temporary(path, clock: clock)
        for seed in 1...5 {
            try await cache.put(someBytes(50, seed: UInt64(seed)), "a")
            #expect(await cache.entry(forKey: "a")?.data == someBytes(50, seed: UInt64(seed)))
            clock.advance(.seconds(-1_000))
        }
        #expect(await cache.usage().entries == 1)
        #expect(await DiskCache.temporary(path).entry(forKey: "a")?.data == someBytes(50, seed: 5))
    }
}
