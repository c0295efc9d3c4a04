/// How long the frames of an animation are really shown.
package enum FrameTiming {
    /// What a frame without a delay gets.
    package static let standard = Duration.milliseconds(100)

    /// The time that a frame is shown for a delay that its file states.
    ///
    /// Delays under 11 ms were written by tools that meant "as fast as you can"; browsers show such frames for 100 ms,
    /// and so does this.
    package static func played(_ stated: Duration) -> Duration { stated < .milliseconds(11) ? standard : stated }
}
