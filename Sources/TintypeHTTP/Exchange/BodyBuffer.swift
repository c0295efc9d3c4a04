#if HTTP
internal import FoundationEssentials
internal import Glibc

/// The only copy of a body while it arrives.
///
/// The memory comes from `malloc` and grows with `realloc`. The C library moves large blocks by changing page tables, so that
/// a growing body is not copied, and pages that were reserved but not written take no memory. ``takeData()`` hands the same
/// memory over without copying it.
struct BodyBuffer: ~Copyable {
    private(set) var count = 0
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0

    /// The capacity from which glibc always maps a block of its own (`DEFAULT_MMAP_THRESHOLD_MAX`), which grows without a copy.
    /// No more is reserved because a server announces it.
    static let maximumReservation = 33 * 1_024 * 1_024

    /// - Parameter expected: the announced length of the body, if there is one.
    init(expected: Int?) {
        if let expected { grow(to: min(expected, Self.maximumReservation)) }
    }

    deinit { free(base) }

    var isEmpty: Bool { count == 0 }

    /// Appends bytes.
    /// - Returns: false if the system has no memory for them.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return true }
        let (needed, isTooMuch) = count.addingReportingOverflow(bytes.count)
        guard !isTooMuch else { return false }
        if needed > capacity {
            // Memory that stays unused is given back at the end.
            let (double, isHuge) = max(capacity, 32 * 1_024).multipliedReportingOverflow(by: 2)
            if isHuge || needed > double || !grow(to: double) {
                guard grow(to: needed) else { return false }
            }
        }
        guard let base else { return false }
        memcpy(base + count, source, bytes.count)
        count = needed
        return true
    }

    /// Hands the bytes over. The buffer is empty afterward.
    mutating func takeData() -> Data {
        guard count > 0, let memory = realloc(base, count) ?? base else { return Data() }
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        (base, count, capacity) = (nil, 0, 0)
        return data
    }

    @discardableResult
    private mutating func grow(to newCapacity: Int) -> Bool {
        guard newCapacity > capacity else { return true }
        guard let memory = realloc(base, newCapacity) else { return false }
        base = memory
        capacity = newCapacity
        return true
    }
}
#endif
