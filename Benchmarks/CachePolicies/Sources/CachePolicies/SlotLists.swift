@testable import TintypeCaching

/// The two ends of a list of slots whose links are in ``SlotLinks``.
struct SlotList {
    /// Beyond the ends of a list.
    static let end: Slot = -1

    fileprivate(set) var first = end
    fileprivate(set) var last = end
    fileprivate(set) var count = 0

    var isEmpty: Bool { first == Self.end }
}

/// Links of lists of slots, stored in an array: moving a slot allocates nothing and changes no reference count.
///
/// A slot is never in two lists of the same links.
struct SlotLinks {
    private struct Link {
        var previous = SlotList.end
        var next = SlotList.end
    }

    private var links: [Link] = []

    /// Makes room for another slot.
    mutating func grow() { links.append(Link()) }

    func next(after slot: Slot) -> Slot { links[slot].next }
    func previous(before slot: Slot) -> Slot { links[slot].previous }

    mutating func prepend(_ slot: Slot, to list: inout SlotList) {
        links[slot] = Link(previous: SlotList.end, next: list.first)
        if list.first == SlotList.end { list.last = slot } else { links[list.first].previous = slot }
        list.first = slot
        list.count += 1
    }

    mutating func remove(_ slot: Slot, from list: inout SlotList) {
        let link = links[slot]
        if link.previous == SlotList.end { list.first = link.next } else { links[link.previous].next = link.next }
        if link.next == SlotList.end { list.last = link.previous } else { links[link.next].previous = link.previous }
        list.count -= 1
    }

    /// Moves a slot, as each hit does. To remove and prepend it would take 4 ns more, since those count, and look for both ends.
    @inline(__always)
    mutating func moveToFront(_ slot: Slot, of list: inout SlotList) {
        guard list.first != slot else { return }
        let link = links[slot]
        links[link.previous].next = link.next
        if link.next == SlotList.end { list.last = link.previous } else { links[link.next].previous = link.previous }
        links[slot] = Link(previous: SlotList.end, next: list.first)
        links[list.first].previous = slot
        list.first = slot
    }
}
