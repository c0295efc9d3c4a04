/// A pool that reuses the memory of released pixel buffers.
///
/// New memory is expensive: the kernel clears each page when it is first used, which can take as long as decoding a JPEG. The pool
/// allocates blocks in size classes (eight per power of two, so at most an eighth is unused) and keeps free blocks up to a limit. A full
/// pool keeps a new block by freeing blocks of other classes, starting with the class that was released longest ago.
///
/// - Complexity: allocating and releasing a block are O(1), amortized.
public final class PixelBufferPool: Sendable {
    /// The default pool. It keeps up to 64 MB.
    public static let shared = PixelBufferPool(limit: .megabytes(64))

    /// The largest number of bytes of free memory that the pool keeps.
    package let limit: ByteCount

    private let state = Lock(State())
    private let subscription = MemoryPressure.Subscription()

    private struct FreeBlocks {
        var addresses: [UInt] = []
        /// The number of the last release.
        var lastRelease = 0
    }

    private struct State: ~Copyable {
        /// The free blocks by their capacity.
        var free: [Int: FreeBlocks] = [:]
        var freeBytes = 0
        var releases = 0
        var usedBytes = 0
        var peakBytes = 0
        var reused = 0
        var allocated = 0

        mutating func use(_ bytes: Int) {
            usedBytes += bytes
            peakBytes = max(peakBytes, usedBytes)
        }

        /// Keeps a block that was released.
        /// - Returns: The blocks to return to the system: others that make room, or the block itself if its own class fills the pool.
        mutating func keep(_ address: UInt, capacity: Int, limit: Int) -> [(address: UInt, capacity: Int)] {
            guard ((free[capacity]?.addresses.count ?? 0) + 1) * capacity <= limit else { return [(address, capacity)] }
            var evicted: [(address: UInt, capacity: Int)] = []
            while freeBytes + capacity > limit, let oldest = oldestClass(besides: capacity) {
                while freeBytes + capacity > limit, let other = free[oldest]?.addresses.popLast() {
                    freeBytes -= oldest
                    evicted.append((other, oldest))
                }
            }
            freeBytes += capacity
            releases += 1
            free[capacity, default: FreeBlocks()].addresses.append(address)
            free[capacity]?.lastRelease = releases
            return evicted
        }

        private func oldestClass(besides capacity: Int) -> Int? {
            var oldest: (capacity: Int, lastRelease: Int)?
            for (other, blocks) in free where other != capacity && !blocks.addresses.isEmpty {
                if blocks.lastRelease < oldest?.lastRelease ?? .max { oldest = (other, blocks.lastRelease) }
            }
            return oldest?.capacity
        }
    }

    /// Statistics of a pool.
    package struct Statistics: Sendable, Hashable {
        /// The number of free bytes in the pool.
        package var freeBytes: Int
        /// The number of bytes in use.
        package var usedBytes: Int
        /// The largest number of bytes that were in use at the same time.
        package var peakBytes: Int
        /// The number of blocks that were reused.
        package var reused: Int
        /// The number of blocks that were requested from the system.
        package var allocated: Int
    }

    /// Creates a pool.
    /// - Parameter limit: the largest amount of free memory that the pool keeps.
    public init(limit: ByteCount) { self.limit = limit }

    deinit { drain() }

    /// The memory in use, and the reuse of blocks so far.
    package var statistics: Statistics {
        state.withLock {
            Statistics(
                freeBytes: $0.freeBytes, usedBytes: $0.usedBytes, peakBytes: $0.peakBytes, reused: $0.reused,
                allocated: $0.allocated)
        }
    }

    /// Returns all free blocks to the system.
    package func drain() { Self.drain(state) }

    private static func drain(_ state: Lock<State>) {
        let blocks = state.withLock { state in
            state.freeBytes = 0
            defer { state.free = [:] }
            return state.free
        }
        for (capacity, blocks) in blocks {
            for address in blocks.addresses { release(address, capacity: capacity) }
        }
    }

    /// Observes a source of memory pressure and drains the pool accordingly; `nil` ends the observation.
    /// - Parameter pressure: the source of memory pressure; `nil` for none.
    package func observe(_ pressure: MemoryPressure?) {
        // Each pixel buffer refers to its pool: a weak reference to it would make that slow.
        let state = state
        subscription.replace(with: pressure) { _ in Self.drain(state) }
    }

    /// Returns a block of at least `bytes` bytes, or `nil` if the system has no memory.
    /// - Parameter cleared: false if the contents may come from an earlier image.
    func take(_ bytes: Int, cleared: Bool) -> PixelMemory? {
        let capacity = Self.sizeClass(bytes)
        let kept = state.withLock { state -> UInt? in
            state.use(capacity)
            guard let address = state.free[capacity]?.addresses.popLast() else {
                state.allocated += 1
                return nil
            }
            state.freeBytes -= capacity
            state.reused += 1
            return address
        }
        guard let base = kept.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) ?? PixelMemory.allocate(capacity)
        else {
            state.withLock { $0.usedBytes -= capacity }
            return nil
        }
        if cleared, kept != nil || !PixelMemory.isZeroWhenAllocated(capacity) {
            base.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        }
        return PixelMemory(base: base, capacity: capacity, pool: self)
    }

    func giveBack(_ base: UnsafeMutableRawPointer, capacity: Int) {
        let evicted = state.withLock { state in
            state.usedBytes -= capacity
            return state.keep(UInt(bitPattern: base), capacity: capacity, limit: limit.bytes)
        }
        for block in evicted { Self.release(block.address, capacity: block.capacity) }
    }

    /// Returns the memory that a buffer takes from a pool: its rows, rounded up to a size class.
    /// - Parameters:
    ///   - size: the size of the buffer, in pixels.
    ///   - format: the format of its pixels.
    package static func footprint(of size: PixelSize, format: PixelFormat = .rgba8) -> Int {
        guard !size.isEmpty else { return 0 }
        guard size.width < 1 << 40, size.pixelCount < 1 << 50 else { return .max }
        return sizeClass(((size.width * format.bytesPerPixel + 63) & ~63) * size.height)
    }

    private static func release(_ address: UInt, capacity: Int) {
        guard let base = UnsafeMutableRawPointer(bitPattern: address) else { return }
        PixelMemory.release(base, capacity: capacity)
    }

    /// Returns the smallest size class for `bytes`: a power of two and a number of its eighths; whole huge pages for large blocks.
    static func sizeClass(_ bytes: Int) -> Int {
        let wanted = max(bytes, 1_024)
        let power = 1 << (Int.bitWidth - 1 - wanted.leadingZeroBitCount)
        let step = power / 8
        let size = (wanted + step - 1) / step * step
        guard size >= PixelMemory.mappingThreshold else { return size }
        return (size + PixelMemory.hugePage - 1) & ~(PixelMemory.hugePage - 1)
    }
}
