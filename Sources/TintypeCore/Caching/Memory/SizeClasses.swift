/// The entries of each size class of a memory cache, in the order of their use.
struct SizeClasses {
    private let classes: [MemoryCache.SizeClass]
    private var lists: [SlotList]
    private var classOfSlots: [UInt8] = []
    private var links = SlotLinks()

    /// - Parameter classes: in any order; the first 255 count.
    init(_ classes: [MemoryCache.SizeClass]) {
        self.classes = Array(classes.sorted { $0.upTo < $1.upTo }.prefix(255))
        lists = [SlotList](repeating: SlotList(), count: self.classes.count)
    }

    var isEmpty: Bool { classes.isEmpty }

    /// The largest image for which there is a class; `nil` if there are no classes.
    var largestEntry: ByteCount? { classes.last?.upTo }

    mutating func grow() {
        guard !isEmpty else { return }
        classOfSlots.append(0)
        links.grow()
    }

    /// The entry that has to go from the class of the new one, if that has too many now.
    mutating func inserted(_ slot: Slot, cost: Int) -> Slot? {
        guard !isEmpty else { return nil }
        // What became too large for every class waits in the last one; the cache lets go of it.
        let index = classes.firstIndex { cost <= $0.upTo.bytes } ?? classes.count - 1
        classOfSlots[Int(slot)] = UInt8(index)
        links.prepend(slot, to: &lists[index])
        return lists[index].count > max(0, classes[index].count) ? lists[index].last : nil
    }

    mutating func used(_ slot: Slot) { links.moveToFront(slot, of: &lists[Int(classOfSlots[Int(slot)])]) }

    mutating func removed(_ slot: Slot) {
        guard !isEmpty else { return }
        links.remove(slot, from: &lists[Int(classOfSlots[Int(slot)])])
    }
}
