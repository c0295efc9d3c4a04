internal import Glibc

/// A mutual-exclusion lock around a value.
///
/// Tintype has one lock type so that ThreadSanitizer can follow every one: `Synchronization.Mutex` keeps its slow path in a
/// library that is not instrumented and reports races that are none. An uncontended `withLock` costs about 16 ns.
///
/// Nothing of somebody else's (a delegate, a coder, a continuation) is ever called while the lock is held.
// Sendable: the value is reached only between lock and unlock.
package final class Lock<State: ~Copyable>: @unchecked Sendable {
    private let memory: LockedMemory<State>

    package init(_ state: consuming sending State) {
        memory = LockedMemory(at: LockedMemory<State>.allocate())
        memory.initialize(state)
    }

    deinit {
        memory.deinitialize()
        memory.base.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// The signature is that of `Mutex.withLock` (SE-0433): what is not `Sendable` can neither be taken out of the lock nor be put
    /// into it while somebody else keeps a reference.
    @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try memory.withLock(body)
    }

    /// Runs `body` with exclusive access to the value, without the compiler's check that nothing of it leaves.
    ///
    /// For a value that is not `Sendable` and is handed on to a closure of the caller's, which the compiler can't follow. The caller
    /// proves that whatever leaves is used by one thread at a time.
    func withLockUnchecked<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        memory.lock()
        defer { memory.unlock() }
        return try body(&memory.state.pointee)
    }

    /// Runs `body` if nobody else has the lock.
    /// - Returns: `nil` if somebody has.
    func withLockIfFree<Result>(_ body: (inout sending State) -> sending Result) -> sending Result? {
        memory.withLockIfFree(body)
    }
}

/// Several values, each with a lock of its own, for what is divided so that threads seldom meet.
///
/// All are in one block of memory and none shares a cache line with another. No reference count is touched on the way to
/// them, for that would make the threads meet again.
// Sendable: each value is reached only between lock and unlock.
final class StripedLock<State: ~Copyable>: @unchecked Sendable {
    let count: Int
    private let base: UnsafeMutableRawPointer

    /// - Parameter makeState: makes each of the values.
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
    /// - Parameter body: gets what goes through them.
    func withAll<Result>(_ body: (_ forEach: ((inout State) -> Void) -> Void) -> Result) -> Result {
        // Always in one order, so that no two wait for each other.
        for index in 0..<count { memory(index).lock() }
        defer { for index in 0..<count { memory(index).unlock() } }
        return body { change in for index in 0..<count { change(&memory(index).state.pointee) } }
    }
}

/// A mutex and, right behind it, what it guards. The memory is the owner's.
///
/// Behind a pointer: a variable of an object would be checked for overlapping access at each use, which the mutex rules
/// out already and which costs as much as the mutex.
// Sendable: the owner reaches the value only between lock and unlock.
private struct LockedMemory<State: ~Copyable>: @unchecked Sendable {
    /// Two threads that write to one cache line wait for each other.
    private static var cacheLine: Int { 64 }
    private static var stateOffset: Int {
        let alignment = MemoryLayout<State>.alignment
        return (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
    }
    /// The bytes from one to the next.
    static var stride: Int { (stateOffset + MemoryLayout<State>.size + cacheLine - 1) / cacheLine * cacheLine }

    let base: UnsafeMutableRawPointer

    /// Memory for one value. No more aligned than `malloc` is: memory with another alignment takes several times as long to get, and
    /// a load creates about ten locks.
    static func allocate() -> UnsafeMutableRawPointer {
        .allocate(
            byteCount: stateOffset + MemoryLayout<State>.size,
            alignment: max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<State>.alignment))
    }

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
        // Spins a little before it sleeps: what is done under a lock takes less time than to wake a thread up.
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
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

    func withLockIfFree<Result>(_ body: (inout sending State) -> sending Result) -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body(&state.pointee)
    }
}
