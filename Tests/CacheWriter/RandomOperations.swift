import Foundation
import Glibc
import TintypeTesting

@testable import TintypeCaching
@testable import TintypeImages

/// Random operations on a directory that other processes use, too, compared with a model of what may be read.
///
/// Each writer's stores of a key have increasing serials, so whoever has read one never reads an earlier one of the same writer again. After
/// its own store, removal, or clearing, a writer never reads what it stored before.
public struct RandomOperations {
    private static let keys = 400
    public static let capacity = ByteCount.megabytes(2)

    private let seed: UInt64
    private let cache: DiskCache
    private let failures = Lock(0)
    private var generator: SeededRandom
    private var serial: UInt64
    /// The serials that may be read: for each key and writer, from which on.
    private var earliest: [Int: [UInt64: UInt64]] = [:]
    /// The earliest own serial after the last clearing.
    private var cleared: UInt64 = 0

    init(_ directory: String, seed: UInt64) {
        self.seed = seed
        serial = seed << 32
        generator = SeededRandom(seed: seed)
        let (failures, faults) = (failures, Lock(SeededRandom(seed: seed + 1)))
        cache = DiskCache(
            .init(directory: directory, capacity: Self.capacity, maximumAge: nil, minimumFreeSpace: 0),
            faults: { operation, _ in
                // A full disk, now and then.
                guard operation == "write", faults.withLock({ Int.random(in: 0..<20, using: &$0) }) == 0 else {
                    return nil
                }
                failures.withLock { $0 += 1 }
                return ENOSPC
            }, now: { Date() })
    }

    /// Runs operations, and tells now and then how many.
    mutating func run(_ count: Int, tell: @Sendable (String) -> Void) async throws {
        for number in 1...count {
            let before = failures.withLock { $0 }
            do {
                try await step()
            } catch let error as ImageError {
                guard failures.withLock({ $0 }) > before else { throw error }
            }
            if number.isMultiple(of: 500) || number == count { tell("\(number)") }
        }
        await cache.flush()
    }

    private func key(_ number: Int) -> ImageKey {
        ImageKey(
            source: "https://example.org/\(number / 2)",
            variant: number.isMultiple(of: 2) ? .original : ImageVariant(description: "fit=8x8"))
    }

    private mutating func step() async throws {
        let number = Int.random(in: 0..<Self.keys, using: &generator)
        switch Int.random(in: 0..<2_000, using: &generator) {
        case 0..<900: try await read(number)
        case 900..<1_800: try await store(number)
        case 1_800..<1_900:
            try await cache.remove(key(number))
            forget(number)
        case 1_900..<1_970:
            let source = number / 2
            try await cache.removeAll(ofSource: key(number).source)
            for number in [2 * source, 2 * source + 1] { forget(number) }
        case 1_970..<1_980: try await cache.removeExpired()
        case 1_980..<1_985:
            guard try await cache.verify().damaged.isEmpty else { throw Violation("an entry was damaged") }
        case 1_985..<1_990: _ = await cache.entries(ofSource: key(number).source)
        case 1_990..<1_995: await cache.flush()
        case 1_995..<1_998: await cache.close()
        default:
            try await cache.removeAll()
            cleared = serial + 1
        }
    }

    private mutating func forget(_ number: Int) { earliest[number, default: [:]][seed] = serial + 1 }

    private mutating func store(_ number: Int) async throws {
        serial += 1
        let size = Int.random(in: 16...12_000, using: &generator)
        let entry = DiskCacheEntry(
            data: CacheWriterPayload.bytes(number, serial: serial, count: size), created: Date())
        try await cache.store(entry, forKey: key(number))
        earliest[number, default: [:]][seed] = serial
    }

    private mutating func read(_ number: Int) async throws {
        guard let entry = await cache.entry(forKey: key(number)) else { return }
        guard let found = CacheWriterPayload.serial(of: entry.data, number) else {
            throw Violation("key \(number): \(entry.data.count) wrong bytes")
        }
        let writer = found >> 32
        let bound = max(earliest[number]?[writer] ?? 0, writer == seed ? cleared : 0)
        guard found >= bound else { throw Violation("key \(number): serial \(found), after \(bound)") }
        earliest[number, default: [:]][writer] = found
    }

    private struct Violation: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }
}
