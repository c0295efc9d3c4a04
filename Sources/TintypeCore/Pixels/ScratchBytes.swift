/// Memory that a coder works in and nobody else sees: out of a pool, and back there when it is no longer used.
package final class ScratchBytes {
    private let memory: PixelMemory
    /// How many bytes were asked for.
    package let count: Int

    /// Memory with undefined contents, aligned to 64 bytes; `nil` if the system has none.
    package init?(_ count: Int, pool: PixelBufferPool) {
        guard let memory = pool.take(count) else { return nil }
        self.memory = memory
        self.count = count
    }

    /// Valid as long as the memory is.
    package var base: UnsafeMutableRawPointer { memory.base }
}
