/// What a cache of the same size would hold if it let go of what was not used for the longest time.
///
/// Its entries are those of an adaptive cache and its ghosts. It holds no images and costs what keeping their order costs; by it
/// the cache sees what plain LRU would have done with the same requests.
struct ShadowLRU {
    private enum Place: UInt8 { case nowhere, recent, stale }

    private struct Entry {
        var bytes = 0
        var place = Place.nowhere
        var isResident = false
    }

    private var entries: [Entry] = []
    private var links = SlotLinks()
    /// What LRU would hold, the latest first.
    private var recent = SlotList()
    private var recentBytes = 0
    /// What the cache holds and LRU would not, what was dropped last first.
    private var stale = SlotList()

    mutating func grow() {
        entries.append(Entry())
        links.grow()
    }

    /// Whether LRU would have the entry.
    @inline(__always)
    func isRecent(_ node: Slot) -> Bool { entries[Int(node)].place == .recent }

    /// The entry that the cache holds and LRU would have dropped first.
    var oldestStale: Slot? { stale.isEmpty ? nil : stale.last }

    /// An entry of the cache that is recent was used.
    @inline(__always)
    mutating func touch(_ node: Slot) { links.moveToFront(node, of: &recent) }

    /// An entry came into the cache, or LRU would have loaded it again.
    mutating func load(_ node: Slot, bytes: Int) {
        remove(node)
        entries[Int(node)] = Entry(bytes: bytes, place: .recent, isResident: true)
        links.prepend(node, to: &recent)
        recentBytes += bytes
    }

    /// An entry left the cache; LRU may still have it.
    mutating func evicted(_ node: Slot) {
        entries[Int(node)].isResident = false
        if entries[Int(node)].place == .stale { remove(node) }
    }

    /// An entry is forgotten altogether.
    mutating func remove(_ node: Slot) {
        switch entries[Int(node)].place {
        case .nowhere: break
        case .stale: links.remove(node, from: &stale)
        case .recent:
            links.remove(node, from: &recent)
            recentBytes -= entries[Int(node)].bytes
        }
        entries[Int(node)].place = .nowhere
    }

    /// Drops what LRU would drop to keep to the room.
    mutating func limit(to room: Room) {
        while recentBytes > room.bytes || recent.count > room.count, !recent.isEmpty {
            let node = recent.last
            remove(node)
            guard entries[Int(node)].isResident else { continue }
            entries[Int(node)].place = .stale
            links.prepend(node, to: &stale)
        }
    }
}
