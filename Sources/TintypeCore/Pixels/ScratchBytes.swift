/// Working memory of a coder, taken from a pool and returned to it.
package final class ScratchBytes {
    private let memory: PixelMemory
    /// The requested number of bytes.
    package let count: Int

    /// Allocates memory with undefined contents, aligned to 64 bytes; `nil` if the system has none.
    package init?(_ count: Int, pool: PixelBufferPool) {
        guard let memory = pool.take(count) else { return nil }
        self.memory = memory
        self.count = count
    }

    /// The address, which is valid as long as this object exists.
    package var base: UnsafeMutableRawPointer { memory.base }
}
