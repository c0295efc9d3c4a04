import CacheWriter
import Foundation

import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// Several processes on one directory. `RANDOM_OPERATIONS` asks for more than the usual 8,000 operations.
@Suite("Disk cache: random operations of several processes", .timeLimited)
struct DiskCacheRandomTests {
    private static let processes = 4
    let directory: TemporaryDirectory
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "Four processes that store, read, remove, and clear, and are killed, never read what may not be there",
        .capability("3.6"))
    func operations() async throws {
        let wanted = ProcessInfo.processInfo.environment["RANDOM_OPERATIONS"].flatMap { Int($0) } ?? 8_000
        let (path, share) = (path, wanted / Self.processes)
        let totals = try await withThrowingTaskGroup(of: (operations: Int, kills: Int).self) { group in
            for process in 0..<Self.processes {
                group.addTask {
                    try await Self.onThread { try Self.run(share, seed: UInt64(1 + process * 100_000), path) }
                }
            }
            return try await group.reduce(into: (operations: 0, kills: 0)) { total, part in
                total.operations += part.operations
                total.kills += part.kills
            }
        }
        print("\(totals.operations) operations, \(totals.kills) processes killed")
        #expect(totals.operations >= share * Self.processes)
        // The next process keeps to the limit, and leaves no file that no rule would remove.
        let cache = DiskCache(
            .init(directory: path, capacity: RandomOperations.capacity, maximumAge: nil, minimumFreeSpace: 0))
        try await cache.put(someBytes(100), "next")
        await cache.maintain()
        try await cache.removeExpired()
        #expect(await cache.usage().bytes <= RandomOperations.capacity.bytes)
        #expect(try await cache.verify().damaged.isEmpty)
        for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
            let name = String(file.split(separator: "/").last ?? "")
            let isKnown =
                EntryName(name) != nil || WriterName.isUnfinished(name) || name.hasPrefix("sizes") || name == "entries"
                || ["CACHEDIR.TAG", ".tintype"].contains(name) || EntryName.isFolder(name)
            #expect(isKnown, "\(file)")
        }
    }

    /// Runs processes, one after the other, each of which is killed at some time, until they have made so many operations.
    private static func run(_ count: Int, seed: UInt64, _ path: String) throws -> (operations: Int, kills: Int) {
        var (seed, total, kills) = (seed, 0, 0)
        var generator = SeededRandom(seed: seed)
        while total < count {
            let process = Process()
            process.executableURL = URL(
                fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            ).deletingLastPathComponent().appendingPathComponent("CacheWriter")
            process.arguments = ["random", path, "\(seed)", "\(count - total)"]
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let fatal = Int.random(in: 500...max(1_000, min(count, 20_000)), using: &generator)
            var (lines, done) = (Data(), 0)
            while done < fatal {
                let more = pipe.fileHandleForReading.availableData
                if more.isEmpty { break }
                lines += more
                done = String(decoding: lines, as: UTF8.self).split(separator: "\n").last.flatMap { Int($0) } ?? done
            }
            // One that has ended isn't killed.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let wasKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
            guard wasKilled || process.terminationStatus == 0 else {
                Issue.record("seed \(seed), after \(done) operations: status \(process.terminationStatus)")
                break
            }
            kills += wasKilled ? 1 : 0
            total += done
            seed += 1
        }
        return (total, kills)
    }

    /// Runs a closure on a thread of its own, which waits for processes.
    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}
