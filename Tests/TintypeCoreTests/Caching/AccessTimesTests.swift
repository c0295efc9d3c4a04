import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Disk cache: when entries were read", .timeLimited)
struct AccessTimesTests {
    @Test("are due when there are many, or the first has waited long, or the clock was set back")
    func due() {
        var times = AccessTimes()
        #expect(!times.areDue(at: 1_000))
        times.note(1, at: 1_000)
        #expect(!times.areDue(at: 1_000))
        #expect(!times.areDue(at: 1_000 + AccessTimes.longestWait - 1))
        #expect(times.areDue(at: 1_000 + AccessTimes.longestWait))
        #expect(times.areDue(at: 999))
        for id in 2..<Int64(AccessTimes.batch) { times.note(id, at: 1_000) }
        #expect(!times.areDue(at: 1_000))
        times.note(2, at: 1_001)
        #expect(!times.areDue(at: 1_001), "read again is no more to write")
        times.note(Int64(AccessTimes.batch), at: 1_001)
        #expect(times.areDue(at: 1_001))
    }

    @Test("are bounded where nobody writes them; those that are there go on")
    func bound() {
        var times = AccessTimes()
        for id in 0..<Int64(AccessTimes.maximum) + 10 { times.note(id, at: 5) }
        #expect(times[Int64(AccessTimes.maximum)] == nil)
        times.note(3, at: 6)
        #expect(times[3] == 6)
        #expect(times.beginWriting().count == AccessTimes.maximum)
    }

    @Test("stay known while they are written; later ones are not lost by that")
    func writing() {
        var times = AccessTimes()
        times.note(1, at: 10)
        times.note(2, at: 10)
        #expect(times.beginWriting() == [1: 10, 2: 10])
        times.note(1, at: 20)
        #expect(times[1] == 20)
        #expect(times[2] == 10)
        #expect(times.beginWriting() == [1: 20, 2: 10], "who wants all has what another began to write")
        times.note(3, at: 30)
        times.endWriting()
        #expect(times[2] == nil)
        #expect(times[3] == 30)
        times.note(1, at: 40)
        _ = times.beginWriting()
        times.note(1, at: 50)
        #expect(times.remove(1) == 50)
        #expect(times[1] == nil)
    }

    @Test("what was read stays, though the index knows of no read, and there were many", .capability("CDK-04"))
    func unwrittenReads() async throws {
        let directory = try TemporaryDirectory()
        let clock = WallClock()
        let cache = DiskCache.temporary(directory.path + "/cache", maximumCount: 300, clock: clock)
        for number in 0..<300 {
            try await cache.put(someBytes(10), ImageKey(source: "\(number)"))
            clock.advance(.seconds(1))
        }
        await cache.flush()
        for number in 0..<150 {
            _ = await cache.entry(forKey: ImageKey(source: "\(number)"))
            clock.advance(.milliseconds(1))
        }
        try await cache.put(someBytes(10), "new")
        let left = await Set(cache.entries().map(\.key.source))
        // A twentieth goes at once.
        let expected = Set((0..<150).map(String.init) + (166..<300).map(String.init) + ["new"])
        #expect(left == expected)
    }

    @Test("that nothing was ever stored is believed for a moment, but what this process stores is seen at once")
    func emptiness() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cache"
        let (one, two) = (DiskCache.temporary(path), DiskCache.temporary(path))
        for _ in 0..<100 {
            #expect(await one.entry(forKey: "a") == nil)
            #expect(await !one.contains("a"))
        }
        try await two.put(someBytes(10), "a")
        #expect(await one.entry(forKey: "a")?.data == someBytes(10))
        let seen = Emptiness()
        Emptiness.mayEnd()
        #expect(!seen.isCurrent)
    }
}
