internal import CLinux
internal import Glibc

/// A pool of a limited number of threads for work that computes or blocks, most urgent first.
///
/// Decoding and file access must not occupy Swift's cooperative threads, of which there are only as many as cores: a slow disk
/// would stop every task of the program. A queue starts its threads when there is work for them, at most ``width`` of them.
///
/// - Complexity: adding, canceling and moving work to another priority are O(log *n*) in the waiting work.
public final class WorkQueue: Sendable {
    /// The queue for decoding and transforming, with one thread per core.
    public static let processing = WorkQueue(
        label: "processing", width: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    /// The queue for files. Reads wait for the disk, so it has more threads than cores.
    public static let files = WorkQueue(label: "files", width: 4)

    public let label: String
    public let width: Int
    /// True if, of work with the same priority, the newest is first; false if the oldest is.
    public let newestFirst: Bool
    private let core: WorkQueueCore

    /// Creates a queue.
    /// - Parameters:
    ///   - label: The name of the queue.
    ///   - width: The largest number of threads.
    ///   - newestFirst: True if, of work with the same priority, the newest is first, as suits a list that scrolls quickly. Older work then
    ///     waits as long as new work comes.
    public init(label: String, width: Int, newestFirst: Bool = false) {
        self.label = label
        self.width = width
        self.newestFirst = newestFirst
        core = WorkQueueCore(width: width, newestFirst: newestFirst)
    }

    deinit { core.close() }

    /// The numbers of waiting and running work items.
    public var load: (waiting: Int, running: Int) { core.load }

    /// Runs `work` on a thread of the queue and returns its result.
    ///
    /// If the calling task is canceled while the work is waiting, it never runs. Running work can check the closure that it
    /// receives, and should end soon after a cancellation.
    /// - Parameters:
    ///   - priority: the priority of the work, which can change while it waits.
    ///   - work: the work. It receives a closure that returns true after a cancellation.
    /// - Returns: the result of `work`.
    /// - Throws: ``ImageError/Code/cancelled``, and the errors of `work`.
    public func perform<Value: Sendable>(
        priority: WorkPriority = WorkPriority(),
        _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard !Task.isCancelled else { throw Self.cancellation }
        let wait = QueuedWait<Result<Value, ImageError>>()
        let measured = StageStopwatch.beginWait()
        let result = await wait.value(following: priority) {
            core.add(priority: priority.value) {
                measured?.end()
                do throws(ImageError) {
                    wait.end(.success(try work { wait.isCancelled }))
                } catch {
                    wait.end(.failure(error))
                }
            }
        } move: { [core] ticket in
            core.move(ticket, to: priority)
        } leave: { [core] ticket in
            if core.remove(ticket) { wait.end(.failure(Self.cancellation)) }
        }
        return try result.get()
    }

    private static var cancellation: ImageError { .cancelled(stage: .request, while: "waiting for a thread") }
}

/// The state that the threads of a queue share. They reference it instead of the queue, so that the queue can be released.
// Sendable: all state is accessed with the monitor locked.
private final class WorkQueueCore: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    private let monitor = ThreadMonitor()
    private let width: Int
    private var waiting: PriorityQueue<Work>
    private var running = 0
    private var threads = 0
    private var idle = 0
    private var isClosed = false

    init(width: Int, newestFirst: Bool) {
        self.width = width
        waiting = PriorityQueue(newestFirst: newestFirst)
    }

    private func locked<Result>(_ body: () -> Result) -> Result { monitor.locked(body) }

    var load: (waiting: Int, running: Int) { locked { (waiting.count, running) } }

    func add(priority: ImagePriority, _ work: @escaping Work) -> PriorityQueue<Work>.Ticket {
        let (ticket, hasThread) = locked {
            let ticket = waiting.add(work, priority: priority)
            if waiting.count > idle, threads < width, !startThread(), threads == 0 {
                _ = waiting.remove(ticket)
                return (ticket, false)
            }
            return (ticket, true)
        }
        if hasThread {
            // After the unlock, because otherwise the thread would wake up only to wait for the mutex.
            monitor.signal()
        } else {
            work()  // The system provides no thread, so it runs here.
        }
        return ticket
    }

    /// Moves work to the present priority. It is read under the mutex, so that the last change applies even if changes overlap.
    func move(_ ticket: PriorityQueue<Work>.Ticket, to priority: WorkPriority) {
        locked { _ = waiting.move(ticket, to: priority.value) }
    }

    /// Removes work.
    /// - Returns: false if the work doesn't wait any longer.
    func remove(_ ticket: PriorityQueue<Work>.Ticket) -> Bool {
        // Released outside the lock, because it may own anything, even this queue.
        let work = locked { waiting.remove(ticket) }
        return work != nil
    }

    func close() {
        locked {
            isClosed = true
            monitor.broadcast()
        }
    }

    private func startThread() -> Bool {
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
        threads += 1
        return true
    }

    /// Runs work until the queue is closed and empty.
    private func runThread() {
        while let work = next() {
            work()
            locked { running -= 1 }
        }
    }

    private func next() -> Work? {
        locked {
            while true {
                if let (_, work) = waiting.popFirst() {
                    running += 1
                    return work
                }
                if isClosed {
                    threads -= 1
                    return nil
                }
                idle += 1
                monitor.wait()
                idle -= 1
            }
        }
    }
}
