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
    }

    /// The purpose of a count, which decides what may have happened since.
    private enum Use: Hashable { case load, newBytes, programsImage }

    package var memory = Layer()
    package var disk = Layer()
    /// The replacements of images: by the program's, and by newer bytes.
    private var replacements = Layer()
    /// The moments from which on the caches have only what came later: no load that started before replaces that. Such are the stores
    /// of the program's images, and removals of all that a source has.
    private var restarts: UInt32 = 0
    private var use = Use.load
    /// The number of the newest bytes that replaced others.
    package private(set) var newest = 0
    /// The source of those: many share a count.
    private var newestSource: UInt64 = 0

    /// Returns true if an image may be stored that was asked for at another count, or that replaces others since it.
    package func permitsStore(
        of source: UInt64 = 0, in layer: KeyPath<RemovalCount, Layer>, since old: RemovalCount
    ) -> Bool {
        guard self[keyPath: layer].permitsStore(since: old[keyPath: layer]) else { return false }
        return switch old.use {
        case .load: replacements.permitsStore(since: old.replacements)
        case .newBytes: newest == old.newest && restarts == old.restarts
        case .programsImage: newest == old.newest || newestSource != source
        }
    }

    /// Starts a replacement by newer bytes, unless bytes with a higher number have replaced the source's: bytes have higher numbers
    /// that were asked for later; or unless all that the caches have came after the load started.
    package mutating func beginReplacement(of source: UInt64 = 0, by number: Int, since old: RemovalCount) -> Bool {
        guard number > newest || source != newestSource, restarts == old.restarts else { return false }
        (newest, newestSource) = (number, source)
        replacements.starts &+= 1
        return true
    }

    /// Starts a replacement by an image of the program's.
    package mutating func beginReplacement() {
        restarts &+= 1
        replacements.starts &+= 1
    }

    package mutating func endReplacement() { replacements.ends &+= 1 }

    /// The count for the stores of newer bytes, which have replaced the old ones under a number; `nil` if a removal, or a newer
    /// replacement, prevents them.
    package func afterReplacement(by number: Int, since old: RemovalCount) -> RemovalCount? {
        guard newest == number, restarts == old.restarts, memory.permitsStore(since: old.memory),
            disk.permitsStore(since: old.disk)
        else { return nil }
        var count = self
        count.use = .newBytes
        return count
    }

    /// The count for the store of a program's image, which removals prevent, and newer bytes that have replaced the image since an
    /// earlier count.
    package func ofProgramsImage(since start: RemovalCount) -> RemovalCount {
        var count = self
        (count.use, count.newest) = (.programsImage, start.newest)
        return count
    }

    /// Starts a removal.
    /// - Parameter isWhole: True if no variant of the source stays in these layers.
    package mutating func beginRemoval(from layers: CacheLayers, isWhole: Bool) {
        if layers.contains(.memory) { memory.starts &+= 1 }
        if layers.contains(.disk) { disk.starts &+= 1 }
        if isWhole, layers == .all { restarts &+= 1 }
    }

    package mutating func endRemoval(from layers: CacheLayers, isWhole: Bool) {
        if layers.contains(.memory) { memory.ends &+= 1 }
        if layers.contains(.disk) { disk.ends &+= 1 }
        // What a load finds that starts during the removal may have come before.
        if isWhole, layers == .all { restarts &+= 1 }
    }
}

/// Counts the removals from a cache, of each source and of everything.
///
/// A removal counts at its start and at its end. A load that starts between the two may still find the removed entry, and stores nothing.
/// Many sources share a counter, so that a cache takes 0.2 MB of memory for them: once in a while, the removal or the newer bytes of one keep a
/// load of another from storing its image. If that load replaces an older image, neither is cached, or, if the program stored the other's
/// image or removed all of it, the older one stays.
final class RemovalCounts: Sendable {
    private static let size = 4_096
    private let counts = Lock([RemovalCount](repeating: RemovalCount(), count: RemovalCounts.size))
    /// The ends of the last replacements under way, by their sources.
    private let replacements = Lock([String: Promise<Void>]())

    private static func index(_ source: String) -> Int { index(KeyedHash.hash(source)) }
    private static func index(_ hash: UInt64) -> Int { Int(hash % UInt64(size)) }

    func count(ofSource source: String) -> RemovalCount {
        let index = Self.index(source)
        return counts.withLock { $0[index] }
    }

    /// Returns true if an image of a source may be stored that was asked for at a count, or if there is no such count.
    func permitsStore(
        of source: String, in layer: KeyPath<RemovalCount, RemovalCount.Layer>, since old: RemovalCount?
    ) -> Bool {
        guard let old else { return true }
        let hash = KeyedHash.hash(source)
        return counts.withLock { $0[Self.index(hash)] }.permitsStore(of: hash, in: layer, since: old)
    }

    /// Runs `body` when the earlier replacements of a source have ended: one that still removes would remove what a later one stores.
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

    /// Starts to replace the images of a source by one of the program's.
    func beginReplacement(ofSource source: String) async {
        let index = Self.index(source)
        try? await inTurn(ofSource: source) { counts.withLock { $0[index].beginReplacement() } }
    }

    func endReplacement(ofSource source: String) { counts.withLock { $0[Self.index(source)].endReplacement() } }

    /// Counts the start and the end of a removal of a source, or of everything for `nil`.
    /// - Parameter isWhole: False for a removal of a single variant.
    func during<Result>(
        source: String?, _ layers: CacheLayers, isWhole: Bool = true, _ remove: () async throws(ImageError) -> Result
    ) async throws(ImageError) -> Result {
        let first = source.map { Self.index($0) }
        let indices = first.map { $0..<$0 + 1 } ?? 0..<Self.size
        counts.withLock { for index in indices { $0[index].beginRemoval(from: layers, isWhole: isWhole) } }
        defer { counts.withLock { for index in indices { $0[index].endRemoval(from: layers, isWhole: isWhole) } } }
        return try await remove()
    }
}
