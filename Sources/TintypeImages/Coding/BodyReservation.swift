internal import Synchronization

/// The bytes of an encoded image that count in a budget, until the last reference is gone.
package final class BodyReservation: Sendable {
    private let budget: DecodeBudget
    private let bytes = Atomic(0)

    package init(_ budget: DecodeBudget, bytes: Int = 0) {
        self.budget = budget
        grow(to: bytes)
    }

    deinit { budget.removeBody(bytes.load(ordering: .relaxed)) }

    /// Counts more bytes. A smaller number than before changes nothing.
    package func grow(to count: Int) {
        let count = Self.counted(count)
        let old = bytes.max(count, ordering: .relaxed).oldValue
        if count > old { budget.addBody(count - old) }
    }

    /// A loader may report any number: the sum of all loads must not overflow.
    private static func counted(_ bytes: Int) -> Int { min(max(0, bytes), 1 << 40) }
}
