import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: age", .timeLimited)
struct DiskCacheExpiryTests {
    let directory: TemporaryDirectory
    let clock = WallClock()
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func entry(
        created: Duration = .zero, expires: Duration? = nil, idleLifetime: Duration? = nil
    ) -> DiskCacheEntry {
        DiskCacheEntry(
            data: someBytes(10), created: clock.date + created.inSeconds,
            expires: expires.map { clock.date + $0.inSeconds }, idleLifetime: idleLifetime)
    }

    /// Reads go to the same cache, or to one that has just been opened.
    enum Reader: CaseIterable { case same, opened }

    private func reader(_ cache: DiskCache, _ kind: Reader) async throws -> DiskCache {
        guard kind == .opened else { return cache }
        await cache.flush()
        return DiskCache.temporary(path, clock: clock)
    }

    @Test(
        "An idle lifetime is extended by each read, and ends without one", .capability("3.13"),
        arguments: Reader.allCases)
    func idleLifetime(kind: Reader) async throws {
        let first = DiskCache.temporary(path, clock: clock)
        let stored = entry(idleLifetime: .seconds(100))
        try await first.store(stored, forKey: "used")
        try await first.store(entry(idleLifetime: .seconds(100)), forKey: "unused")
        try await first.store(entry(), forKey: "plain")
        for _ in 0..<5 {
            clock.advance(.seconds(60))
            let cache = try await reader(first, kind)
            #expect(await cache.entry(forKey: "used") == stored)
            await cache.flush()
        }
        let cache = try await reader(first, kind)
        #expect(await cache.entry(forKey: "unused") == nil)
        #expect(await !cache.contains("unused"))
        #expect(await cache.contains("plain"))
        clock.advance(.seconds(100))
        #expect(await cache.entry(forKey: "used") == nil)
    }

    @Test("A sweep removes what was idle for too long, and a read that was not written yet counts", .capability("3.13"))
    func idleSweep() async throws {
        let cache = DiskCache.temporary(path, clock: clock)
        for name in ["a", "b"] {
            try await cache.store(entry(idleLifetime: .seconds(100)), forKey: ImageKey(source: name))
        }
        clock.advance(.seconds(60))
        _ = await cache.entry(forKey: "a")
        clock.advance(.seconds(60))
        #expect(try await cache.removeExpired().entries == 1)
        #expect(await cache.entries().map(\.key.source) == ["a"])
        #expect(await cache.entries().first?.entry.idleLifetime == .seconds(100))
        clock.advance(.seconds(100))
        #expect(try await cache.removeExpired().entries == 1)
    }

    @Test("An end ends an entry whose idle lifetime goes on; ages hold for it too", .capability("3.13"))
    func both() async throws {
        let cache = DiskCache.temporary(path, maximumAge: .seconds(90), expiry: .byModification, clock: clock)
        try await cache.store(entry(expires: .seconds(50), idleLifetime: .seconds(100)), forKey: "end")
        try await cache.store(entry(idleLifetime: .seconds(1_000)), forKey: "age")
        clock.advance(.seconds(49))
        #expect(await cache.entry(forKey: "end") != nil)
        clock.advance(.seconds(1))
        #expect(await cache.entry(forKey: "end") == nil)
        #expect(await cache.entry(forKey: "age") != nil)
        clock.advance(.seconds(41))
        #expect(await cache.entry(forKey: "age") == nil)
    }

    @Test("Lifetimes out of any range do no harm", arguments: [Duration.seconds(-5), .zero, .seconds(Int64.max)])
    func extremes(lifetime: Duration) async throws {
        let cache = DiskCache.temporary(path, clock: clock)
        try await cache.store(entry(idleLifetime: lifetime), forKey: "a")
        clock.advance(.seconds(1))
        #expect(await cache.contains("a") == (lifetime > .zero))
        #expect(try await cache.removeExpired().entries == (lifetime > .zero ? 0 : 1))
    }

    @Test(
        "The three kinds of age tell different entries", .capability("CCF-12"),
        arguments: DiskCache.Configuration.Expiry.allCases)
    func kinds(expiry: DiskCache.Configuration.Expiry) async throws {
        let cache = DiskCache.temporary(path, maximumAge: .seconds(100), expiry: expiry, clock: clock)
        try await cache.store(entry(created: .seconds(40)), forKey: "created later")
        try await cache.store(entry(), forKey: "read later")
        clock.advance(.seconds(20))
        try await cache.store(entry(created: .seconds(-20)), forKey: "written later")
        clock.advance(.seconds(30))
        _ = await cache.entry(forKey: "read later")
        clock.advance(.seconds(55))
        let left: String =
            switch expiry {
            case .byCreation: "created later"
            case .byAccess: "read later"
            case .byModification: "written later"
            }
        // By access, what was written later is as young as its writing.
        let expected = expiry == .byAccess ? ["read later", "written later"] : [left]
        for name in ["created later", "read later", "written later"] {
            #expect(await cache.contains(ImageKey(source: name)) == expected.contains(name), "\(name)")
        }
        _ = try await cache.removeExpired()
        #expect(await cache.entries().map(\.key.source).sorted() == expected)
    }

    @Test("A clock that jumps ahead and back again: what was not swept is valid again, what is new stays")
    func clockJumps() async throws {
        let cache = DiskCache.temporary(path, maximumAge: .days(7), clock: clock)
        try await cache.store(entry(), forKey: "a")
        clock.advance(.days(4_000))
        #expect(await cache.entry(forKey: "a") == nil)
        try await cache.store(entry(), forKey: "ahead")
        clock.advance(.days(-4_000))
        try await cache.store(entry(), forKey: "b")
        #expect(await cache.entry(forKey: "b") != nil)
        #expect(await cache.entry(forKey: "ahead") != nil)
        try await cache.store(entry(), forKey: "ahead")
        #expect(
            await cache.entry(forKey: "ahead")?.created == clock.date, "the later of two stores counts, not the clock")
        _ = try await cache.removeExpired()
        clock.advance(.days(8))
        _ = try await cache.removeExpired()
        #expect(await cache.entry(forKey: "b") == nil)
    }
}
