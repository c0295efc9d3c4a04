/// The change between two images in a display.
///
/// A transition is used only for images that weren't in memory, unless ``DisplayOptions/forceTransition`` is set.
public struct ImageTransition: Sendable {
    /// The visual effect of a transition.
    public enum Effect: Sendable, Hashable {
        /// The new image fades in over the old.
        case crossDissolve
        /// The new image moves in from an edge, and pushes the old out.
        case slide(from: Edge)
        /// The old image turns around an axis through its middle, and shows the new one on its back.
        case flip(from: Edge)
    }

    /// A side of a display.
    public enum Edge: Sendable, Hashable, CaseIterable {
        /// The left side.
        case left
        /// The right side.
        case right
        /// The upper side.
        case top
        /// The lower side.
        case bottom
    }

    /// The visual effect.
    public var effect: Effect
    /// The duration; zero or less shows the image at once.
    public var duration: Duration
    /// The easing function: returns the completed part of the change at a part of the duration, both from 0 to 1. By default, a change
    /// starts and ends slowly. It may be called on any thread.
    public var easing: @Sendable (Double) -> Double = { $0 * $0 * (3 - 2 * $0) }
    /// A closure that is called before the image is shown.
    public var prepare: (@MainActor @Sendable (DisplayedImage) -> Void)?
    /// A closure that is called once at the end, with false if the transition was interrupted.
    public var completion: (@MainActor @Sendable (_ isFinished: Bool) -> Void)?

    /// Creates a transition.
    /// - Parameters:
    ///   - effect: the visual effect.
    ///   - duration: the duration; zero or less shows the image at once.
    public init(_ effect: Effect, duration: Duration) {
        self.effect = effect
        self.duration = duration
    }

    /// Returns a transition that fades the new image in over the old.
    /// - Parameter seconds: the duration in seconds.
    public static func crossDissolve(_ seconds: Double = 0.25) -> ImageTransition {
        ImageTransition(.crossDissolve, duration: duration(seconds))
    }

    /// Returns a transition that lets the new image push the old out.
    /// - Parameters:
    ///   - edge: the side that the new image comes from.
    ///   - seconds: the duration in seconds.
    public static func slide(from edge: Edge = .right, _ seconds: Double = 0.3) -> ImageTransition {
        ImageTransition(.slide(from: edge), duration: duration(seconds))
    }

    /// Returns a transition in which the old image turns around, and shows the new one on its back.
    /// - Parameters:
    ///   - edge: the side that the new image comes from. Without perspective, as in GTK, opposite sides look alike.
    ///   - seconds: the duration in seconds.
    public static func flip(from edge: Edge = .right, _ seconds: Double = 0.5) -> ImageTransition {
        ImageTransition(.flip(from: edge), duration: duration(seconds))
    }

    /// Returns the completed part of the change, from 0 to 1, according to ``easing``.
    /// - Parameter elapsed: the time since the beginning.
    public func fraction(after elapsed: Duration) -> Double {
        guard duration > .zero, elapsed < duration else { return 1 }
        let part = easing(max(0, elapsed / duration))
        return part > 0 ? min(1, part) : 0
    }

    /// A duration of an hour at most; zero for numbers that are none.
    private static func duration(_ seconds: Double) -> Duration {
        seconds > 0 ? .nanoseconds(Int64(min(seconds, 3_600) * 1e9)) : .zero
    }
}
