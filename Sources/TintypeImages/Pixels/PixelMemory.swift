internal import Glibc

/// A block of memory for pixels, returned to its pool with the last reference.
// Sendable: the fields never change. The bytes are written only through `MutablePixelBuffer`, which has a single owner, and
// only read once a `PixelBuffer` shares them.
package final class PixelMemory: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    /// `nil` for memory that another process filled, which is unmapped.
    private let pool: PixelBufferPool?

    init(base: UnsafeMutableRawPointer, capacity: Int, pool: PixelBufferPool?) {
        self.base = base
        self.capacity = capacity
        self.pool = pool
    }

    deinit {
        if let pool { pool.giveBack(base, capacity: capacity) } else { munmap(base, capacity) }
    }

    /// The minimum size of blocks that are mapped individually with huge pages: the page faults of a fresh 48 MB block cost 18.8 ms,
    /// about as much as decoding a JPEG of that size into it, and 1.9 ms with huge pages.
    package static let mappingThreshold = 4 << 20
    static let hugePage = 2 << 20

    /// Returns true if fresh blocks are zero: the kernel clears mapped memory, malloc reuses memory that the program has freed.
    static func isZeroWhenAllocated(_ capacity: Int) -> Bool { capacity >= mappingThreshold }

    /// Allocates a block of at least `capacity` bytes, aligned to 64 bytes or more, with undefined contents.
    static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer? {
        if capacity < mappingThreshold { return aligned_alloc(64, (capacity + 63) & ~63) }
        guard
            let base = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            base != MAP_FAILED
        else { return nil }
        madvise(base, capacity, MADV_HUGEPAGE)
        return base
    }

    static func release(_ base: UnsafeMutableRawPointer, capacity: Int) {
        if capacity < mappingThreshold { free(base) } else { munmap(base, capacity) }
    }
}
