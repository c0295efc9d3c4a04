/// The recent removals from a cache. With it, a load that began before a removal can tell that it must not store its image.
///
/// A removal wins over every store that began before it. The log has a limited length. A load that began before its first
/// removal treats every image as removed, and stores nothing.
public final class RemovalLog: Sendable {
    /// A position in the log, between two removals.
    public struct Mark: Sendable {
        fileprivate var number: Int
    }

    private enum Removal {
        case key(ImageKey)
        case source(String)
        case all
    }

    private struct State {
        /// The last removals in order. The last one has the number `count`.
        var removals: [Removal] = []
        var count = 0
    }

    private static let length = 1_024
    private let state = Lock(State())

    public init() {}

    /// The present position.
    public var mark: Mark { Mark(number: state.withLock { $0.count }) }

    /// Records the removal of one image. Call this before the image is removed.
    public func recordRemoval(of key: ImageKey) { record(.key(key)) }
    /// Records the removal of all variants of a source. Call this before they are removed.
    public func recordRemoval(ofSource source: String) { record(.source(source)) }
    /// Records the removal of everything. Call this before it is removed.
    public func recordRemovalOfAll() { record(.all) }

    private func record(_ removal: Removal) {
        state.withLock { state in
            state.count += 1
            state.removals.append(removal)
            if state.removals.count > 2 * Self.length { state.removals.removeFirst(Self.length) }
        }
    }

    /// Returns true if an image was removed after a mark; false without a mark.
    public func hasRemoval(of key: ImageKey, since mark: Mark?) -> Bool {
        guard let mark else { return false }
        return state.withLock { state in
            let new = state.count - mark.number
            guard new > 0 else { return false }
            guard new <= state.removals.count else { return true }
            return state.removals.suffix(new).contains { removal in
                switch removal {
                case .key(let removed): removed == key
                case .source(let source): source == key.source
                case .all: true
                }
            }
        }
    }
}
