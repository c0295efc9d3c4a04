import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Priority queue", .timeLimited)
struct PriorityQueueTests {
    private func drained(_ queue: PriorityQueue<String>) -> [String] {
        var queue = queue
        var elements: [String] = []
        while let (_, element) = queue.popFirst() { elements.append(element) }
        return elements
    }

    @Test("The highest priority is first, then the oldest or the newest element")
    func order() {
        for (newestFirst, expected) in [(false, ["c", "e", "a", "d", "b"]), (true, ["e", "c", "d", "a", "b"])] {
            var queue = PriorityQueue<String>(newestFirst: newestFirst)
            for (element, priority) in [("a", ImagePriority.normal), ("b", .low), ("c", .high), ("d", .normal)] {
                _ = queue.add(element, priority: priority)
            }
            _ = queue.add("e", priority: .high)
            #expect(drained(queue) == expected && queue.count == 5)
        }
    }

    @Test("An element whose priority changes takes the place of its arrival, and one that is removed none")
    func changes() {
        var queue = PriorityQueue<String>()
        let tickets = ["a", "b", "c", "d"].map { queue.add($0, priority: .normal) }
        let moves = [(3, ImagePriority.high), (1, .high), (1, .low), (1, .high), (0, .low), (0, .low)]
        let moved = moves.map { queue.move(tickets[$0.0], to: $0.1) }
        #expect(moved == [true, true, true, true, true, false])
        let removed = [queue.remove(tickets[2]), queue.remove(tickets[2])]
        #expect(removed == ["c", nil])
        let isMovedAfterRemoval = queue.move(tickets[2], to: .high)
        #expect(!isMovedAfterRemoval)
        let first = queue.first()
        #expect(first?.element == "b")
        #expect(drained(queue) == ["b", "d", "a"])
    }

    @Test("In any sequence of changes, the first element is that of a sorted list", arguments: [false, true])
    func model(newestFirst: Bool) {
        var queue = PriorityQueue<Int>(newestFirst: newestFirst)
        var model: [(ticket: Int, priority: ImagePriority)] = []
        var generator = SeededRandom(seed: 7)
        for step in 0..<5_000 {
            let priority = ImagePriority.allCases.randomElement(using: &generator) ?? .normal
            let index = model.indices.randomElement(using: &generator)
            switch (Int.random(in: 0..<8, using: &generator), index) {
            case (0...2, _), (_, nil): model.append((queue.add(step, priority: priority), priority))
            case (3...5, let index?):
                let isNew = model[index].priority != priority
                model[index].priority = priority
                let isMoved = queue.move(model[index].ticket, to: priority)
                #expect(isMoved == isNew)
            case (6, let index?):
                let removed = queue.remove(model.remove(at: index).ticket)
                #expect(removed != nil)
            default:
                let first = model.enumerated().max { left, right in
                    let (left, right) = (left.element, right.element)
                    guard left.priority == right.priority else { return left.priority < right.priority }
                    return newestFirst == (left.ticket < right.ticket)
                }
                let popped = queue.popFirst()
                #expect(popped?.ticket == first?.element.ticket)
                if let first { model.remove(at: first.offset) }
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty)
        }
    }
}
