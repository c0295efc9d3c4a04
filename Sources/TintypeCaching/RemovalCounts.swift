/// The number of removals from the layers of a cache, as a source sees it.
///
/// A load takes the number when it starts, and stores its image only while the number still permits that. So a removal wins over every
/// store that started before its end.
package struct RemovalCount: Hashable, Sendable {
    package var memory = 0
    package var disk = 0
    /// The layers with removals in progress. An entry that a load finds meanwhile may be gone a moment later.
    package var removing: CacheLayers = []

    package init() {}

    /// Returns true if an image whose load started with another number may be stored in memory.
    package func permitsStoreInMemory(since count: RemovalCount) -> Bool {
        memory == count.memory && !removing.contains(.memory)
    }

    /// Returns true if an image whose load started with another number may be stored on disk.
    package func permitsStoreOnDisk(since count: RemovalCount) -> Bool {
        disk == count.disk && !removing.contains(.disk)
    }
}

/// Counts the removals from a cache, of each source and of everything.
///
/// A removal counts at its start and at its end. A load that starts between the two may still find the removed entry, and stores nothing.
/// Many sources share a counter: once in a while, the removal or the newer bytes of one keep a load of another from storing its image, and
/// if that load replaces an older image, neither is cached.
final class RemovalCounts: Sendable {
    private struct Counter {
        /// The number of starts and ends.
        var (memory, disk) = (UInt32(0), UInt32(0))
        var (memoryRunning, diskRunning) = (Int32(0), Int32(0))
    }

    /// The first one is for removals of everything.
    private let counters = Lock([Counter](repeating: Counter(), count: 16_384))

    private static func index(_ source: String?) -> Int { source.map { Int(1 + KeyedHash.hash($0) % 16_383) } ?? 0 }

    func count(ofSource source: String) -> RemovalCount {
        let index = Self.index(source)
        let (one, all) = counters.withLock { ($0[index], $0[0]) }
        var count = RemovalCount()
        count.memory = Int(one.memory) + Int(all.memory)
        count.disk = Int(one.disk) + Int(all.disk)
        if one.memoryRunning + all.memoryRunning > 0 { count.removing.insert(.memory) }
        if one.diskRunning + all.diskRunning > 0 { count.removing.insert(.disk) }
        return count
    }

    /// Counts the start and the end of a removal of a source, or of everything for `nil`.
    func during<Result>(
        source: String?, _ layers: CacheLayers, _ remove: () async throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        let index = Self.index(source)
        func advance(running: Int32) {
            counters.withLock { counters in
                if layers.contains(.memory) {
                    counters[index].memory &+= 1
                    counters[index].memoryRunning += running
                }
                if layers.contains(.disk) {
                    counters[index].disk &+= 1
                    counters[index].diskRunning += running
                }
            }
        }
        advance(running: 1)
        defer { advance(running: -1) }
        return try await remove()
    }
}
