/// The animations that were used last and that don't play now. Their decoders stay open, each with a picture of the source's size.
///
/// A list of the process, because a program that scrolls past hundreds of animations would hold a decoder for each.
final class IdleAnimations: Sendable {
    static let shared = IdleAnimations()

    /// The number of animations whose decoders stay open.
    static let limit = 4

    private struct Entry: Sendable {
        weak var pool: AnimationFramePool?
    }

    private let entries = Lock<[Entry]>([])

    /// Adds an animation that no longer plays, and closes the oldest if there are too many.
    func add(_ pool: AnimationFramePool) {
        let oldest = entries.withLock { entries -> AnimationFramePool? in
            entries.removeAll { $0.pool == nil || $0.pool === pool }
            entries.append(Entry(pool: pool))
            return entries.count > Self.limit ? entries.removeFirst().pool : nil
        }
        oldest?.closeIfIdle()
    }
}
