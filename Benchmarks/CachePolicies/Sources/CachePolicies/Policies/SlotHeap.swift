@testable import TintypeCaching

/// Slots ordered by a priority that only rises, lowest first.
///
/// Raising a priority is a single assignment. The slot moves to its new position when it reaches the top. So hits cost almost
/// nothing, and the reordering is paid for once per slot at an eviction, not at each hit.
///
/// - Complexity: `raise` is O(1), everything else O(log n), amortized.
struct SlotHeap {
    private struct Node {
        var slot: Slot
        /// The priority by which the node was positioned, which is at most the slot's priority.
        var filed: Double
    }

    private var nodes: [Node] = []
    private var places: [Int] = []
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

    /// Raises the priority of a slot of the heap.
    @inline(__always)
    mutating func raise(_ slot: Slot, to priority: Double) { priorities[Int(slot)] = priority }

    /// Returns the slot with the lowest priority without removing it.
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
        places[Int(node.slot)] = Int(place)
    }
}
