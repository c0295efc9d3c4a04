package import FoundationEssentials
internal import Glibc

/// The bytes of a load while they arrive: one buffer that grows, and that decoders can read meanwhile.
///
/// The memory comes from `malloc` and grows with `realloc`. The C library moves large blocks by changing page tables, so that a growing
/// body is not copied, and pages that were reserved but not written take no memory. A block that is being read is never moved: if it has
/// to grow, a larger one takes its place.
package final class ArrivingBytes: Sendable {
    // Sendable: bytes are written once, behind all those that views have, by the owner of the lock; the rest is only changed while
    // nothing else refers to the block.
    private final class Block: @unchecked Sendable {
        var base: UnsafeMutableRawPointer?
        var capacity = 0

        deinit { free(base) }
    }

    private struct State {
        var block = Block()
        var count = 0
    }

    private let state = Lock(State())
    private let expected: Int?

    /// The capacity at which glibc starts to map each block separately (`DEFAULT_MMAP_THRESHOLD_MAX`); a mapped block grows without a
    /// copy. No more is reserved because a source announces it.
    static let maximumReservation = 33 * 1_024 * 1_024
    /// The capacity of a body of unknown size that is larger than ``maximumReservation``.
    private static let largeCapacity = 256 * 1_024 * 1_024

    /// - Parameter expected: The announced number of bytes, if any, within the limit for it.
    package init(expected: Int? = nil) {
        self.expected = expected
        if let expected, expected > 0 {
            state.withLock { state in _ = Self.grow(&state, to: min(expected, Self.maximumReservation)) }
        }
    }

    package var count: Int { state.withLock { $0.count } }

    /// Appends bytes.
    /// - Returns: false if there isn't enough memory for them.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return true }
        return state.withLock { state in
            let (needed, isTooMuch) = state.count.addingReportingOverflow(bytes.count)
            guard !isTooMuch, makeRoom(for: needed, &state), let base = state.block.base else { return false }
            memcpy(base + state.count, source, bytes.count)
            state.count = needed
            return true
        }
    }

    package func append(_ bytes: Data) -> Bool { bytes.withUnsafeBytes { append($0) } }

    /// The bytes so far, without a copy. They must not be changed.
    package var data: Data {
        state.withLock { state in
            guard state.count > 0, let base = state.block.base else { return Data() }
            let block = state.block
            return Data(
                bytesNoCopy: base, count: state.count, deallocator: .custom { _, _ in withExtendedLifetime(block) {} })
        }
    }

    /// A copy of a part of the bytes, within those so far.
    package func copy(_ range: Range<Int>) -> Data {
        state.withLock { state in
            let range = range.clamped(to: 0..<state.count)
            guard !range.isEmpty, let base = state.block.base else { return Data() }
            return Data(bytes: base + range.lowerBound, count: range.count)
        }
    }

    /// Hands all bytes over, without a copy unless they are still being read. The buffer is empty afterward.
    package func takeData() -> Data {
        let own = state.withLock { state -> Data? in
            guard state.count > 0 else { return Data() }
            guard isKnownUniquelyReferenced(&state.block), let base = state.block.base else { return nil }
            let memory = state.count < state.block.capacity ? realloc(base, state.count) ?? base : base
            let data = Data(bytesNoCopy: memory, count: state.count, deallocator: .free)
            (state.block.base, state.block.capacity, state.count) = (nil, 0, 0)
            return data
        }
        if let own { return own }
        let data = self.data
        state.withLock { $0 = State() }
        return data
    }

    private func makeRoom(for needed: Int, _ state: inout State) -> Bool {
        let capacity = state.block.capacity
        guard needed > capacity else { return true }
        // Memory that stays unused is given back at the end.
        let (double, isHuge) = max(capacity, 32 * 1_024).multipliedReportingOverflow(by: 2)
        var wishes: [Int] = isHuge ? [] : [double]
        // Large blocks get their final size at once, so that readers don't make them move.
        if needed > Self.maximumReservation { wishes.insert(expected ?? Self.largeCapacity, at: 0) }
        for wish in wishes where wish >= needed { if Self.grow(&state, to: wish) { return true } }
        return Self.grow(&state, to: needed)
    }

    private static func grow(_ state: inout State, to capacity: Int) -> Bool {
        if isKnownUniquelyReferenced(&state.block) {
            guard let memory = realloc(state.block.base, capacity) else { return false }
            state.block.base = memory
            state.block.capacity = capacity
            return true
        }
        guard let memory = malloc(capacity) else { return false }
        if let base = state.block.base { memcpy(memory, base, state.count) }
        let block = Block()
        (block.base, block.capacity) = (memory, capacity)
        state.block = block
        return true
    }
}
