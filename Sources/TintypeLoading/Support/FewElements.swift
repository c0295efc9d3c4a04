/// A list that has one element most of the time, and then takes no memory from the heap.
struct FewElements<Element>: Sequence {
    private var first: Element?
    private var others: [Element] = []

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    func makeIterator() -> Iterator { Iterator(first: first, others: others.makeIterator()) }

    struct Iterator: IteratorProtocol {
        fileprivate var first: Element?
        fileprivate var others: [Element].Iterator

        mutating func next() -> Element? { first.take() ?? others.next() }
    }
}

extension FewElements: Sendable where Element: Sendable {}
