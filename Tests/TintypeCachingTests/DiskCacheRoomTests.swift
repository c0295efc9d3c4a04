import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: entries that can't go, and volumes without room", .timeLimited)
struct DiskCacheRoomTests: DiskCacheSuite {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("Entries that can't be removed are passed over; others go in their place")
    func unremovableEntries() async throws {
        let faulty = FaultyFileSystem()
        let clock = WallClock()
        let cache = DiskCache.temporary(path, maximumCount: 400, clock: clock, files: faulty)
        let stuck = Set((0..<300).map { EntryName(key($0)).path })
        faulty.fail { operation, path in operation == "remove" && stuck.contains(path) ? EPERM : nil }
        for number in 0..<300 { try await fill(cache, number..<number + 1) }
        clock.advance(.seconds(10))
        try await fill(cache, 300..<600)
        await cache.flush()
        #expect(await cache.usage().entries <= 400)
        #expect(await cache.contains(key(599)))
        clock.advance(.seconds(10))
        cache.configuration.maximumAge = .seconds(5)
        for expiry in DiskCache.Configuration.Expiry.allCases {
            cache.configuration.expiry = expiry
            try await cache.removeExpired()
        }
        #expect(await cache.usage().entries == 300)
    }

    @Test("Where files or the quota run out, entries go for new ones if space is to stay free", .capability("3.13"))
    func exhaustedVolume() async throws {
        let faulty = FaultyFileSystem()
        let clock = WallClock()
        let cache = DiskCache.temporary(path, minimumFreeSpace: 1, clock: clock, files: faulty)
        let path = path
        faulty.fail { operation, file in
            guard operation == "write", file.hasPrefix("entries/") else { return nil }
            return (try? DiskCacheTests.payloadFiles(path).count) ?? 0 < 20 ? nil : EDQUOT
        }
        for number in 0..<40 {
            clock.advance(.seconds(1))
            try await fill(cache, number..<number + 1)
        }
        #expect(try DiskCacheTests.payloadFiles(path).count == 20)
        #expect(await cache.contains(key(39)))
        #expect(await !cache.contains(key(0)))
        faulty.fail { operation, file in operation == "write" && file.hasPrefix("entries/") ? ENOSPC : nil }
        await #expect(throws: ImageError.self) { try await fill(cache, 40..<41) }
        #expect(try DiskCacheTests.payloadFiles(path).count >= 18)
    }
}
