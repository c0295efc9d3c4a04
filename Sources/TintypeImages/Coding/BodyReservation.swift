internal import Synchronization

/// The bytes of an encoded image that count in a budget, until the last reference is gone.
package final class BodyReservation: Sendable {
    private let budget: DecodeBudget
    private let bytes = Atomic(0)
    /// The bytes of a body that is complete; zero until then.
    private let completeBytes = Atomic(0)

    /// - Parameter bytes: The bytes of a complete body; zero for a body that is about to arrive.
    package init(_ budget: DecodeBudget, bytes: Int = 0) {
        self.budget = budget
        if bytes > 0 { complete(bytes) }
    }

    deinit {
        budget.removeBody(
            bytes.load(ordering: .relaxed), complete: completeBytes.load(ordering: .relaxed))
    }

    /// Counts all bytes of a body. From then on, transfers wait until they are used, if there are too many.
    package func complete(_ count: Int) {
        grow(to: count)
        let count = Self.counted(count)
        guard completeBytes.compareExchange(expected: 0, desired: count, ordering: .relaxed).exchanged else { return }
        budget.completeBody(count)
    }

    /// Counts more bytes. A smaller number than before changes nothing.
    package func grow(to count: Int) {
        let count = Self.counted(count)
        let old = bytes.max(count, ordering: .relaxed).oldValue
        if count > old { budget.addBody(count - old) }
    }

    /// A loader may report any number: the sum of all loads must not overflow.
    private static func counted(_ bytes: Int) -> Int { min(max(0, bytes), 1 << 40) }
}
