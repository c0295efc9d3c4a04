/// The frames of an animation that can't be decoded.
///
/// An attempt may have to decode all frames before. So after several failures in a row, the first damaged frame is searched for by
/// halves, and none after it is tried.
struct FrameDamage: Sendable {
    /// The number of attempts that fail in a row before the search.
    private static let attempts = 8

    private var errors: [Int: ImageError] = [:]
    /// The frame at which attempts end.
    private var end: (frame: Int, error: ImageError)?
    /// The bounds of the first damaged frame: the last frame that was decoded, and the first that was not.
    private var probe: (good: Int, bad: Int, error: ImageError)?
    private var failuresInARow: [Int] = []
    /// The last frame that was decoded; the first frame always was.
    private var lastGood = 0

    /// True while the first damaged frame is searched for.
    var isProbing: Bool { probe != nil }

    /// The frame to decode next in the search.
    var frameToProbe: Int? { probe.map { ($0.good + $0.bad) / 2 } }

    func error(of frame: Int) -> ImageError? {
        if let end, frame >= end.frame { return end.error }
        return errors[frame]
    }

    /// Notes that a frame was decoded.
    mutating func note(_ frame: Int) {
        failuresInARow = []
        lastGood = frame
        guard let (_, bad, error) = probe else { return }
        continueProbe(good: frame, bad: bad, error)
    }

    /// Notes that a frame can't be decoded.
    mutating func note(_ frame: Int, _ error: ImageError) {
        if let (good, _, _) = probe { return continueProbe(good: good, bad: frame, error) }
        errors[frame] = error
        failuresInARow.append(frame)
        guard failuresInARow.count >= Self.attempts, let bad = failuresInARow.min() else { return }
        failuresInARow = []
        continueProbe(good: lastGood < bad ? lastGood : 0, bad: bad, error)
    }

    /// Ends the search without a result.
    mutating func endSearch() { probe = nil }

    private mutating func continueProbe(good: Int, bad: Int, _ error: ImageError) {
        if bad - good > 1 {
            probe = (good, bad, error)
        } else {
            probe = nil
            if bad < end?.frame ?? .max { end = (bad, error) }
        }
    }
}
