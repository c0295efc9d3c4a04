public import Glibc

/// A mutual-exclusion lock around a value. Copies share the lock and the value.
///
/// Tintype has a single lock type so that ThreadSanitizer can follow every lock: `Synchronization.Mutex` keeps its slow path in a
/// library that is not instrumented, which causes false reports. An uncontended `withLock` costs about 16 ns.
///
/// No code of another component (a delegate, a coder, a continuation) is ever called while the lock is held.
// Sendable: the value is accessed only between lock and unlock.
@usableFromInline
package struct Lock<State: ~Copyable>: @unchecked Sendable {
    @usableFromInline package let storage: LockStorage<State>

    @inlinable
    package init(_ state: consuming sending State) {
        storage = .make(state)
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// The signature is the same as `Mutex.withLock` (SE-0433): a value that isn't `Sendable` can neither leave the lock nor enter
    /// it while a reference remains elsewhere.
    // Inlinable, and so is the type, because other modules would call it without knowing the types, which takes several times as long.
    @inlinable @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (mutex, state) = storage.pointers
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            withExtendedLifetime(storage) {}
        }
        return try body(&state.pointee)
    }

    /// Runs `body` with exclusive access to the value, without the compiler's check that no part of it leaves the lock.
    ///
    /// Use it for a value that is not `Sendable` and is passed to a closure of the caller, which the compiler can't follow. The
    /// caller has to prove that only a single thread at a time uses any part that leaves the lock.
    @inlinable @inline(__always)
    package func withLockUnchecked<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (mutex, state) = storage.pointers
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            withExtendedLifetime(storage) {}
        }
        return try body(&state.pointee)
    }
}

/// The mutex and the value of a ``Lock``, in a single block of memory: a load creates about ten locks.
///
/// They are behind pointers, because Swift checks each use of an object's variable for overlapping access. The mutex already prevents that,
/// and the check costs as much as the mutex.
@usableFromInline
package final class LockStorage<State: ~Copyable>: ManagedBuffer<pthread_mutex_t, State> {
    @inlinable
    package static func make(_ state: consuming sending State) -> LockStorage {
        let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in pthread_mutex_t() }, to: LockStorage.self)
        let (mutex, memory) = storage.pointers
        initializeMutex(mutex)
        memory.initialize(to: state)
        return storage
    }

    /// The mutex and the value, which are there as long as this object is.
    @inlinable @inline(__always)
    package var pointers: (UnsafeMutablePointer<pthread_mutex_t>, UnsafeMutablePointer<State>) {
        withUnsafeMutablePointers { ($0, $1) }
    }

    deinit {
        let (mutex, state) = pointers
        pthread_mutex_destroy(mutex)
        state.deinitialize(count: 1)
    }
}

/// Initializes a mutex that spins before it sleeps, because work under a lock takes less time than waking a thread.
@usableFromInline
package func initializeMutex(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
}
