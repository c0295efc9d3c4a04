/// The number of removals from the layers of a cache, as a source sees it.
///
/// A load takes the number when it starts, and stores its image only while the number still permits that. So a removal wins over every
/// store that started before its end.
public struct RemovalCount: Hashable, Sendable {
    /// The number of removals from memory.
    public var memory: Int
    /// The number of removals from disk.
    public var disk: Int
    /// The layers with removals in progress. An entry that a load finds meanwhile may be gone a moment later.
    public var removing: CacheLayers

    /// Creates a number. Each parameter sets the property of the same name.
    public init(memory: Int = 0, disk: Int = 0, removing: CacheLayers = []) {
        self.memory = memory
        self.disk = disk
        self.removing = removing
    }

    /// Returns true if an image whose load started with another number may be stored in memory.
    /// - Parameter count: the number when the load started.
    public func permitsStoreInMemory(since count: RemovalCount) -> Bool {
        memory == count.memory && !removing.contains(.memory)
    }

    /// Returns true if an image whose load started with another number may be stored on disk.
    /// - Parameter count: the number when the load started.
    public func permitsStoreOnDisk(since count: RemovalCount) -> Bool {
        disk == count.disk && !removing.contains(.disk)
    }

    static func + (one: RemovalCount, other: RemovalCount) -> RemovalCount {
        RemovalCount(
            memory: one.memory &+ other.memory, disk: one.disk &+ other.disk,
            removing: one.removing.union(other.removing))
    }
}

/// Counts the removals from a cache, of each source and of everything.
///
/// A removal counts at its start and at its end. A load that starts between the two may still find the removed entry, and stores
/// nothing.
final class RemovalCounts: Sendable {
    private struct Removals {
        /// The number of beginnings and ends.
        var memory = 0
        var disk = 0
        /// The number of removals under way.
        var (memoryRunning, diskRunning) = (0, 0)

        mutating func advance(_ layers: CacheLayers, running: Int) {
            if layers.contains(.memory) { (memory, memoryRunning) = (memory &+ 1, memoryRunning + running) }
            if layers.contains(.disk) { (disk, diskRunning) = (disk &+ 1, diskRunning + running) }
        }

        var count: RemovalCount {
            var removing: CacheLayers = []
            if memoryRunning > 0 { removing.insert(.memory) }
            if diskRunning > 0 { removing.insert(.disk) }
            return RemovalCount(memory: memory, disk: disk, removing: removing)
        }
    }

    private struct State {
        /// By a hash of the source.
        var sources: [UInt64: Removals] = [:]
        var everything = Removals()

        func count(_ source: UInt64) -> RemovalCount { (sources[source]?.count ?? RemovalCount()) + everything.count }

        /// Forgets single sources once there are many: from then on, the number of everything includes more than the number of any of them.
        mutating func forgetSources() {
            guard sources.count >= 4_096, sources.values.allSatisfy({ $0.memoryRunning == 0 && $0.diskRunning == 0 })
            else { return }
            everything.memory &+= 1 + (sources.values.map(\.memory).max() ?? 0)
            everything.disk &+= 1 + (sources.values.map(\.disk).max() ?? 0)
            sources = [:]
        }
    }

    private let state = Lock(State())

    private static func hash(_ source: String) -> UInt64 { XXH3.hash(source) }

    func count(ofSource source: String) -> RemovalCount {
        let source = Self.hash(source)
        return state.withLock { $0.count(source) }
    }

    /// Counts the start and the end of a removal of a source, or of everything for `nil`.
    func during<Result>(
        source: String?, _ layers: CacheLayers, _ remove: () async throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        advance(source, layers, running: 1)
        defer { advance(source, layers, running: -1) }
        return try await remove()
    }

    private func advance(_ source: String?, _ layers: CacheLayers, running: Int) {
        let source = source.map { Self.hash($0) }
        state.withLock { state in
            guard let source else { return state.everything.advance(layers, running: running) }
            if running > 0 { state.forgetSources() }
            state.sources[source, default: Removals()].advance(layers, running: running)
        }
    }
}
