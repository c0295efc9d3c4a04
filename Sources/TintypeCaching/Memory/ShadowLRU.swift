/// The entries that a plain LRU cache of the same size would hold.
///
/// Its entries are those of an adaptive cache and its ghosts. It holds no images, and its only cost is keeping the order. It
/// shows how plain LRU would have handled the same requests.
struct ShadowLRU {
    private enum Place: UInt8 { case nowhere, recent, stale }

    private struct Entry {
        var bytes = 0
        var place = Place.nowhere
        var isResident = false
    }

    private var entries: [Entry] = []
    private var links = SlotLinks()
    /// The entries that LRU would hold, the latest first.
    private var recent = SlotList()
    private var recentBytes = 0
    /// The entries that the cache holds and LRU would not, the last dropped first.
    private var stale = SlotList()

    mutating func grow() {
        entries.append(Entry())
        links.grow()
    }

    /// Returns true if LRU would hold the entry.
    @inline(__always)
    func isRecent(_ node: Slot) -> Bool { entries[Int(node)].place == .recent }

    /// The entry that the cache holds and that LRU would have dropped first.
    var oldestStale: Slot? { stale.isEmpty ? nil : stale.last }

    /// Records the use of an entry of the cache that LRU would hold too.
    @inline(__always)
    mutating func touch(_ node: Slot) { links.moveToFront(node, of: &recent) }

    /// Records that an entry was inserted into the cache, or that LRU would have loaded it again.
    mutating func load(_ node: Slot, bytes: Int) {
        remove(node)
        entries[Int(node)] = Entry(bytes: bytes, place: .recent, isResident: true)
        links.prepend(node, to: &recent)
        recentBytes += bytes
    }

    /// Records that an entry was evicted from the cache. LRU may still hold it.
    mutating func evicted(_ node: Slot) {
        entries[Int(node)].isResident = false
        if entries[Int(node)].place == .stale { remove(node) }
    }

    /// Removes an entry completely.
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

    /// Drops the entries that LRU would evict to keep to the capacity.
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
