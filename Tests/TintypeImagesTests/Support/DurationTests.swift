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

    @Test("Durations are numbers of seconds and nanoseconds, also those with more seconds than an integer can have")
    func numbers() {
        #expect(Duration.milliseconds(1_500).inSeconds == 1.5 && Duration.days(7).inSeconds == 604_800)
        #expect(Duration.milliseconds(-1_500).inSeconds == -1.5)
        #expect(Duration.microseconds(-3).inNanoseconds == -3_000 && Duration.seconds(2).inNanoseconds == 2_000_000_000)
        let forever = Duration.seconds(Double(Int.max))
        for duration in [forever, forever * 10] {
            #expect(duration.inSeconds == 0x1p63 && duration.inNanoseconds == .max)
            let negative = Duration.zero - duration
            #expect(negative.inSeconds == -0x1p63 && negative.inNanoseconds == .min)
        }
    }
}
