/// The actual durations of the frames of an animation.
package enum FrameTiming {
    /// The duration of a frame without a delay.
    package static let standard = Duration.milliseconds(100)

    /// Returns the duration of a frame from the delay in its file.
    ///
    /// Delays under 11 ms come from tools that meant "as fast as possible". Browsers show such frames for 100 ms, and so does
    /// this function.
    package static func played(_ stated: Duration) -> Duration { stated < .milliseconds(11) ? standard : stated }

    /// Returns the duration of a frame of an animation: the standard duration for a frame that has none.
    static func shown(_ duration: Duration) -> Duration { duration > .zero ? limited(duration) : standard }

    /// Returns a duration limited to 0 to a day: sums of absurd durations would not be in range, and no format has negative ones.
    static func limited(_ duration: Duration) -> Duration { min(max(duration, .zero), .days(1)) }
}
