/// Elements in the order of their priority. Elements of the same priority keep the order of their addition, even if they got
/// the priority later.
///
/// - Complexity: O(log *n*), amortized.
package struct PriorityQueue<Element> {
    /// The identity of an element. Later elements have larger tickets.
    package typealias Ticket = Int

    private struct Place: Sendable {
        var priority: ImagePriority
        var ticket: Ticket
    }

    private var elements: [Ticket: (element: Element, priority: ImagePriority)] = [:]
    /// A binary heap. It also has the earlier places of elements that moved or were removed, which are skipped.
    private var places: [Place] = []
    private var lastTicket: Ticket = 0
    private let newestFirst: Bool

    /// - Parameter newestFirst: true if the newest of several elements with the same priority is first, false if it's the oldest.
    package init(newestFirst: Bool = false) { self.newestFirst = newestFirst }

    package var count: Int { elements.count }
    package var isEmpty: Bool { elements.isEmpty }

    package mutating func add(_ element: Element, priority: ImagePriority) -> Ticket {
        add(element, priority: priority, as: lastTicket + 1)
        return lastTicket
    }

    /// Adds an element with a ticket of the caller's, which is larger than those before.
    package mutating func add(_ element: Element, priority: ImagePriority, as ticket: Ticket) {
        lastTicket = ticket
        elements[ticket] = (element, priority)
        insert(Place(priority: priority, ticket: ticket))
    }

    /// Changes the priority of an element.
    /// - Returns: false if the element has left the queue, or has the priority already.
    @discardableResult
    package mutating func move(_ ticket: Ticket, to priority: ImagePriority) -> Bool {
        guard let old = elements[ticket]?.priority, old != priority else { return false }
        elements[ticket]?.priority = priority
        insert(Place(priority: priority, ticket: ticket))
        return true
    }

    /// Removes an element.
    /// - Returns: `nil` if the element has left the queue.
    package mutating func remove(_ ticket: Ticket) -> Element? {
        guard let element = elements.removeValue(forKey: ticket)?.element else { return nil }
        discardOldPlaces()
        return element
    }

    /// Returns the first element without removing it.
    package mutating func first() -> (ticket: Ticket, element: Element, priority: ImagePriority)? {
        while let place = places.first {
            if let (element, priority) = elements[place.ticket], priority == place.priority {
                return (place.ticket, element, priority)
            }
            removeFirstPlace()
        }
        return nil
    }

    package mutating func popFirst() -> (ticket: Ticket, element: Element)? {
        guard let (ticket, element, _) = first() else { return nil }
        elements[ticket] = nil
        removeFirstPlace()
        return (ticket, element)
    }

    // MARK: The heap

    private func isOrdered(_ left: Place, _ right: Place) -> Bool {
        guard left.priority == right.priority else { return left.priority > right.priority }
        return newestFirst ? left.ticket > right.ticket : left.ticket < right.ticket
    }

    private mutating func insert(_ place: Place) {
        places.append(place)
        var index = places.count - 1
        while index > 0, case let parent = (index - 1) / 2, isOrdered(places[index], places[parent]) {
            places.swapAt(index, parent)
            index = parent
        }
        discardOldPlaces()
    }

    private mutating func removeFirstPlace() {
        let last = places.removeLast()
        guard !places.isEmpty else { return }
        places[0] = last
        var index = 0
        while case let left = 2 * index + 1, left < places.count {
            let right = left + 1
            let child = right < places.count && isOrdered(places[right], places[left]) ? right : left
            guard isOrdered(places[child], places[index]) else { return }
            places.swapAt(index, child)
            index = child
        }
    }

    /// Keeps the heap at about twice the number of elements at most.
    private mutating func discardOldPlaces() {
        guard places.count > 2 * elements.count + 64 else { return }
        // A sorted array is a heap.
        places = elements.map { Place(priority: $0.value.priority, ticket: $0.key) }.sorted(by: isOrdered)
    }
}

extension PriorityQueue: Sendable where Element: Sendable {}
