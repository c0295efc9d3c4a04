/// The entries of each size class of a memory cache, in the order of their use.
struct SizeClasses {
    private let classes: [MemoryCache.SizeClass]
    private var lists: [SlotList]
    private var classOfSlots: [UInt8] = []
    private var links = SlotLinks()

    /// Creates empty classes.
    /// - Parameter classes: the classes in any order. Only the first 255 are used.
    init(_ classes: [MemoryCache.SizeClass]) {
        self.classes = Array(classes.sorted { $0.upTo < $1.upTo }.prefix(255))
        lists = [SlotList](repeating: SlotList(), count: self.classes.count)
    }

    var isEmpty: Bool { classes.isEmpty }

    /// The size of the largest class; `nil` if there are no classes.
    var largestEntry: ByteCount? { classes.last?.upTo }

    mutating func grow() {
        guard !isEmpty else { return }
        classOfSlots.append(0)
        links.grow()
    }

    /// Records a new entry, and returns the entry of its class to evict if the class is full.
    mutating func inserted(_ slot: Slot, cost: Int) -> Slot? {
        guard !isEmpty else { return nil }
        // An entry that has become too large for every class waits in the last one until the cache evicts it.
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
