/// Working memory of a coder, taken from a pool and returned to it.
package final class ScratchBytes {
    private let memory: PixelMemory
    /// The requested number of bytes.
    package let count: Int

    /// Allocates memory, aligned to 64 bytes; `nil` if the system has none.
    /// - Parameter cleared: false to leave the contents undefined, for Swift code that writes all that it reads.
    package init?(_ count: Int, cleared: Bool = true, pool: PixelBufferPool) {
        guard let memory = pool.take(count, cleared: cleared) else { return nil }
        self.memory = memory
        self.count = count
    }

    /// The address, which is valid as long as this object exists.
    package var base: UnsafeMutableRawPointer { memory.base }
}
