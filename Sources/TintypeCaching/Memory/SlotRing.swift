/// An order of slots. Its links are in an array: moving a slot allocates nothing and changes no reference count.
///
/// The order is a ring, which slot 0 closes: it comes before the first slot, and after the last.
struct SlotRing {
    static let ends: Slot = 0

    private var links: [(previous: Slot, next: Slot)] = [(ends, ends)]

    /// Makes room for another slot.
    mutating func grow() { links.append((Self.ends, Self.ends)) }

    func next(after slot: Slot) -> Slot { links[slot].next }
    func previous(before slot: Slot) -> Slot { links[slot].previous }

    @inline(__always)
    mutating func insert(_ slot: Slot, after previous: Slot = ends) {
        let next = links[previous].next
        links[slot] = (previous, next)
        links[previous].next = slot
        links[next].previous = slot
    }

    @inline(__always)
    mutating func remove(_ slot: Slot) {
        let (previous, next) = links[slot]
        links[previous].next = next
        links[next].previous = previous
    }
}
