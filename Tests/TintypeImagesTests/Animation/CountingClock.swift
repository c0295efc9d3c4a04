import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

/// A manual clock that counts how often somebody sleeps.
final class CountingClock: Clock {
    let manual = ManualClock()
    let sleeps = Watched(0)

    var now: ManualClock.Instant { manual.now }
    var minimumResolution: Duration { manual.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        sleeps.update { $0 += 1 }
        try await manual.sleep(until: deadline, tolerance: tolerance)
    }
}
