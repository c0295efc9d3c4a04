/// Keeps the images that save the most time for their bytes, or the most recently used ones where that works better.
///
/// - New entries go into a *window*, a queue. An entry that is used there, or requested again soon after its eviction, moves
///   into the *main* part. The main part evicts the entry with the lowest value: the number of its uses, multiplied by the cost
///   of a miss for each of its bytes (GreedyDual-Size-Frequency: Cherkasova, 1998). Each eviction raises the value of all later
///   entries, so old entries age.
/// - The keys of evicted entries are remembered as *ghosts*, up to the size of the cache. When a ghost is requested again, it
///   shows which part was too small, and the border between the parts moves (as in ARC: Megiddo and Modha, 2003).
/// - A ``ShadowLRU`` tracks the entries that plain LRU would hold. While LRU would have cost less, its choice is followed (see
///   ``LossComparison``).
/// - A new entry that needs more than a quarter of the capacity is evicted before any other. If it is requested again, it
///   stays.
///
/// `Documentation/cache-policy.md` has the measurements.
///
/// - Complexity: a use is O(1), everything else O(log n), amortized. About 200 bytes for each entry, including ghosts.
struct AdaptiveEviction: EvictionPolicy {
    private enum Part: UInt8 { case window, main, windowGhosts, mainGhosts }

    /// An entry of the cache, or a ghost.
    private struct Node {
        var key = 0
        /// The slot of the entry in the cache; none for a ghost.
        var slot = Slot.none
        var bytes = 0
        /// The time of a miss for each byte, in milliseconds.
        var density = 0.0
        var uses: Int32 = 0
        var part = Part.window
    }

    /// The largest number of uses that is counted, so that formerly popular entries can be evicted.
    private static let mostUses: Int32 = 15

    private var nodes: [Node] = []
    private var free: [Slot] = []
    private var nodesOfSlots: [Slot] = []
    private var nodesOfGhosts: [Int: Slot] = [:]

    private var links = SlotLinks()
    private var window = SlotList()
    private var windowGhosts = SlotList()
    private var mainGhosts = SlotList()
    private var main = SlotHeap()
    /// The bytes of each part.
    private var bytes = PartBytes()
    /// The bytes that the window may hold; the rest is for the main part.
    private var windowTarget = 0.0
    /// The value of the entry that was last evicted from the main part.
    private var age = 0.0

    private var shadow = ShadowLRU()
    private var comparison = LossComparison()
    private var room = Room(bytes: .max)
    private var count = 0
    /// The time to load everything in the cache, in milliseconds.
    private var fill = 0.0

    private struct PartBytes {
        var window = 0, main = 0, windowGhosts = 0, mainGhosts = 0
        var held: Int { window + main }
    }

    /// True while LRU is followed; for tests.
    var prefersLRU: Bool { comparison.prefersLRU }

    mutating func grow() { nodesOfSlots.append(.none) }

    // MARK: Insertions and uses

    mutating func inserted(_ slot: Slot, key: Int, cost: Int) {
        let cost = max(1, cost)
        let time = LossComparison.timeOfMiss(bytes: cost)
        let ghost = nodesOfGhosts.removeValue(forKey: key)
        let node = ghost ?? makeNode()
        var uses: Int32 = 1
        if let ghost {
            uses = min(Self.mostUses, nodes[Int(ghost)].uses + 1)
            moveBorder(for: ghost, cost: cost)
            detach(ghost)
        }
        nodes[Int(node)] = Node(key: key, slot: slot, bytes: cost, density: time / Double(cost), uses: uses)
        attach(node, to: ghost == nil ? .window : .main)
        nodesOfSlots[Int(slot)] = node
        count += 1
        fill += time
        comparison.missed(time, byPolicy: true, byLRU: !shadow.isRecent(node), fill: fill)
        shadow.load(node, bytes: cost)
    }

    @inline(__always)
    mutating func used(_ slot: Slot) { used(slot, times: 1) }

    /// Records several uses since the last insertion or removal. Among the uses of other entries, they count at the time of the
    /// last one.
    /// - Parameter times: 1 to 1,000.
    @inline(__always)
    mutating func used(_ slot: Slot, times: Int32) {
        let node = nodesOfSlots[Int(slot)]
        let uses = min(Self.mostUses, nodes[Int(node)].uses + times)
        nodes[Int(node)].uses = uses
        if nodes[Int(node)].part == .main { main.raise(node, to: age + Double(uses) * nodes[Int(node)].density) }
        if shadow.isRecent(node) { shadow.touch(node) } else { usedStale(node) }
    }

    /// Records a use that LRU would have missed.
    @inline(never)
    private mutating func usedStale(_ node: Slot) {
        let cost = nodes[Int(node)].bytes
        comparison.missed(LossComparison.timeOfMiss(bytes: cost), byPolicy: false, byLRU: true, fill: fill)
        shadow.load(node, bytes: cost)
        // The last requested room may have been exceptionally small.
        shadow.limit(to: Room(bytes: max(room.bytes, bytes.held), count: max(room.count, count)))
    }

    /// Moves the border when a ghost is requested again: the part that it was in should have been larger.
    private mutating func moveBorder(for ghost: Slot, cost: Int) {
        func ratio(_ other: Int, _ own: Int) -> Double { max(1, Double(other) / Double(max(1, own))) }
        if nodes[Int(ghost)].part == .windowGhosts {
            windowTarget += Double(cost) * ratio(bytes.mainGhosts, bytes.windowGhosts)
        } else {
            windowTarget -= Double(cost) * ratio(bytes.windowGhosts, bytes.mainGhosts)
        }
        windowTarget = min(max(0, windowTarget), Double(bytes.held))
    }

    // MARK: Evictions

    mutating func removed(_ slot: Slot) {
        let node = nodesOfSlots[Int(slot)]
        leave(node)
        shadow.remove(node)
        free.append(node)
    }

    mutating func evict(room: Room, newcomer: Slot?) -> Slot? {
        self.room = room
        shadow.limit(to: room)
        guard let node = victim(room, newcomer) else { return nil }
        let slot = nodes[Int(node)].slot
        let wasMain = nodes[Int(node)].part == .main
        leave(node)
        shadow.evicted(node)
        becomeGhost(node, of: wasMain ? .mainGhosts : .windowGhosts)
        limitGhosts(room)
        return slot
    }

    private mutating func victim(_ room: Room, _ newcomer: Slot?) -> Slot? {
        if comparison.prefersLRU, let oldest = shadow.oldestStale { return oldest }
        if let newcomer, !hasEarned(newcomer, room) { return nodesOfSlots[Int(newcomer)] }
        while !window.isEmpty, main.isEmpty || Double(bytes.window) > windowTarget {
            let oldest = window.last
            guard nodes[Int(oldest)].uses > 1 else { return oldest }
            detach(oldest)
            attach(oldest, to: .main)
        }
        guard let (node, worth) = main.lowest() else { return nil }
        age = max(age, worth)
        return node
    }

    /// Returns true if other entries should be evicted for a new one: if it is small, or was requested before.
    private func hasEarned(_ newcomer: Slot, _ room: Room) -> Bool {
        let node = nodes[Int(nodesOfSlots[Int(newcomer)])]
        return node.bytes <= room.bytes / 4 || node.uses > 1
    }

    /// Removes an entry from its part.
    private mutating func leave(_ node: Slot) {
        detach(node)
        count -= 1
        // Rounding errors of the sum add up, so an empty cache resets it.
        fill = count == 0 ? 0 : max(0, fill - LossComparison.timeOfMiss(bytes: nodes[Int(node)].bytes))
        nodes[Int(node)].slot = .none
    }

    // MARK: Ghosts

    private mutating func becomeGhost(_ node: Slot, of part: Part) {
        // If two keys have the same hash, the newer ghost replaces the older one.
        if let other = nodesOfGhosts[nodes[Int(node)].key] { forget(other) }
        nodesOfGhosts[nodes[Int(node)].key] = node
        attach(node, to: part)
    }

    /// Limits the ghosts to the bytes that would fill the cache once. The window's ghosts are removed first while they and the
    /// window exceed that. The number of ghosts is limited too, for the case that large images replaced very small ones.
    private mutating func limitGhosts(_ room: Room) {
        let most = max(1_024, 2 * count)
        while bytes.windowGhosts + bytes.mainGhosts > room.bytes || windowGhosts.count + mainGhosts.count > most {
            let dropsWindow = mainGhosts.isEmpty || bytes.window + bytes.windowGhosts > room.bytes
            let oldest = dropsWindow && !windowGhosts.isEmpty ? windowGhosts.last : mainGhosts.last
            guard oldest != .none else { return }
            forget(oldest)
        }
    }

    private mutating func forget(_ ghost: Slot) {
        nodesOfGhosts[nodes[Int(ghost)].key] = nil
        detach(ghost)
        shadow.remove(ghost)
        free.append(ghost)
    }

    // MARK: Nodes

    private mutating func makeNode() -> Slot {
        if let node = free.popLast() { return node }
        nodes.append(Node())
        links.grow()
        main.grow()
        shadow.grow()
        return Slot(nodes.count - 1)
    }

    private mutating func attach(_ node: Slot, to part: Part) {
        nodes[Int(node)].part = part
        let cost = nodes[Int(node)].bytes
        switch part {
        case .window:
            links.prepend(node, to: &window)
            bytes.window += cost
        case .main:
            main.insert(node, priority: age + Double(nodes[Int(node)].uses) * nodes[Int(node)].density)
            bytes.main += cost
        case .windowGhosts:
            links.prepend(node, to: &windowGhosts)
            bytes.windowGhosts += cost
        case .mainGhosts:
            links.prepend(node, to: &mainGhosts)
            bytes.mainGhosts += cost
        }
    }

    private mutating func detach(_ node: Slot) {
        let cost = nodes[Int(node)].bytes
        switch nodes[Int(node)].part {
        case .window:
            links.remove(node, from: &window)
            bytes.window -= cost
        case .main:
            main.remove(node)
            bytes.main -= cost
        case .windowGhosts:
            links.remove(node, from: &windowGhosts)
            bytes.windowGhosts -= cost
        case .mainGhosts:
            links.remove(node, from: &mainGhosts)
            bytes.mainGhosts -= cost
        }
    }
}
