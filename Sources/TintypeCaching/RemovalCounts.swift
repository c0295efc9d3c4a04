/// The number of removals from the layers of a cache, as a source sees it.
///
/// A load takes the number when it starts, and stores its image only while the number still permits that. So a removal wins over every
/// store that started before its end.
package struct RemovalCount: Hashable, Sendable {
    /// The removals from one layer that have started, and those that have ended.
    package struct Layer: Hashable, Sendable {
        package var starts: UInt32 = 0
        package var ends: UInt32 = 0

        /// Returns true if an image whose load started at another count may be stored. An entry that a load finds during a removal may be gone
        /// a moment later.
        package func permitsStore(since old: Layer) -> Bool { self == old && starts == ends }

        fileprivate static func + (one: Layer, other: Layer) -> Layer {
            Layer(starts: one.starts &+ other.starts, ends: one.ends &+ other.ends)
        }
    }

    package var memory = Layer()
    package var disk = Layer()
    /// The replacements of images: by the program's, and by newer bytes; `nil` for the images that replace others.
    package var replacements: Layer? = Layer()
    /// The number of the newest replacement; `nil` for an image of the program's, which only removals prevent.
    package var newest: Int? = 0
    /// The source of that: many share a count.
    private var newestSource: UInt64 = 0

    /// Returns true if an image whose load started at another count may be stored.
    func permitsStore(in layer: KeyPath<RemovalCount, Layer>, since old: RemovalCount) -> Bool {
        self[keyPath: layer].permitsStore(since: old[keyPath: layer])
            && (old.replacements.map { replacements?.permitsStore(since: $0) == true }
                ?? (old.newest == nil || old.newest == newest))
    }

    /// Begins a replacement, unless there was one of the source with a higher number: images have higher numbers that were asked for later.
    package mutating func beginReplacement(of source: UInt64 = 0, by number: Int) -> Bool {
        guard number > newest ?? 0 || source != newestSource else { return false }
        (newest, newestSource) = (number, source)
        replacements?.starts &+= 1
        return true
    }

    package mutating func endReplacement() { replacements?.ends &+= 1 }

    /// The count for the stores of newer bytes, which have replaced the old ones under a number; `nil` if a removal, or a newer
    /// replacement, prevents them.
    package func afterReplacement(by number: Int, since old: RemovalCount) -> RemovalCount? {
        guard newest == number, memory.permitsStore(since: old.memory), disk.permitsStore(since: old.disk) else {
            return nil
        }
        var count = self
        count.replacements = nil
        return count
    }

    fileprivate mutating func change(_ layers: CacheLayers, _ body: (inout Layer) -> Void) {
        if layers.contains(.memory) { body(&memory) }
        if layers.contains(.disk) { body(&disk) }
    }
}

/// Counts the removals from a cache, of each source and of everything.
///
/// A removal counts at its start and at its end. A load that starts between the two may still find the removed entry, and stores nothing.
/// Many sources share a counter: once in a while, the removal or the newer bytes of one keep a load of another from storing its image, and
/// if that load replaces an older image, neither is cached.
final class RemovalCounts: Sendable {
    /// The first one is for removals of everything.
    private let counts = Lock([RemovalCount](repeating: RemovalCount(), count: 16_384))

    private static func index(_ source: String?) -> Int { source.map { index(KeyedHash.hash($0)) } ?? 0 }
    private static func index(_ hash: UInt64) -> Int { Int(1 + hash % 16_383) }

    func count(ofSource source: String) -> RemovalCount {
        let index = Self.index(source)
        var (count, all) = counts.withLock { ($0[index], $0[0]) }
        (count.memory, count.disk) = (count.memory + all.memory, count.disk + all.disk)
        return count
    }

    func beginReplacement(ofSource source: String, by number: Int) -> Bool {
        let hash = KeyedHash.hash(source)
        return counts.withLock { $0[Self.index(hash)].beginReplacement(of: hash, by: number) }
    }

    func endReplacement(ofSource source: String) { counts.withLock { $0[Self.index(source)].endReplacement() } }

    /// Counts the start and the end of a removal of a source, or of everything for `nil`.
    func during<Result>(
        source: String?, _ layers: CacheLayers, _ remove: () async throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        let index = Self.index(source)
        counts.withLock { $0[index].change(layers) { $0.starts &+= 1 } }
        defer { counts.withLock { $0[index].change(layers) { $0.ends &+= 1 } } }
        return try await remove()
    }
}
