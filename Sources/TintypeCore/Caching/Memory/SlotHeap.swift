/// Slots in the order of a priority that only ever rises: the lowest is found first.
///
/// Raising a priority is one assignment; the slot finds its new place when it comes to the top. So hits cost nothing
/// here, and what they would have cost is paid, once for each slot and not for each hit, when something has to go.
///
/// - Complexity: `raise` is O(1), everything else O(log n), amortised.
struct SlotHeap {
    private struct Node {
        var slot: Slot
        /// The priority by which the node was put in its place, which is at most the slot's.
        var filed: Double
    }

    private var nodes: [Node] = []
    private var places: [Int32] = []
    private var priorities: [Double] = []

    var isEmpty: Bool { nodes.isEmpty }

    mutating func grow() {
        places.append(-1)
        priorities.append(0)
    }

    mutating func insert(_ slot: Slot, priority: Double) {
        priorities[Int(slot)] = priority
        nodes.append(Node(slot: slot, filed: priority))
        siftUp(nodes.count - 1)
    }

    /// Gives a slot of the heap a priority that is not lower than its own.
    @inline(__always)
    mutating func raise(_ slot: Slot, to priority: Double) { priorities[Int(slot)] = priority }

    /// The slot with the lowest priority, which stays where it is.
    mutating func lowest() -> (slot: Slot, priority: Double)? {
        while let top = nodes.first {
            let priority = priorities[Int(top.slot)]
            if priority == top.filed { return (top.slot, priority) }
            nodes[0].filed = priority
            siftDown(0)
        }
        return nil
    }

    mutating func popLowest() -> (slot: Slot, priority: Double)? {
        guard let lowest = lowest() else { return nil }
        remove(lowest.slot)
        return lowest
    }

    mutating func remove(_ slot: Slot) {
        let place = Int(places[Int(slot)])
        places[Int(slot)] = -1
        let last = nodes.removeLast()
        guard place < nodes.count else { return }
        nodes[place] = last
        siftDown(place)
        siftUp(Int(places[Int(last.slot)]))
    }

    private mutating func siftUp(_ start: Int) {
        let node = nodes[start]
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard node.filed < nodes[parent].filed else { break }
            put(nodes[parent], at: place)
            place = parent
        }
        put(node, at: place)
    }

    private mutating func siftDown(_ start: Int) {
        let node = nodes[start]
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, nodes[child + 1].filed < nodes[child].filed { child += 1 }
            guard nodes[child].filed < node.filed else { break }
            put(nodes[child], at: place)
            place = child
        }
        put(node, at: place)
    }

    private mutating func put(_ node: Node, at place: Int) {
        nodes[place] = node
        places[Int(node.slot)] = Int32(place)
    }
}
