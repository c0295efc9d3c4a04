internal import CLinux
internal import Glibc

/// A pool with a limited number of threads for work that computes or blocks, most urgent first.
///
/// Decoding and file access must not occupy Swift's cooperative threads: there are only as many as cores, so a slow disk would stop every
/// task of the program. A queue starts its threads when there is work for them, up to a given number.
///
/// - Complexity: adding and canceling work and changing its priority are O(log *n*) in the waiting work.
public final class WorkQueue: Sendable {
    /// The queue for decoding and transforming, with a thread for each core.
    public static let processing = WorkQueue(
        label: "processing", width: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    /// The queue for files. Reads wait for the disk, so it has more threads than cores.
    public static let files = WorkQueue(label: "files", width: 4)

    /// The name of the queue's threads.
    package let label: String
    /// The largest number of threads.
    package let width: Int
    /// True if, of work with the same priority, the newest is first; false if the oldest is.
    package let newestFirst: Bool
    private let core: WorkQueueCore

    /// Creates a queue.
    /// - Parameters:
    ///   - label: The name of the queue.
    ///   - width: The largest number of threads, at least 1.
    ///   - newestFirst: True to start the newest work of each priority first, as for a list that scrolls quickly. Older work then waits as
    ///     long as new work arrives.
    public init(label: String, width: Int, newestFirst: Bool = false) {
        self.label = label
        self.width = max(1, width)
        self.newestFirst = newestFirst
        core = WorkQueueCore(width: self.width, newestFirst: newestFirst)
    }

    deinit { core.close() }

    /// The numbers of waiting and running work items.
    package var load: (waiting: Int, running: Int) { core.load }

    /// True on the threads of any queue. Work that blocks there until other work of the queue has run may never end.
    package static var isAnyCurrent: Bool { WorkQueueCore.current != nil }

    /// Runs `work` on a thread of the queue and returns its result.
    ///
    /// If the calling task is canceled while the work is waiting, the work never runs. Running work can check the closure that it receives,
    /// and should end soon after a cancellation.
    /// - Parameters:
    ///   - priority: the priority of the work, which can change while it waits; `nil` for a normal priority that never changes.
    ///   - work: the work. It receives a closure that returns true after a cancellation.
    /// - Returns: the result of `work`.
    /// - Throws: ``ImageError/Code/cancelled``, and the errors of `work`.
    public func perform<Value: Sendable>(
        priority: WorkPriority? = nil,
        _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        try await perform(priority: priority, releasesImage: false, work)
    }

    /// Runs `work` like ``perform(priority:_:)``.
    /// - Parameter releasesImage: True for work that releases a decoded image, such as its transformer: it comes before all other work that isn't
    ///   more urgent, in the order of its arrival. Otherwise it would wait behind decodes, whose images would pile up in front of it.
    package func perform<Value: Sendable>(
        priority: WorkPriority?, releasesImage: Bool,
        _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard !Task.isCancelled else { throw Self.cancellation }
        let wait = QueuedWait<Result<Value, ImageError>>()
        let measured = StageStopwatch.beginWait()
        let result = await wait.value(following: priority) {
            core.add(priority: priority?.value ?? .normal, releasesImage: releasesImage) {
                measured?.end()
                do throws(ImageError) {
                    wait.end(.success(try work { wait.isCancelled }))
                } catch {
                    wait.end(.failure(error))
                }
            }
        } move: { [core] ticket in
            if let priority { core.move(ticket, to: priority) }
        } leave: { [core] ticket in
            if core.remove(ticket) { wait.end(.failure(Self.cancellation)) }
        }
        return try result.get()
    }

    private static var cancellation: ImageError { .cancelled(stage: .request, while: "waiting for a thread") }
}

/// The state that the threads of a queue share. They reference it instead of the queue, so that the queue can be released.
private final class WorkQueueCore: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        /// The work that releases an image, and comes before other work of its priority.
        var releasing = PriorityQueue<Work>()
        var others: PriorityQueue<Work>
        /// The tickets of both queues are different.
        var lastTicket = 0
        var running = 0
        var threads = 0
        /// The threads without work. The thread that slept last is woken first, since the processor's caches still have its memory.
        var sleepers: [ThreadSleep] = []
        var isClosed = false

        var waitingCount: Int { releasing.count + others.count }

        mutating func add(
            _ work: @escaping Work, _ priority: ImagePriority, releasesImage: Bool
        ) -> PriorityQueue<Work>.Ticket {
            lastTicket += 1
            if releasesImage {
                releasing.add(work, priority: priority, as: lastTicket)
            } else {
                others.add(work, priority: priority, as: lastTicket)
            }
            return lastTicket
        }

        mutating func move(_ ticket: PriorityQueue<Work>.Ticket, to priority: ImagePriority) {
            if !others.move(ticket, to: priority) { releasing.move(ticket, to: priority) }
        }

        mutating func remove(_ ticket: PriorityQueue<Work>.Ticket) -> Work? {
            others.remove(ticket) ?? releasing.remove(ticket)
        }

        mutating func popFirst() -> Work? {
            guard let first = releasing.first(), others.first().map({ $0.priority <= first.priority }) ?? true
            else { return others.popFirst()?.element }
            return releasing.popFirst()?.element
        }
    }

    private let width: Int
    private let state: Lock<State>

    init(width: Int, newestFirst: Bool) {
        self.width = width
        state = Lock(State(others: PriorityQueue(newestFirst: newestFirst)))
    }

    var load: (waiting: Int, running: Int) { state.withLock { ($0.waitingCount, $0.running) } }

    func add(priority: ImagePriority, releasesImage: Bool, _ work: @escaping Work) -> PriorityQueue<Work>.Ticket {
        let (ticket, hasThread, sleeper) = state.withLock { state in
            let ticket = state.add(work, priority, releasesImage: releasesImage)
            if let sleeper = state.sleepers.popLast() { return (ticket, true, ThreadSleep?.some(sleeper)) }
            if state.threads < width, !startThread(&state), state.threads == 0 {
                _ = state.remove(ticket)
                return (ticket, false, nil)
            }
            return (ticket, true, nil)
        }
        // After the unlock, because otherwise the thread would wake up only to wait for the lock.
        sleeper?.end()
        // If the system provides no thread, it runs here.
        if !hasThread { work() }
        return ticket
    }

    /// Moves work to the present priority. It is read under the lock, so that the last change applies even if changes overlap.
    func move(_ ticket: PriorityQueue<Work>.Ticket, to priority: WorkPriority) {
        state.withLock { $0.move(ticket, to: priority.value) }
    }

    /// Removes work.
    /// - Returns: false if the work doesn't wait any longer.
    func remove(_ ticket: PriorityQueue<Work>.Ticket) -> Bool {
        // Released outside the lock, because it may own anything, even this queue.
        let work = state.withLock { $0.remove(ticket) }
        return work != nil
    }

    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.end() }
    }

    private func startThread(_ state: inout State) -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let failed = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<WorkQueueCore>.fromOpaque(context).takeRetainedValue().runThread() }
                return nil
            }, context)
        guard failed == 0 else {
            Unmanaged<WorkQueueCore>.fromOpaque(context).release()
            return false
        }
        pthread_detach(thread)
        state.threads += 1
        return true
    }

    private static let threadKey: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The queue whose thread this is.
    static var current: UnsafeMutableRawPointer? { pthread_getspecific(threadKey) }

    /// Runs work until the queue is closed and empty.
    private func runThread() {
        pthread_setspecific(Self.threadKey, Unmanaged.passUnretained(self).toOpaque())
        let sleep = ThreadSleep()
        var hasRun = false
        while true {
            let (work, isClosed) = state.withLock { state in
                if hasRun { state.running -= 1 }
                let work = state.popFirst()
                if work != nil {
                    state.running += 1
                } else if state.isClosed {
                    state.threads -= 1
                } else {
                    state.sleepers.append(sleep)
                }
                return (work, state.isClosed)
            }
            hasRun = work != nil
            if let work {
                work()
            } else if isClosed {
                return
            } else {
                sleep.wait()
            }
        }
    }
}

/// The sleep of a thread, which another thread ends. It may end before it starts.
// Sendable: a semaphore is meant for several threads.
private final class ThreadSleep: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }

    func end() { sem_post(semaphore) }
}
