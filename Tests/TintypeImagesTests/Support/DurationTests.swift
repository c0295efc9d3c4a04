import TestSupport
import Testing

@testable import TintypeImages

@Suite("Durations", .timeLimited)
struct DurationTests {
    @Test("More minutes, hours, and days than there are seconds are as many as possible")
    func limits() {
        for duration in [Duration.minutes, Duration.hours, Duration.days] {
            #expect(duration(.max) == .seconds(Int.max) && duration(.min) == .seconds(Int.min))
            #expect(duration(2) == duration(1) * 2)
        }
        #expect(Duration.days(1) == .hours(24) && Duration.hours(1) == .minutes(60))
    }
}
