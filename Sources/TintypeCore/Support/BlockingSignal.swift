internal import Glibc

/// Lets a thread wait for another one's answer.
final class BlockingSignal: @unchecked Sendable {  // Sendable: `answer` is read and written under `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var answer: Bool?

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func send(_ answer: Bool) {
        pthread_mutex_lock(mutex)
        self.answer = answer
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// The answer; `nil` if it has not come after so long.
    func wait(milliseconds: Int) -> Bool? {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_nsec += milliseconds * 1_000_000
        deadline.tv_sec += deadline.tv_nsec / 1_000_000_000
        deadline.tv_nsec %= 1_000_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if answer == nil { pthread_cond_timedwait(condition, mutex, &deadline) }
        return answer
    }
}
