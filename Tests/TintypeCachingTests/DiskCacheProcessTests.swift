import CacheWriter
import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// Other processes, which are killed or write at the same time. `CRASH_ROUNDS` asks for more than the usual 20 rounds,
/// and with it the processes that share a directory run for ten seconds instead of one.
///
/// One after another: a process that starts while another one's pipe is made inherits its end, and keeps who reads it from seeing the end.
@Suite("Disk cache: processes", .timeLimited, .serialized)
struct DiskCacheProcessTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }
    let rounds = ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) }

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: String...) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        )
        .deletingLastPathComponent().appendingPathComponent("CacheWriter")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        return (process, pipe.fileHandleForReading)
    }

    private func cache() -> DiskCache {
        DiskCache(.init(directory: path, capacity: .gigabytes(1), minimumFreeSpace: 0))
    }

    @Test(
        "Writers that are killed at any moment lose nothing that they were told is kept, and break nothing",
        arguments: [1, 2])
    func killedWriters(count: Int) async throws {
        var generator = SeededRandom(seed: 4)
        /// What may be under each key: the serial of an entry, or 0 for none.
        var allowed: [Int: Set<UInt64>] = [:]
        for round in 1...(rounds ?? 20) {
            let writers = try (0..<count).map { try start("journal", path, "\(round)", "0", "\($0 * 1_000)") }
            var text = Data()
            for (process, output) in writers {
                // So many steps are waited for, and then a moment that is not a step's.
                let steps = Int.random(in: 1...60, using: &generator)
                let pause = UInt32.random(in: 0...2_000, using: &generator)
                var lines = Data()
                while lines.count(where: { $0 == 10 }) < steps {
                    let more = output.availableData
                    guard !more.isEmpty else { break }
                    lines += more
                }
                usleep(pause)
                kill(process.processIdentifier, SIGKILL)
                lines += try output.readToEnd() ?? Data()
                process.waitUntilExit()
                #expect(process.terminationReason == .uncaughtSignal, "it writes until it is killed")
                text += lines
            }
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ")
                let number = try #require(Int(words[1])), serial = try #require(UInt64(words[2]))
                if words[0] == "!" {
                    allowed[number] = [serial]
                } else {
                    allowed[number, default: [0]].insert(serial)
                }
            }
            try await expectWhole(&allowed, round)
        }
    }

    /// Checks that a directory has what its writers were told, that it has nothing else, except for unfinished files.
    private func expectWhole(_ allowed: inout [Int: Set<UInt64>], _ round: Int) async throws {
        // Half of the time a cache that reads comes first, else one that writes.
        let cache = cache()
        if round % 2 == 0 { _ = await cache.usage() }
        var found = 0
        for (number, serials) in allowed {
            let entry = await cache.entry(forKey: ImageKey(source: "https://example.org/\(number)"))
            var serial: UInt64 = 0
            if let entry {
                serial = try #require(CacheWriterPayload.serial(of: entry.data, number), "round \(round)")
                #expect(entry.mimeType == "image/png")
                found += 1
            }
            #expect(serials.contains(serial), "round \(round), key \(number): \(serial), not one of \(serials)")
            allowed[number] = [serial]
        }
        await cache.flush()
        let usage = await cache.usage()
        #expect(usage.entries == found, "round \(round)")
        #expect(await cache.entries().reduce(0) { $0 + $1.fileBytes } == usage.bytes)
        #expect(try await cache.verify().damaged.isEmpty)
        #expect(cache.statistics.corruptions == 0)
        let files = FileManager.default.enumerator(atPath: path + "/entries")?.compactMap { $0 as? String } ?? []
        let entries = files.count { $0.contains("/") && !$0.contains("/.") }
        #expect(entries == found, "round \(round): no entry is left behind")
        await cache.close()
    }

    @Test("Two evicting writers that are killed leave no more than the capacity after the next store")
    func killedEvictors() async throws {
        var generator = SeededRandom(seed: 9)
        for round in 1...((rounds ?? 20) / 4 + 1) {
            let writers = try (1...2).map { try start("share", path, "\(2 * round + $0)", "60000") }
            usleep(UInt32.random(in: 50_000...400_000, using: &generator))
            for (process, _) in writers { kill(process.processIdentifier, SIGKILL) }
            for (process, _) in writers { process.waitUntilExit() }
            let cache = DiskCache(.init(directory: path, capacity: .megabytes(1), minimumFreeSpace: 0))
            _ = await cache.usage()
            try await cache.put(someBytes(100), "next")
            #expect(await cache.usage().bytes <= 1_000_000, "round \(round)")
            #expect(try await cache.verify().damaged.isEmpty, "round \(round)")
            let entries = await cache.usage().entries
            let files = FileManager.default.enumerator(atPath: path + "/entries")?.compactMap { $0 as? String } ?? []
            #expect(files.count { $0.contains("/") && !$0.contains("/.") } == entries, "round \(round)")
            await cache.close()
        }
    }

    @Test("A process that is stopped at any moment, whatever lock it holds, keeps nobody else from storing")
    func stoppedProcess() async throws {
        let (process, output) = try start("share", path, "1", "60000")
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            withExtendedLifetime(output) {}
        }
        var generator = SeededRandom(seed: 5)
        let cache = DiskCache(.init(directory: path, capacity: .megabytes(1), minimumFreeSpace: 0))
        var slowest = Duration.zero
        for round in 0..<(rounds ?? 20) / 2 {
            usleep(UInt32.random(in: 500...30_000, using: &generator))
            kill(process.processIdentifier, SIGSTOP)
            for number in 0..<8 {
                let key = ImageKey(source: "mine \(number)")
                let data = CacheWriterPayload.bytes(number, serial: UInt64(round), count: 20_000)
                let start = ContinuousClock.now
                try await cache.store(DiskCacheEntry(data: data, created: Date()), forKey: key)
                slowest = max(slowest, ContinuousClock.now - start)
                #expect(await cache.entry(forKey: key)?.data == data)
            }
            kill(process.processIdentifier, SIGCONT)
        }
        print("the slowest store beside a stopped process took \(slowest)")
        // CI may be busy with other things.
        if rounds != nil { #expect(slowest < .seconds(1)) }
    }

    @Test("Two processes write and evict in one directory")
    func sharedDirectory() async throws {
        let milliseconds = rounds == nil ? "1000" : "10000"
        let writers = try (1...2).map { try start("share", path, "\($0)", milliseconds) }
        for (process, output) in writers {
            let words = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self).split { " \n".contains($0) }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(words.first == "0", "entries that were wrong")
            #expect(words.count == 2 && Int(words[1]) ?? 0 > 0, "hits")
        }
        // So few entries are listed too seldom for the two to know of each other's stores at once.
        let cache = cache()
        let usage = await cache.usage()
        #expect(usage.bytes <= 2_000_000 && usage.entries > 0)
        let listed = await cache.entries()
        #expect(listed.count == usage.entries && listed.reduce(0) { $0 + $1.fileBytes } == usage.bytes)
        #expect(Set(listed.map(\.key)).count == listed.count, "each key once")
        for listing in listed { #expect(await cache.entry(forKey: listing.key) != nil) }
        #expect(try await cache.verify().damaged.isEmpty)
        let files = FileManager.default.enumerator(atPath: path + "/entries")?.compactMap { $0 as? String } ?? []
        #expect(files.count { $0.contains("/") } == usage.entries, "no file is left behind")
    }
}
