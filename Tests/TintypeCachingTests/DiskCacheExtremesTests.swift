import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// Clocks, limits, and paths that nobody has, until somebody has them.
@Suite("Disk cache: extremes", .timeLimited)
struct DiskCacheExtremesTests: DiskCacheSuite {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "A cache whose clock shows a far year keeps, lists, and sweeps entries",
        arguments: [2041, 2050, 9_000])
    func farYears(year: Int) async throws {
        let clock = WallClock(Date(timeIntervalSince1970: Double(year - 1970) * 31_556_952))
        let cache = DiskCache.temporary(
            path, capacity: .gigabytes(1), maximumAge: .days(7), expiry: .byModification, clock: clock)
        try await fill(cache, 0..<4_200)
        clock.advance(.days(1))
        try await fill(cache, 4_200..<4_210)
        await cache.flush()
        #expect(await cache.usage().entries == 4_210)
        let listed = await cache.entries().map(\.key)
        #expect(Set(listed).count == 4_210)
        clock.advance(.seconds(6.5 * 86_400))
        if year < 6_000 {
            try await cache.removeExpired()
            #expect(await cache.usage().entries == 10)
        }
        #expect(await cache.entry(forKey: key(4_205)) != nil)
        #expect(await cache.entry(forKey: key(5)) == nil)
    }

    @Test("A free space that no volume has is an error, also on a volume without any")
    func unlimitedFreeSpace() async throws {
        let faulty = FaultyFileSystem()
        let cache = DiskCache.temporary(path, minimumFreeSpace: .unlimited, files: faulty)
        faulty.fail { operation, _ in operation == "free space" ? 0 : nil }
        let error = await #expect(throws: ImageError.self) { try await fill(cache, 0..<1) }
        #expect(error?.code == .cacheWriteFailed && error?.reason.contains("stay free") == true)
    }

    @Test("Limits of any value hold, and end no program", arguments: [Int.min, -1, 0, 1, .max])
    func anyLimits(limit: Int) async throws {
        let cache = DiskCache.temporary(path, maximumCount: limit)
        try await fill(cache, 0..<3)
        await cache.flush()
        #expect(await cache.usage().entries == min(3, max(0, limit)))
        cache.configuration.maximumCount = nil
        cache.configuration.maximumAge = .seconds(limit)
        try await cache.removeExpired()
        cache.configuration.capacity = ByteCount(limit)
        try? await fill(cache, 3..<6)
        await cache.flush()
        #expect(await cache.usage().entries <= (limit > 4_096 ? 6 : 0))
    }
}
