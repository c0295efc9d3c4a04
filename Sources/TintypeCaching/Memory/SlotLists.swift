/// The position of an entry in the arrays of a memory cache.
typealias Slot = Int32

extension Slot {
    static let none: Slot = -1
}

/// The two ends of a list of slots whose links are in ``SlotLinks``.
struct SlotList {
    fileprivate(set) var first = Slot.none
    fileprivate(set) var last = Slot.none
    fileprivate(set) var count = 0

    var isEmpty: Bool { first == .none }
}

/// Links of lists of slots, stored in an array: moving a slot allocates nothing and changes no reference count.
///
/// A slot is in at most one list of the same links.
struct SlotLinks {
    private struct Link {
        var previous = Slot.none
        var next = Slot.none
    }

    private var links: [Link] = []

    /// Makes room for one more slot.
    mutating func grow() { links.append(Link()) }

    mutating func removeAll() { links.removeAll() }

    func next(after slot: Slot) -> Slot { links[Int(slot)].next }
    func previous(before slot: Slot) -> Slot { links[Int(slot)].previous }

    mutating func prepend(_ slot: Slot, to list: inout SlotList) {
        links[Int(slot)] = Link(previous: .none, next: list.first)
        if list.first == .none { list.last = slot } else { links[Int(list.first)].previous = slot }
        list.first = slot
        list.count += 1
    }

    mutating func remove(_ slot: Slot, from list: inout SlotList) {
        let link = links[Int(slot)]
        if link.previous == .none { list.first = link.next } else { links[Int(link.previous)].next = link.next }
        if link.next == .none { list.last = link.previous } else { links[Int(link.next)].previous = link.previous }
        links[Int(slot)] = Link()
        list.count -= 1
    }

    /// Moves a slot of the list to the front.
    @inline(__always)
    mutating func moveToFront(_ slot: Slot, of list: inout SlotList) {
        guard list.first != slot else { return }
        remove(slot, from: &list)
        prepend(slot, to: &list)
    }
}
