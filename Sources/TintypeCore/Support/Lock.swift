internal import Glibc

/// A mutual-exclusion lock around a value.
///
/// Tintype has one lock type so that ThreadSanitizer can follow every one: `Synchronization.Mutex` keeps its slow path in a
/// library that is not instrumented and reports races that are none. An uncontended `withLock` costs about 16 ns.
///
/// Nothing of somebody else's (a delegate, a coder, a continuation) is ever called while the lock is held.
// Sendable: `state` is reached only between lock and unlock.
public final class Lock<State: ~Copyable>: @unchecked Sendable {
    // Behind a pointer: a variable of an object would be checked for overlapping access at each use, which the mutex rules
    // out already and which costs as much as the mutex.
    private let state: UnsafeMutablePointer<State>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    public init(_ state: consuming sending State) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}
