/// The recent removals from a cache. With it, a load that began before a removal can tell that it must not store its image.
///
/// A removal wins over every store that began before it. The log has a limited length. A load that began before its first
/// removal treats every image as removed, and stores nothing.
public final class RemovalLog: Sendable {
    /// A position in the log, between two removals.
    public struct Mark: Sendable {
        fileprivate var number: Int
    }

    private enum Extent {
        case key(ImageKey)
        case source(String)
        case all

        func contains(_ key: ImageKey) -> Bool {
            switch self {
            case .key(let removed): removed == key
            case .source(let source): source == key.source
            case .all: true
            }
        }
    }

    private struct State {
        /// The last removals in order. The last one has the number `count`.
        var removals: [(extent: Extent, layers: CacheLayers)] = []
        var count = 0
    }

    private static let length = 1_024
    private let state = Lock(State())

    public init() {}

    /// The present position.
    public var mark: Mark { Mark(number: state.withLock { $0.count }) }

    /// Records the removal of one image. Call this before the image is removed.
    public func recordRemoval(of key: ImageKey, from layers: CacheLayers = .all) { record(.key(key), layers) }
    /// Records the removal of all variants of a source. Call this before they are removed.
    public func recordRemoval(ofSource source: String, from layers: CacheLayers = .all) {
        record(.source(source), layers)
    }
    /// Records the removal of everything. Call this before it is removed.
    public func recordRemovalOfAll(from layers: CacheLayers = .all) { record(.all, layers) }

    private func record(_ extent: Extent, _ layers: CacheLayers) {
        state.withLock { state in
            state.count += 1
            state.removals.append((extent, layers))
            if state.removals.count > 2 * Self.length { state.removals.removeFirst(Self.length) }
        }
    }

    /// Returns true if an image was removed after a mark; false without a mark.
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - layers: The layers of which at least one has lost the image.
    ///   - mark: The beginning of the time in question.
    public func hasRemoval(of key: ImageKey, from layers: CacheLayers = .all, since mark: Mark?) -> Bool {
        hasRemoval(of: key, from: layers, since: mark, until: nil)
    }

    /// Returns true if an image was removed between two marks, or after the first one.
    package func hasRemoval(of key: ImageKey, from layers: CacheLayers, since mark: Mark?, until end: Mark?) -> Bool {
        guard let mark else { return false }
        return state.withLock { state in
            let new = state.count - mark.number
            let excluded = end.map { state.count - $0.number } ?? 0
            guard new > excluded else { return false }
            guard new <= state.removals.count else { return true }
            return state.removals.suffix(new).dropLast(excluded).contains {
                !$0.layers.isDisjoint(with: layers) && $0.extent.contains(key)
            }
        }
    }
}
