/// The number of removals from the layers of a cache, as one source sees it.
///
/// A load takes the number when it begins, and stores its image only while the number is still the same. So a removal wins over every
/// store that began before it.
public struct RemovalCount: Hashable, Sendable {
    public var memory: Int
    public var disk: Int

    /// Creates a number. Each parameter sets the property of the same name.
    public init(memory: Int = 0, disk: Int = 0) {
        self.memory = memory
        self.disk = disk
    }

    fileprivate mutating func advance(_ layers: CacheLayers) {
        if layers.contains(.memory) { memory &+= 1 }
        if layers.contains(.disk) { disk &+= 1 }
    }
}

/// Counts the removals from a cache: in 1,024 counters, by a hash of the source, and in one for the removals of everything.
///
/// Two sources in one counter cost a store now and then. They never let a removed image return.
final class RemovalCounts: Sendable {
    private struct State {
        var sources = [RemovalCount](repeating: RemovalCount(), count: RemovalCounts.counters)
        var everything = RemovalCount()

        func count(_ index: Int) -> RemovalCount {
            RemovalCount(
                memory: sources[index].memory &+ everything.memory, disk: sources[index].disk &+ everything.disk)
        }
    }

    private static let counters = 1_024
    private let state = Lock(State())

    private static func index(of source: String) -> Int {
        Int(truncatingIfNeeded: EntryName(source: source).sourceLow) & (counters - 1)
    }

    func count(ofSource source: String) -> RemovalCount {
        let index = Self.index(of: source)
        return state.withLock { $0.count(index) }
    }

    /// Counts a removal of a source, or of everything for `nil`. Call this before anything is removed.
    func advance(source: String?, _ layers: CacheLayers) {
        let index = source.map { Self.index(of: $0) }
        state.withLock { state in
            if let index { state.sources[index].advance(layers) } else { state.everything.advance(layers) }
        }
    }

    /// Counts a removal of a source from all layers, unless there was another one since a count was taken.
    /// - Returns: The new count; `nil` if there was another removal.
    func advance(source: String, from count: RemovalCount) -> RemovalCount? {
        let index = Self.index(of: source)
        return state.withLock { state in
            guard state.count(index) == count else { return nil }
            state.sources[index].advance(.all)
            return state.count(index)
        }
    }
}
