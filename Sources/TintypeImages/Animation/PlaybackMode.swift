/// The order of an animation's frames during playback.
public enum PlaybackMode: Sendable, Hashable, CaseIterable {
    /// From the first frame to the last: 0, 1, 2, and then 0 again.
    case normal
    /// From the last frame to the first: 2, 1, 0, and then 2 again.
    case reverse
    /// Forward and backward: 0, 1, 2, 1, and then 0 again.
    case bounce
    /// Backward and forward: 2, 1, 0, 1, and then 2 again.
    case reversedBounce

    /// Returns the number of frames that a pass shows. In the modes that turn around, the first and the last frame are shown once.
    func stepsPerPass(frameCount: Int) -> Int {
        switch self {
        case .normal, .reverse: max(1, frameCount)
        case .bounce, .reversedBounce: max(1, 2 * frameCount - 2)
        }
    }

    /// Returns the frame that a step of a pass shows, both counted from 0.
    func frame(atStep step: Int, frameCount: Int) -> Int {
        let last = frameCount - 1
        return switch self {
        case .normal: step
        case .reverse: last - step
        case .bounce: step <= last ? step : 2 * last - step
        case .reversedBounce: step <= last ? last - step : step - last
        }
    }

    var turnsAround: Bool { self == .bounce || self == .reversedBounce }

    /// True if frames are shown before those that precede them in the file.
    var goesBack: Bool { self != .normal }
}
