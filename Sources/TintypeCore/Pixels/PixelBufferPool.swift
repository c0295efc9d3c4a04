/// Keeps the memory of pixel buffers that nobody uses any more for the next ones.
///
/// Fresh memory is expensive: the kernel clears each page when it is first touched, which was measured to cost as much as
/// decoding a JPEG. The pool hands out blocks in size classes (four to each power of two, so at most a quarter is slack) and
/// keeps up to ``limit`` bytes of free ones.
///
/// - Complexity: taking and giving back are O(1).
public final class PixelBufferPool: Sendable {
    /// The pool that is used unless another is given. It keeps up to 64 MB.
    public static let shared = PixelBufferPool(limit: .megabytes(64))

    /// How many bytes of free memory the pool keeps at most.
    public let limit: ByteCount

    private let state = Lock(State())
    private let subscription = MemoryPressure.Subscription()

    private struct State: ~Copyable {
        var free: [Int: [UInt]] = [:]  // capacity → addresses of free blocks
        var freeBytes = 0
        var usedBytes = 0
        var peakBytes = 0
        var reused = 0
        var allocated = 0

        mutating func use(_ bytes: Int) {
            usedBytes += bytes
            peakBytes = max(peakBytes, usedBytes)
        }
    }

    /// What a pool has done so far.
    public struct Statistics: Sendable, Hashable {
        /// Bytes that are free and kept.
        public var freeBytes: Int
        /// Bytes that are handed out.
        public var usedBytes: Int
        /// The most bytes that were handed out at one time.
        public var peakBytes: Int
        /// Blocks that were handed out again.
        public var reused: Int
        /// Blocks that had to be asked of the system.
        public var allocated: Int
    }

    public init(limit: ByteCount) { self.limit = limit }

    deinit { drain() }

    public var statistics: Statistics {
        state.withLock {
            Statistics(
                freeBytes: $0.freeBytes, usedBytes: $0.usedBytes, peakBytes: $0.peakBytes, reused: $0.reused,
                allocated: $0.allocated)
        }
    }

    /// Gives all free blocks back to the system.
    public func drain() {
        let blocks = state.withLock { state in
            state.freeBytes = 0
            defer { state.free = [:] }
            return state.free
        }
        for (capacity, addresses) in blocks {
            for address in addresses { Self.release(address, capacity: capacity) }
        }
    }

    /// Drains by itself from now on when memory is scarce; `nil` to no longer do so.
    public func observe(_ pressure: MemoryPressure?) {
        subscription.replace(with: pressure) { [weak self] _ in self?.drain() }
    }

    /// A block of at least `bytes` bytes with undefined contents, or `nil` if the system has none.
    func take(_ bytes: Int) -> PixelMemory? {
        let capacity = Self.sizeClass(bytes)
        let kept = state.withLock { state -> UInt? in
            state.use(capacity)
            guard let address = state.free[capacity]?.popLast() else {
                state.allocated += 1
                return nil
            }
            state.freeBytes -= capacity
            state.reused += 1
            return address
        }
        let base = kept.flatMap { UnsafeMutableRawPointer(bitPattern: $0) } ?? PixelMemory.allocate(capacity)
        if base == nil { state.withLock { $0.usedBytes -= capacity } }
        return base.map { PixelMemory(base: $0, capacity: capacity, pool: self) }
    }

    func giveBack(_ base: UnsafeMutableRawPointer, capacity: Int) {
        let keep = state.withLock { state in
            state.usedBytes -= capacity
            guard state.freeBytes + capacity <= limit.bytes else { return false }
            state.freeBytes += capacity
            state.free[capacity, default: []].append(UInt(bitPattern: base))
            return true
        }
        if !keep { PixelMemory.release(base, capacity: capacity) }
    }

    /// The memory that a buffer of a size takes out of a pool: its rows, and what the size class adds.
    public static func footprint(of size: PixelSize, format: PixelFormat = .rgba8) -> Int {
        guard !size.isEmpty else { return 0 }
        guard size.width < 1 << 40, size.pixelCount < 1 << 50 else { return .max }
        return sizeClass(((size.width * format.bytesPerPixel + 63) & ~63) * size.height)
    }

    private static func release(_ address: UInt, capacity: Int) {
        guard let base = UnsafeMutableRawPointer(bitPattern: address) else { return }
        PixelMemory.release(base, capacity: capacity)
    }

    /// The next of the sizes 1, 1.25, 1.5 and 1.75 × a power of two that holds `bytes`; whole huge pages for large blocks.
    static func sizeClass(_ bytes: Int) -> Int {
        let wanted = max(bytes, 4_096)
        let power = 1 << (Int.bitWidth - 1 - wanted.leadingZeroBitCount)
        let step = power / 4
        let size = (wanted + step - 1) / step * step
        guard size >= PixelMemory.mappingThreshold else { return size }
        return (size + PixelMemory.hugePage - 1) & ~(PixelMemory.hugePage - 1)
    }
}
