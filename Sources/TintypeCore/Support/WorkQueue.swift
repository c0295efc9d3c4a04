internal import CLinux
internal import Glibc
internal import Synchronization

/// A pool of a limited number of threads for work that computes or blocks, most urgent first.
///
/// Decoding and file access must not occupy Swift's cooperative threads, of which there are only as many as cores: a slow disk
/// would stop every task of the program. A queue starts its threads when there is work for them, at most ``width`` of them.
///
/// - Complexity: adding, canceling and moving work to another priority are O(1).
public final class WorkQueue: Sendable {
    /// The queue for decoding and transforming, with one thread per core.
    public static let processing = WorkQueue(
        label: "processing", width: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    /// The queue for files. Reads wait for the disk, so it has more threads than cores.
    public static let files = WorkQueue(label: "files", width: 4)

    public let label: String
    public let width: Int
    private let core: WorkQueueCore

    public init(label: String, width: Int) {
        self.label = label
        self.width = width
        core = WorkQueueCore(width: width)
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
        let item = WorkItem(priority: priority.value)
        let token = priority.observe { [core, priority] _ in core.move(item, to: priority) }
        // Registered first, then read, so that no change in between is lost.
        core.move(item, to: priority)
        defer { priority.stopObserving(token) }
        let result: Result<Value, ImageError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                item.run = { isRunning in
                    guard isRunning else {
                        let error = ImageError.cancelled(stage: .request, while: "waiting for a thread")
                        return continuation.resume(returning: .failure(error))
                    }
                    do throws(ImageError) {
                        let value = try work { item.isCancelled }
                        item.order()
                        continuation.resume(returning: .success(value))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
                core.add(item)
            }
        } onCancel: {
            core.cancel(item)
        }
        item.order()
        return try result.get()
    }
}

/// A work item.
// Sendable: `run` is set before the item is added, and taken by the one thread that moves `state` on from waiting. The other
// fields are accessed under the queue's mutex, except `cancelled`, which is atomic.
private final class WorkItem: @unchecked Sendable {
    enum State { case new, waiting, running, ended }

    var run: ((_ isRunning: Bool) -> Void)?
    var state = State.new
    var priority: ImagePriority
    private let cancelled = Atomic(false)

    init(priority: ImagePriority) { self.priority = priority }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Shows ThreadSanitizer that everything before the first call happens before everything after the second. A continuation
    /// orders them too, but in a library that is not instrumented: one that is resumed before it is awaited looks like a race.
    func order() { cancelled.logicalOr(false, ordering: .acquiringAndReleasing) }

    func markCancelled() { cancelled.store(true, ordering: .relaxed) }
}

/// The state that the threads of a queue share. They reference it instead of the queue, so that the queue can be released.
// Sendable: all state is accessed with the monitor locked.
private final class WorkQueueCore: @unchecked Sendable {
    private let monitor = ThreadMonitor()
    private let width: Int
    /// The waiting items of each priority in order, with gaps where items were canceled or moved.
    private var buckets = [Bucket](repeating: Bucket(), count: ImagePriority.allCases.count)
    private var waiting = 0
    private var running = 0
    private var threads = 0
    private var idle = 0
    private var isClosed = false

    /// A queue whose front moves along an array. The array is trimmed when half of it is before the front.
    private struct Bucket {
        var items: [WorkItem] = []
        var front = 0

        mutating func append(_ item: WorkItem) { items.append(item) }

        /// Removes and returns the first item that still waits at this priority. Moved or canceled items are skipped.
        mutating func popFirst(_ priority: ImagePriority) -> WorkItem? {
            while front < items.count {
                let item = items[front]
                front += 1
                if front == items.count {
                    items.removeAll(keepingCapacity: true)
                    front = 0
                } else if front > 64, front * 2 > items.count {
                    items.removeFirst(front)
                    front = 0
                }
                if item.state == .waiting, item.priority == priority { return item }
            }
            return nil
        }
    }

    init(width: Int) { self.width = width }

    private func locked<Result>(_ body: () -> Result) -> Result { monitor.locked(body) }

    var load: (waiting: Int, running: Int) { locked { (waiting, running) } }

    func add(_ item: WorkItem) {
        enum Outcome { case queued, cancelled, noThread }
        let outcome: Outcome = locked {
            // The task may already have been canceled.
            guard !item.isCancelled else {
                item.state = .ended
                return .cancelled
            }
            if waiting >= idle, threads < width, !startThread(), threads == 0 {
                item.state = .ended
                return .noThread
            }
            item.state = .waiting
            waiting += 1
            buckets[item.priority.rawValue].append(item)
            return .queued
        }
        switch outcome {
        // After the unlock, because otherwise the thread would wake up only to wait for the mutex.
        case .queued: monitor.signal()
        case .cancelled: end(item, isRunning: false)
        case .noThread: end(item, isRunning: true)  // The system provides no thread, so it runs here.
        }
    }

    func cancel(_ item: WorkItem) {
        item.markCancelled()
        let wasWaiting = locked {
            guard item.state == .waiting else { return false }
            item.state = .ended
            waiting -= 1
            return true
        }
        if wasWaiting { end(item, isRunning: false) }
    }

    /// Moves an item to the present priority. It is read under the mutex, so that the last change applies even if changes
    /// overlap.
    func move(_ item: WorkItem, to source: WorkPriority) {
        locked {
            let priority = source.value
            guard item.priority != priority else { return }
            item.priority = priority
            // The old entry is skipped, because its priority no longer matches.
            if item.state == .waiting { buckets[priority.rawValue].append(item) }
        }
    }

    func close() {
        locked {
            isClosed = true
            monitor.broadcast()
        }
    }

    private func end(_ item: WorkItem, isRunning: Bool) {
        let run = item.run
        item.run = nil
        run?(isRunning)
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

    /// Runs items until the queue is closed and empty.
    private func runThread() {
        while let item = next() {
            end(item, isRunning: true)
            locked {
                item.state = .ended
                running -= 1
            }
        }
    }

    private func next() -> WorkItem? {
        locked {
            while true {
                for priority in ImagePriority.allCases.reversed() {
                    if let item = buckets[priority.rawValue].popFirst(priority) {
                        item.state = .running
                        waiting -= 1
                        running += 1
                        return item
                    }
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
