extension Duration {
    /// Returns a duration of minutes.
    /// - Parameter count: the number of minutes.
    public static func minutes(_ count: Int) -> Duration { seconds(60, times: count) }
    /// Returns a duration of hours.
    /// - Parameter count: the number of hours.
    public static func hours(_ count: Int) -> Duration { seconds(3_600, times: count) }
    /// Returns a duration of days of 24 hours.
    /// - Parameter count: the number of days.
    public static func days(_ count: Int) -> Duration { seconds(86_400, times: count) }

    /// Limited to the seconds that `Int` has.
    private static func seconds(_ seconds: Int, times count: Int) -> Duration {
        let (product, isTooMuch) = seconds.multipliedReportingOverflow(by: count)
        return .seconds(isTooMuch ? (count < 0 ? Int.min : .max) : product)
    }

    /// The duration in seconds, with the precision of a `Double`, limited to the range of `Int64`.
    package var inSeconds: Double {
        // `components` ends the program where `Int64` can't have the seconds.
        let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        return Double(Int64(clamping: seconds)) + Double(Int64(clamping: rest)) * 1e-18
    }

    /// The duration in milliseconds, with the precision of a `Double`.
    package var inMilliseconds: Double { inSeconds * 1_000 }

    /// The duration in whole nanoseconds, limited to the range of `Int64`, about 292 years.
    package var inNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}

extension Duration {
    /// The longest time limit. Longer durations overflow clocks, and never expire in practice.
    package static let longestLimit = Duration.seconds(10 * 365 * 86_400)

    /// A time limit in the range that clocks can handle.
    package var boundedLimit: Duration { max(.zero, min(self, .longestLimit)) }
}
