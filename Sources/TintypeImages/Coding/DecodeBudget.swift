/// The memory that all decoding in a program may use together. A decode that doesn't fit waits until others end.
///
/// A coder calculates the memory for decoding from an image's header, and reserves it before allocating any
/// (``ProcessingContext/withReservedMemory(_:_:)``), once for each image. The reservation ends with the decode. Then the pixels belong to
/// the image's owner, such as a cache with its own capacity. So a hundred large images that arrive at once are decoded a few at a time,
/// instead of exhausting the memory.
///
/// - The decode with the highest priority is next; among equals the oldest, or the newest on request. Decodes that come after it in this
///   order never overtake it, even if they would fit.
/// - An image that needs more than the whole budget is decoded alone. ``DecodeLimits`` define the limit for a single image.
/// - Images that are decoded while they arrive use at most a quarter of the budget together. When that is used up, further images have no
///   previews. Full decodes never wait for previews.
/// - The bodies that loads hold count, from their first byte until the last load of the URL ends. They are never refused; decodes wait for
///   them, but a single decode may always run. While bodies that wait to be decoded fill half of the budget, no download, stream, or
///   closure of a request starts, and loads don't read files. A custom loader waits if it calls ``LoadRequest/waitForRoom()``. While bodies
///   of any kind fill half of the budget, loads that revalidate cached bytes don't hold the bytes meanwhile: they read them again
///   afterwards, and don't show the cached image before.
/// - Frame decoders that decode frames in order don't count, because they live as long as their animation plays.
///
/// A waiting load doesn't block a thread. Only a coder that is called directly blocks its caller. In a task, and on a thread of a
/// ``WorkQueue``, such a coder starts at once, because the decodes that it would wait for may need the thread; the number of threads limits
/// such decodes. So a task must not block until another thread has decoded.
public final class DecodeBudget: Sendable {
    /// The default budget: half of the memory that the program may use, at least 256 MB; 1 GB if the system doesn't report the amount.
    public static let shared = DecodeBudget(limit: defaultLimit(SystemMemory()))

    /// The present use of a budget.
    package struct Statistics: Sendable, Hashable {
        /// The number of bytes that decodes have reserved.
        package var reservedBytes: Int
        /// The number of bytes of encoded images that loads hold.
        package var bodyBytes: Int
        /// The largest number of bytes that decodes had reserved at the same time.
        package var peakBytes: Int
        /// The number of images that are being decoded.
        package var decodes: Int
        /// The number of images that are waiting to be decoded.
        package var waiting: Int
        /// The number of files that are being read.
        package var reads: Int
        /// The number of downloads and reads that wait for room.
        package var waitingTransfers: Int
    }

    /// A wait for memory, which ends with true if it was granted.
    private typealias Wait = QueuedWait<Bool>

    private struct State {
        var machine: DecodeBudgetState
        var waiting: [Int: Wait] = [:]
        var waitingTransfers: [Int: Wait] = [:]
    }

    private let state: Lock<State>

    /// Creates a budget.
    /// - Parameters:
    ///   - limit: The size of the budget.
    ///   - newestFirst: True to start the newest decode of each priority first, as for a list that scrolls quickly. Older decodes then wait
    ///     as long as new decodes arrive.
    public init(limit: ByteCount, newestFirst: Bool = false) {
        state = Lock(State(machine: DecodeBudgetState(limit: limit.bytes, newestFirst: newestFirst)))
    }

    static func defaultLimit(_ memory: SystemMemory) -> ByteCount {
        memory.limit.map { ByteCount(max(256 << 20, $0 / 2)) } ?? ByteCount(1 << 30)
    }

    /// The size of the budget. Lowering it does not end decodes in progress.
    public var limit: ByteCount {
        get { ByteCount(state.withLock { $0.machine.limit }) }
        set { admit { $0.setLimit(newValue.bytes) } }
    }

    /// The memory in use, the waits, and the refusals so far.
    package var statistics: Statistics {
        state.withLock { state in
            Statistics(
                reservedBytes: state.machine.reservedBytes, bodyBytes: state.machine.bodyBytes,
                peakBytes: state.machine.peakBytes,
                decodes: state.machine.decodes, waiting: state.machine.waiting,
                reads: state.machine.runningReads, waitingTransfers: state.machine.waitingTransfers)
        }
    }

    /// Waits until there is room, or the calling task is canceled.
    /// - Throws: ``ImageError/Code/cancelled``
    func reserve(_ bytes: Int, priority: WorkPriority = WorkPriority()) async throws(ImageError) -> DecodeReservation {
        guard let (id, wait) = ask(bytes, priority: priority.value) else { return reservation(bytes) }
        let isGranted = await wait.value(following: priority) {
            id
        } move: { [self] id in
            admit { $0.move(id, to: priority.value) }
        } leave: { id in
            self.leave(id)
        }
        guard isGranted else { throw Self.cancellation }
        return reservation(bytes)
    }

    /// Blocks the calling thread until there is room, unless it is the thread of a queue, or runs a task.
    /// - Throws: ``ImageError/Code/cancelled``, soon after `isCancelled` returns true.
    func reserveBlocking(_ bytes: Int, isCancelled: () -> Bool) throws(ImageError) -> DecodeReservation {
        // A decode that got its room may need this thread: a queue's to run on, or a task's to resume on.
        guard !WorkQueue.isAnyCurrent, withUnsafeCurrentTask(body: { $0 == nil }) else {
            state.withLock { $0.machine.take(Self.counted(bytes)) }
            return reservation(bytes)
        }
        guard let (id, wait) = ask(bytes, priority: .normal) else { return reservation(bytes) }
        let signal = BlockingSignal()
        wait.onEnd { signal.send($0) }
        while true {
            if let isGranted = signal.wait(milliseconds: 20) {
                guard isGranted else { throw Self.cancellation }
                return reservation(bytes)
            }
            // Leaving sends the signal, unless the wait has just ended in another way.
            if isCancelled() { leave(id) }
        }
    }

    /// Reserves memory if there is room now and no decode is waiting.
    func tryReserve(_ bytes: Int, priority: ImagePriority = .normal) -> DecodeReservation? {
        let bytes = Self.counted(bytes)
        return state.withLock { $0.machine.reserve(bytes, priority: priority) } ? reservation(bytes) : nil
    }

    /// Reserves memory for an image that is still arriving, if there is room now.
    func tryReservePreview(_ bytes: Int) -> DecodeReservation? {
        let bytes = Self.counted(bytes)
        guard state.withLock({ $0.machine.reservePreview(bytes) }) else { return nil }
        return DecodeReservation(bytes: bytes) { [self] in admit { $0.release(bytes, isPreview: true) } }
    }

    // MARK: Bodies

    /// Counts the bytes of an encoded image that a load holds.
    func addBody(_ bytes: Int) {
        if bytes > 0 { state.withLock { $0.machine.addBody(bytes) } }
    }

    /// Ends the count of bytes that were added.
    func removeBody(_ bytes: Int) {
        if bytes > 0 { admit { $0.removeBody(bytes) } }
    }

    /// Lets a body that waits for its decode take room from transfers. Until it returns the room, it may not wait for a transfer.
    package func takeRoom(_ bytes: Int) { state.withLock { $0.machine.takeRoom(bytes) } }

    /// Returns the room of a body that has been decoded, or won't be.
    package func returnRoom(_ bytes: Int) { admitTransfers { $0.returnRoom(bytes) } }

    /// True if the bodies that loads hold take more than half of the budget, so that none should be held while a source is asked.
    package var hasManyBodies: Bool { state.withLock { $0.machine.hasManyBodies } }

    /// True if a download may start now.
    package var hasRoom: Bool { state.withLock { $0.machine.hasRoom } }

    /// Waits until the bodies that wait for their decode leave room.
    /// - Throws: ``ImageError/Code/cancelled``
    package func waitForRoom(priority: WorkPriority) async throws(ImageError) {
        try await waitForRoom(priority) { $0.requestDownload(priority: priority.value) }
    }

    /// Reads bytes once the bodies that wait for their decode leave room. A few reads of a queue run at once, twice as many as it has threads:
    /// so no thread waits for a task.
    /// - Parameters:
    ///   - priority: The priority of the read.
    ///   - queue: The queue that reads.
    ///   - read: Waits for the queue alone, and never for a transfer or another read.
    /// - Throws: ``ImageError/Code/cancelled``, and the errors of `read`.
    package func whenRoom<Value>(
        priority: WorkPriority, on queue: WorkQueue, _ read: () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let measured = StageStopwatch.beginWait()
        let id = ObjectIdentifier(queue)
        try await waitForRoom(priority) {
            $0.requestRead(on: id, most: 2 * queue.width, priority: priority.value)
        }
        measured?.end()
        defer { admitTransfers { $0.endRead(on: id) } }
        return try await read()
    }

    private func waitForRoom(
        _ priority: WorkPriority, _ request: (inout DecodeBudgetState) -> DecodeBudgetState.Answer
    ) async throws(ImageError) {
        let waiting = state.withLock { state -> (Int, Wait)? in
            guard case .wait(let id) = request(&state.machine) else { return nil }
            let wait = Wait()
            state.waitingTransfers[id] = wait
            return (id, wait)
        }
        guard let (ticket, wait) = waiting else { return }
        let isGranted = await wait.value(following: priority) {
            ticket
        } move: { [self] id in
            state.withLock { $0.machine.moveTransfer(id, to: priority.value) }
        } leave: { [self] id in
            let left = state.withLock { state in
                state.machine.leaveTransfer(id) ? state.waitingTransfers.removeValue(forKey: id) : nil
            }
            left?.end(false)
        }
        guard isGranted else { throw .cancelled(stage: .load, while: "waiting for memory for the data") }
    }

    // MARK: Inside

    private static let cancellation = ImageError.cancelled(
        stage: .decode, while: "waiting for memory to decode")

    /// Returns a number of bytes within the range that cannot make sums overflow.
    static func counted(_ bytes: Int) -> Int { min(max(0, bytes), DecodeBudgetState.most) }

    /// Requests memory.
    /// - Returns: the waiting decode; `nil` if the bytes were granted at once.
    private func ask(_ bytes: Int, priority: ImagePriority) -> (Int, Wait)? {
        let bytes = Self.counted(bytes)
        return state.withLock { state in
            guard case .wait(let id) = state.machine.request(bytes, priority: priority) else { return nil }
            let wait = Wait()
            state.waiting[id] = wait
            return (id, wait)
        }
    }

    private func reservation(_ bytes: Int) -> DecodeReservation {
        let bytes = Self.counted(bytes)
        return DecodeReservation(bytes: bytes) { [self] in admit { $0.release(bytes, isPreview: false) } }
    }

    private func leave(_ id: Int) {
        let left = state.withLock { state in
            let (wasWaiting, admitted) = state.machine.leave(id)
            let leaving = wasWaiting ? state.waiting.removeValue(forKey: id) : nil
            return (leaving: leaving, admitted: admitted.compactMap { state.waiting.removeValue(forKey: $0) })
        }
        left.leaving?.end(false)
        for wait in left.admitted { wait.end(true) }
    }

    /// Changes the state, and resumes the transfers that it admits, outside the lock.
    private func admitTransfers(_ change: (inout DecodeBudgetState) -> Void) {
        admit { state in
            change(&state)
            return []
        }
    }

    /// Changes the state, and resumes the decodes and transfers that it admits, outside the lock.
    private func admit(_ change: (inout DecodeBudgetState) -> [Int]) {
        let admitted = state.withLock { state in
            let decodes = change(&state.machine).compactMap { state.waiting.removeValue(forKey: $0) }
            return decodes
                + state.machine.admitTransfers().compactMap { state.waitingTransfers.removeValue(forKey: $0) }
        }
        for wait in admitted { wait.end(true) }
    }
}
