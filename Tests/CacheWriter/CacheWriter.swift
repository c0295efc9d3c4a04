import Foundation
import TintypeCaching
import TintypeTesting

/// A process for tests to kill, or to run beside another: `CacheWriter journal|share|check DIRECTORY SEED MILLISECONDS [FIRST]`, or
/// `CacheWriter random DIRECTORY SEED COUNT`.
///
/// `journal` stores and removes until it is killed, and tells on standard output what it is about to do and what is
/// done. `check` sees whether a directory that a crash left is a cache that does everything it should, and clears it. `share` does so in a
/// small cache for some time, reads what it finds, and tells how many entries were wrong. `random` runs ``RandomOperations``.
@main
struct CacheWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard (5...6).contains(arguments.count), let seed = UInt64(arguments[3]), let milliseconds = Int(arguments[4])
        else {
            throw ExitCode.usage
        }
        if arguments[1] == "journal" {
            let first = arguments.count > 5 ? Int(arguments[5]) : 0
            try await keepJournal(arguments[2], seed: seed, first: first ?? 0)
        } else if arguments[1] == "random" {
            var operations = RandomOperations(arguments[2], seed: seed)
            try await operations.run(milliseconds) { tell($0) }
        } else if arguments[1] == "check" {
            try await check(arguments[2])
        } else {
            try await share(arguments[2], seed: seed, duration: .milliseconds(milliseconds))
        }
    }

    enum ExitCode: Error { case usage, failed(String) }

    private static func keepJournal(_ directory: String, seed: UInt64, first: Int) async throws {
        let cache = DiskCache(.init(directory: directory, capacity: .gigabytes(1), minimumFreeSpace: 0))
        var generator = SeededRandom(seed: seed)
        for serial in (seed << 32)... {
            let number = first + Int.random(in: 0..<40, using: &generator)
            let size = Int.random(in: 16...60_000, using: &generator)
            switch Int.random(in: 0..<40, using: &generator) {
            case 0..<32:
                tell("? \(number) \(serial)")
                try await cache.store(entry(number, serial, size), forKey: key(number))
                tell("! \(number) \(serial)")
            case 32..<36:
                tell("? \(number) 0")
                try await cache.remove(key(number))
                tell("! \(number) 0")
            case 36: await cache.flush()
            case 37: _ = await cache.usage()
            default: _ = await cache.entry(forKey: key(number))
            }
        }
    }

    private static func check(_ directory: String) async throws {
        func require(_ isTrue: Bool, _ message: String) throws {
            guard isTrue else { throw ExitCode.failed(message) }
        }
        let cache = DiskCache(.init(directory: directory, capacity: .gigabytes(1), minimumFreeSpace: 0))
        let damaged = try await cache.verify().damaged.count
        try require(try await cache.verify().damaged.isEmpty, "damaged entries stay")
        var found: [DiskCache.Listing] = []
        for folder in DiskCache.folders { found += await cache.entries(inFolder: folder) }
        for listing in found {
            let entry = await cache.entry(forKey: listing.key)
            try require(entry.map { isWhole($0.data, number(listing.key)) } == true, "\(listing.key) is not whole")
        }
        try require(await cache.usage().entries == found.count, "the usage is wrong")
        for number in 10_000..<10_100 {
            try await cache.store(entry(number, 1, 2_000), forKey: key(number))
            try require(await cache.contains(key(number)), "a new entry is not found")
        }
        cache.configuration.maximumCount = 60
        try await cache.removeExpired()
        let left = await cache.usage().entries
        try require((1...60).contains(left), "\(left) entries are left by the eviction")
        try require(await cache.contains(key(10_099)), "the latest entry was evicted")
        try await cache.removeAll()
        try require(await cache.usage() == CacheUsage(), "entries are left by clearing")
        try require(await !cache.contains(key(10_099)), "an entry is left by clearing")
        try await cache.store(entry(1, 1, 2_000), forKey: key(1))
        await cache.close()
        tell("\(found.count) entries, \(damaged) damaged")
    }

    private static func number(_ key: ImageKey) -> Int {
        key.source.split(separator: "/").last.flatMap { Int($0) } ?? -1
    }

    private static func share(_ directory: String, seed: UInt64, duration: Duration) async throws {
        let cache = DiskCache(.init(directory: directory, capacity: .megabytes(1), minimumFreeSpace: 0))
        var generator = SeededRandom(seed: seed)
        let end = ContinuousClock.now + duration
        var (serial, wrong, hits) = (seed << 32, 0, 0)
        while ContinuousClock.now < end {
            serial += 1
            let number = Int.random(in: 0..<200, using: &generator)
            if Bool.random(using: &generator) {
                let size = Int.random(in: 16...20_000, using: &generator)
                try await cache.store(entry(number, serial, size), forKey: key(number))
            } else if let found = await cache.entry(forKey: key(number)) {
                hits += 1
                if !isWhole(found.data, number) { wrong += 1 }
            }
        }
        await cache.flush()
        tell("\(wrong) \(hits)")
    }

    /// At once and whole: what is told is known even if the process is killed right after.
    private static func tell(_ line: String) {
        let line = line + "\n"
        _ = line.withCString { write(STDOUT_FILENO, $0, line.utf8.count) }
    }

    // The test has the same.
    private static func key(_ number: Int) -> ImageKey { ImageKey(source: "https://example.org/\(number)") }

    private static func entry(_ number: Int, _ serial: UInt64, _ size: Int) -> DiskCacheEntry {
        DiskCacheEntry(
            data: CacheWriterPayload.bytes(number, serial: serial, count: size), created: Date(), mimeType: "image/png")
    }

    private static func isWhole(_ data: Data, _ number: Int) -> Bool {
        CacheWriterPayload.serial(of: data, number) != nil
    }
}
