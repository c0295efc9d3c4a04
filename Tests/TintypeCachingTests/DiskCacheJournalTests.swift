import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: the journals", .timeLimited)
struct DiskCacheJournalTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    private func key(_ number: Int) -> ImageKey { ImageKey(source: "\(number)") }

    private func fill(_ cache: DiskCache, _ numbers: Range<Int>) async throws {
        for number in numbers { try await cache.put(someBytes(20, seed: UInt64(number)), key(number)) }
    }

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "the entries of a program that ended without closing are indexed by the next one, and its unfinished files go")
    func deadWriter() async throws {
        do {
            let cache = DiskCache.temporary(path)
            try await fill(cache, 0..<30)
        }
        try await waitForRelease(ofCacheAt: path)
        let folder = try OpenDirectory.open(path, faults: nil)
        let name = EntryName(key(1_000))
        do {
            let journal = try Journal.create(in: folder)
            try journal.append(name)
            try? folder.makeFolder(EntryName.folderPath(name.folder))
            try folder.create(journal.writer.unfinishedPath(of: name), contents: Data("half".utf8))
        }
        let next = DiskCache.temporary(path)
        #expect(await next.usage().entries == 30)
        #expect(try DiskCacheTests.payloadFiles(path).count == 30)
        await next.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/journal").isEmpty)
    }

    @Test("however many programs ended without closing, few of their journals are open at a time; all are taken over")
    func manyDeadJournals() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<50)
        await cache.flush()
        let folder = try OpenDirectory.open(path, faults: nil)
        for number in 0..<50 { try Journal.create(in: folder).append(EntryName(key(number))) }
        #expect(Journal.dead(in: folder).count == Journal.maximumDead)
        await cache.flush()
        await cache.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/journal").isEmpty)
    }

    @Test("a journal that is longer than any is not read: the folders are compared instead")
    func endlessJournal() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<5)
        await cache.close()
        let file = "\(path)/journal/\(WriterName())"
        #expect(FileManager.default.createFile(atPath: file, contents: nil) && truncate(file, 1 << 40) == 0)
        try FileManager.default.removeItem(atPath: "\(path)/\(EntryName(key(2)).path)")
        #expect(await DiskCache.temporary(path).usage().entries == 4)
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test("where the index can't be written, journals and descriptors don't become more and more")
    func unwritableIndex() async throws {
        let cache = DiskCache.temporary(path)
        try await fill(cache, 0..<5)
        await cache.close()
        let other = try Database(path: path + "/index.sqlite", mode: .readWrite, busyTimeout: 60_000)
        try other.execute("BEGIN EXCLUSIVE")
        for round in 1...8 {
            try await fill(cache, 10 * round..<10 * round + 3)
            await cache.flush()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/journal").count <= 5)
        try other.execute("ROLLBACK")
        #expect(await cache.usage().entries == 29)
    }

    @Test("the journal of a program that is running is left to it")
    func livingWriter() async throws {
        let (one, two) = (DiskCache.temporary(path), DiskCache.temporary(path))
        try await fill(one, 0..<5)
        try await fill(two, 5..<10)
        await two.flush()
        await one.flush()
        #expect(await two.usage().entries == 10)
    }

    @Test("a record that is damaged or incomplete is skipped")
    func damagedJournal() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let folder = try OpenDirectory.open(path, faults: nil)
        let names = (0..<5).map { EntryName(key($0)) }
        let file: String
        do {
            let journal = try Journal.create(in: folder)
            for name in names { try journal.append(name) }
            file = "\(path)/\(journal.path)"
            #expect(Journal.dead(in: folder).isEmpty, "its writer lives")
        }
        var data = try Data(contentsOf: URL(fileURLWithPath: file))
        data[40] ^= 1
        data.removeLast(3)
        try data.write(to: URL(fileURLWithPath: file))
        let dead = Journal.dead(in: folder)
        #expect(dead.count == 1)
        #expect(Set(dead.flatMap { $0.names ?? [] }) == [names[0], names[2], names[3]])
        #expect(Journal.dead(in: folder).isEmpty, "it is held as long as it is read")
    }

    @Test("a journal is free when its writer releases it, though a process that is being started shares its descriptor")
    func sharedDescriptor() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let folder = try OpenDirectory.open(path, faults: nil)
        var journal: Journal? = try Journal.create(in: folder)
        try journal?.append(EntryName(key(1)))
        let file = "\(path)/\(try #require(journal).path)"
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == file
        }
        // As `fork` does, until the child runs its program.
        let shared = fcntl(try #require(descriptors.first.flatMap { Int32($0) }), F_DUPFD_CLOEXEC, 0)
        #expect(shared >= 0)
        defer { close(shared) }
        #expect(Journal.dead(in: folder).isEmpty)
        journal = nil
        #expect(Journal.dead(in: folder).map(\.names) == [[EntryName(key(1))]])
    }
}
