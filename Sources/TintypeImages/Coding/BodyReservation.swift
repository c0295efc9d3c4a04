internal import Synchronization

/// The bytes of an encoded image that count in a budget, until the last reference is gone.
package final class BodyReservation: Sendable {
    package let budget: DecodeBudget
    private let bytes = Atomic(0)

    package init(_ budget: DecodeBudget) { self.budget = budget }

    deinit { budget.removeBody(bytes.load(ordering: .relaxed)) }

    /// Counts more bytes. A smaller number than before changes nothing.
    package func grow(to count: Int) {
        // A loader may report any number: the sum of all loads must not overflow.
        let count = min(max(0, count), 1 << 40)
        let old = bytes.max(count, ordering: .relaxed).oldValue
        if count > old { budget.addBody(count - old) }
    }
}
