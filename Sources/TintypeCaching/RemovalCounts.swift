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
    /// The replacements by the program's images, which no load that started before them replaces.
    private var programsImages: UInt32 = 0
    /// The number of the newest bytes that replaced others; `nil` for an image of the program's, which only removals prevent.
    package var newest: Int? = 0
    /// The source of those: many share a count.
    private var newestSource: UInt64 = 0

    /// Returns true if an image whose load started at another count may be stored.
    func permitsStore(in layer: KeyPath<RemovalCount, Layer>, since old: RemovalCount) -> Bool {
        self[keyPath: layer].permitsStore(since: old[keyPath: layer])
            && (old.replacements.map { replacements?.permitsStore(since: $0) == true }
                ?? (old.newest == nil || old.newest == newest && old.programsImages == programsImages))
    }

    /// Starts a replacement by newer bytes, unless bytes with a higher number have replaced the source's: bytes have higher numbers
    /// that were asked for later; or unless the program has stored an image since the load started.
    package mutating func beginReplacement(of source: UInt64 = 0, by number: Int, since old: RemovalCount) -> Bool {
        guard number > newest ?? 0 || source != newestSource, programsImages == old.programsImages else { return false }
        (newest, newestSource) = (number, source)
        replacements?.starts &+= 1
        return true
    }

    /// Starts a replacement by an image of the program's.
    package mutating func beginReplacement() {
        programsImages &+= 1
        replacements?.starts &+= 1
    }

    package mutating func endReplacement() { replacements?.ends &+= 1 }

    /// The count for the stores of newer bytes, which have replaced the old ones under a number; `nil` if a removal, or a newer
    /// replacement, prevents them.
    package func afterReplacement(by number: Int, since old: RemovalCount) -> RemovalCount? {
        guard newest == number, programsImages == old.programsImages, memory.permitsStore(since: old.memory),
            disk.permitsStore(since: old.disk)
        else { return nil }
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
/// Many sources share a counter, so that a cache takes 0.2 MB of memory for them: once in a while, the removal or the newer bytes of one keep a
/// load of another from storing its image. If that load replaces an older image, neither is cached, or, if the program stored the other's
/// image, the older one stays.
final class RemovalCounts: Sendable {
    /// The first counts removals of everything.
    private let counts = Lock([RemovalCount](repeating: RemovalCount(), count: 4_096))
    /// The ends of the last replacements under way, by their sources.
    private let replacements = Lock([String: Promise<Void>]())

    private static func index(_ source: String?) -> Int { source.map { index(KeyedHash.hash($0)) } ?? 0 }
    private static func index(_ hash: UInt64) -> Int { Int(1 + hash % 4_095) }

    func count(ofSource source: String) -> RemovalCount {
        let index = Self.index(source)
        var (count, all) = counts.withLock { ($0[index], $0[0]) }
        (count.memory, count.disk) = (count.memory + all.memory, count.disk + all.disk)
        return count
    }

    /// Runs `body` when the earlier replacements of a source have ended, which might still remove what it stores.
    private func inTurn(ofSource source: String, _ body: () async throws(ImageError) -> Void) async throws(ImageError) {
        let end = Promise<Void>()
        await replacements.withLock { $0.updateValue(end, forKey: source) }?.value
        defer {
            replacements.withLock { if $0[source] === end { $0[source] = nil } }
            end.fulfill(())
        }
        try await body()
    }

    /// Has newer bytes replace a source's, unless something else has that is newer (``RemovalCount/beginReplacement(of:by:since:)``).
    /// - Parameter remove: Removes the old images.
    func replace(
        source: String, by number: Int, since old: RemovalCount, _ remove: () async throws(ImageError) -> Void
    ) async throws(ImageError) {
        try await inTurn(ofSource: source) { () throws(ImageError) in
            let hash = KeyedHash.hash(source)
            guard counts.withLock({ $0[Self.index(hash)].beginReplacement(of: hash, by: number, since: old) }) else {
                return
            }
            defer { counts.withLock { $0[Self.index(hash)].endReplacement() } }
            try await remove()
        }
    }

    /// Starts to replace the images of a source by an image of the program's.
    func beginReplacement(ofSource source: String) async {
        let index = Self.index(source)
        try? await inTurn(ofSource: source) { counts.withLock { $0[index].beginReplacement() } }
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
