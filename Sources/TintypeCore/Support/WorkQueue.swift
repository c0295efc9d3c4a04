internal import CLinux
internal import Glibc

/// A bounded pool of threads for work that computes or blocks, most urgent first.
///
/// Decoding and file access must not occupy Swift's cooperative threads, of which there are as many as cores: a slow disk would
/// stop every task of the program. A queue starts its threads when there is work for them, at most ``width`` of them.
///
/// - Complexity: adding, cancelling and moving work to another priority are O(1).
public final class WorkQueue: Sendable {
    /// For decoding and transforming: one thread to each core.
    public static let processing = WorkQueue(
        label: "processing", width: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    /// For files: reads wait for the disk, so there are more threads than cores.
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

    /// How much work waits and runs.
    public var load: (waiting: Int, running: Int) { core.load }

    /// Runs `work` on a thread of the queue and returns what it returns.
    ///
    /// If the calling task is cancelled while the work still waits, it never runs. Work that runs is told by the closure it is
    /// given, and should end soon.
    /// - Throws: ``ImageError/Code/cancelled``, and what `work` throws.
    public func perform<Value: Sendable>(
        priority: WorkPriority = WorkPriority(),
        _ work: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let item = WorkItem(priority: priority.value)
        let token = priority.observe { [core, priority] _ in core.move(item, to: priority) }
        // Registered first, then read: a change between the two is not lost.
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

/// One piece of work.
// Sendable: `run` is set before the item is added and taken by the one thread that moves `state` away from waiting;
// the other fields are read and written under the queue's mutex, except `cancelled`, which has a lock of its own.
private final class WorkItem: @unchecked Sendable {
    enum State { case new, waiting, running, ended }

    var run: ((_ isRunning: Bool) -> Void)?
    var state = State.new
    var priority: ImagePriority
    private let cancelled = Lock(false)

    init(priority: ImagePriority) { self.priority = priority }

    var isCancelled: Bool { cancelled.withLock { $0 } }

    /// Lets ThreadSanitizer see that what was written before the first call comes before what follows the second. A
    /// continuation orders them too, but in a library that is not instrumented: one that is resumed before it is awaited
    /// looks like a race.
    func order() { cancelled.withLock { _ in } }

    func markCancelled() { cancelled.withLock { $0 = true } }
}

/// What the threads of a queue share. They hold it, not the queue, so that a queue can go away.
// Sendable: all state is read and written with the monitor locked.
private final class WorkQueueCore: @unchecked Sendable {
    private let monitor = ThreadMonitor()
    private let width: Int
    /// For each priority the waiting items in order, with gaps where items were cancelled or moved.
    private var buckets = [Bucket](repeating: Bucket(), count: ImagePriority.allCases.count)
    private var waiting = 0
    private var running = 0
    private var threads = 0
    private var idle = 0
    private var isClosed = false

    /// A queue whose front moves along an array; the array is cut when half of it is behind the front.
    private struct Bucket {
        var items: [WorkItem] = []
        var front = 0

        mutating func append(_ item: WorkItem) { items.append(item) }

        /// The first item that still waits at this priority; items that were moved or cancelled are passed over.
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
            // The task may have been cancelled before it came here.
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
        // After the unlock: else the thread would wake to wait for the mutex.
        case .queued: monitor.signal()
        case .cancelled: end(item, isRunning: false)
        case .noThread: end(item, isRunning: true)  // The system gives no thread at all: better here than never.
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

    /// Moves an item to the priority as it is now: read under the mutex, so that the last change counts, however changes overlap.
    func move(_ item: WorkItem, to source: WorkPriority) {
        locked {
            let priority = source.value
            guard item.priority != priority else { return }
            item.priority = priority
            // The old place is passed over, because the priority there no longer fits.
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

    /// Takes one item after another until the queue is closed and empty.
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
