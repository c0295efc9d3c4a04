internal import Glibc

/// Several values, each with its own lock, for data that is divided to avoid contention.
///
/// All values are in one block of memory, and none shares a cache line with another. Accessing them changes no reference count,
/// which would cause contention again.
// Sendable: each value is accessed only between lock and unlock.
final class StripedLock<State: ~Copyable>: @unchecked Sendable {
    let count: Int
    private let base: UnsafeMutableRawPointer

    /// Creates the values.
    /// - Parameters:
    ///   - count: the number of values.
    ///   - makeState: returns one of the values.
    init(count: Int, _ makeState: () -> sending State) {
        self.count = max(1, count)
        base = LockedMemory<State>.allocateStripes(count: self.count)
        for index in 0..<self.count { memory(index).initialize(makeState()) }
    }

    deinit {
        for index in 0..<count { memory(index).deinitialize() }
        base.deallocate()
    }

    @inline(__always)
    private func memory(_ index: Int) -> LockedMemory<State> {
        LockedMemory(at: base + index * LockedMemory<State>.stride)
    }

    /// Runs `body` with exclusive access to one of the values.
    @inline(__always)
    func withLock<Result>(_ index: Int, _ body: (inout sending State) -> sending Result) -> sending Result {
        precondition(index >= 0 && index < count)
        return memory(index).withLock(body)
    }

    /// Runs `body` with exclusive access to all values.
    /// - Parameter body: receives a function that visits the values.
    func withAll<Result>(_ body: (_ forEach: ((inout State) -> Void) -> Void) -> Result) -> Result {
        // Always in the same order, to avoid deadlocks.
        for index in 0..<count { memory(index).lock() }
        defer { for index in 0..<count { memory(index).unlock() } }
        return body { change in for index in 0..<count { change(&memory(index).state.pointee) } }
    }
}

/// A mutex of a ``StripedLock``, followed by the value that it guards. The owner manages the memory.
///
/// It is behind a pointer, for the same reason as those of ``LockStorage``.
// Sendable: the owner accesses the value only between lock and unlock.
private struct LockedMemory<State: ~Copyable>: @unchecked Sendable {
    /// Threads that write to the same cache line wait for each other.
    private static var cacheLine: Int { 64 }
    private static var stateOffset: Int {
        let alignment = MemoryLayout<State>.alignment
        return (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
    }
    /// The distance between two values, in bytes.
    static var stride: Int { (stateOffset + MemoryLayout<State>.size + cacheLine - 1) / cacheLine * cacheLine }

    let base: UnsafeMutableRawPointer

    /// Memory for several values, each in cache lines of its own.
    static func allocateStripes(count: Int) -> UnsafeMutableRawPointer {
        .allocate(byteCount: count * stride, alignment: max(cacheLine, MemoryLayout<State>.alignment))
    }

    @inline(__always)
    init(at base: UnsafeMutableRawPointer) { self.base = base }

    @inline(__always)
    private var mutex: UnsafeMutablePointer<pthread_mutex_t> { base.assumingMemoryBound(to: pthread_mutex_t.self) }

    @inline(__always)
    var state: UnsafeMutablePointer<State> {
        (base + Self.stateOffset).assumingMemoryBound(to: State.self)
    }

    func initialize(_ value: consuming sending State) {
        base.bindMemory(to: pthread_mutex_t.self, capacity: 1).initialize(to: pthread_mutex_t())
        (base + Self.stateOffset).bindMemory(to: State.self, capacity: 1).initialize(to: value)
        initializeMutex(mutex)
    }

    func deinitialize() {
        pthread_mutex_destroy(mutex)
        state.deinitialize(count: 1)
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }

    @inline(__always)
    func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}
