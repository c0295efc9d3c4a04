/// The memory that all decoding of a program together may take: who finds none left waits for those who decode now to end.
///
/// A coder knows from an image's header what decoding takes, and reserves it before it takes any memory
/// (``DecodeContext/withReservedMemory(_:_:)``), once for each image. The memory is given back when the decode ends: from then on the pixels
/// belong to whoever has the image, such as a cache with a capacity of its own. A hundred large images that come at once are thus
/// decoded a few at a time instead of exhausting the memory.
///
/// - The most urgent is next, and of those the first that came. None that is no more urgent goes before it, even if it would fit.
/// - An image that takes more than the whole budget is decoded alone. What a single image may take at most is for
///   ``DecodeLimits`` to say.
/// - Images that are decoded while they arrive get at most a quarter of the budget, all together, and have no previews where that
///   is used up. Decodes do not wait for them.
/// - Frame decoders that give one frame after the other do not count: they live as long as somebody plays the animation.
///
/// Waiting takes no thread: a load gives its thread back meanwhile. Only a coder that is called directly blocks its caller.
public final class DecodeBudget: Sendable {
    /// The budget that is used unless another is given: half of the memory that the program may use, at least 256 MB; 1 GB where
    /// the system does not say.
    public static let shared = DecodeBudget(limit: defaultLimit(SystemMemory()))

    /// What a budget is used for now.
    public struct Statistics: Sendable, Hashable {
        /// Bytes that are reserved.
        public var reservedBytes: Int
        /// The most bytes that were reserved at one time.
        public var peakBytes: Int
        /// Images that are decoded.
        public var decodes: Int
        /// Images that wait to be decoded.
        public var waiting: Int
    }

    private struct State {
        var machine: DecodeBudgetState
        var waiting: [Int: DecodeWait] = [:]
    }

    private let state: Lock<State>

    public init(limit: ByteCount) { state = Lock(State(machine: DecodeBudgetState(limit: limit.bytes))) }

    static func defaultLimit(_ memory: SystemMemory) -> ByteCount {
        memory.limit.map { ByteCount(max(256 << 20, $0 / 2)) } ?? ByteCount(1 << 30)
    }

    /// How much memory there is. A lower limit ends nothing that has begun.
    public var limit: ByteCount {
        get { ByteCount(state.withLock { $0.machine.limit }) }
        set { admit { $0.setLimit(newValue.bytes) } }
    }

    public var statistics: Statistics {
        state.withLock { state in
            Statistics(
                reservedBytes: state.machine.reservedBytes, peakBytes: state.machine.peakBytes,
                decodes: state.machine.decodes, waiting: state.machine.waiting)
        }
    }

    /// Waits until there is room; follows the cancellation of the calling task.
    /// - Throws: ``ImageError/Code/cancelled``
    func reserve(_ bytes: Int, priority: WorkPriority = WorkPriority()) async throws(ImageError) -> DecodeReservation {
        guard let (id, wait) = ask(bytes, priority: priority.value) else { return reservation(bytes) }
        // The value is read under the lock of the budget, so that the last change counts, however changes overlap.
        let follow = { @Sendable [weak self, priority] in self?.admit { $0.move(id, to: priority.value) } ?? () }
        let token = priority.observe { _ in follow() }
        follow()
        let isGranted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait.onEnd { continuation.resume(returning: $0) } }
        } onCancel: {
            leave(id)
        }
        priority.stopObserving(token)
        guard isGranted else { throw Self.cancellation }
        return reservation(bytes)
    }

    /// Waits on the calling thread until there is room.
    /// - Throws: ``ImageError/Code/cancelled``, soon after `isCancelled` says so.
    func reserveBlocking(_ bytes: Int, isCancelled: () -> Bool) throws(ImageError) -> DecodeReservation {
        guard let (id, wait) = ask(bytes, priority: .normal) else { return reservation(bytes) }
        let signal = BlockingSignal()
        wait.onEnd { signal.send($0) }
        while true {
            if let isGranted = signal.wait(milliseconds: 20) {
                guard isGranted else { throw Self.cancellation }
                return reservation(bytes)
            }
            // Leaving sends the signal, unless the wait has just ended otherwise.
            if isCancelled() { leave(id) }
        }
    }

    /// Reserves if there is room now, and nobody waits.
    func tryReserve(_ bytes: Int, priority: ImagePriority = .normal) -> DecodeReservation? {
        let bytes = Self.counted(bytes)
        return state.withLock { $0.machine.reserve(bytes, priority: priority) } ? reservation(bytes) : nil
    }

    /// Reserves for an image that still arrives, if there is room now.
    func tryReservePreview(_ bytes: Int) -> DecodeReservation? {
        let bytes = Self.counted(bytes)
        guard state.withLock({ $0.machine.reservePreview(bytes) }) else { return nil }
        return DecodeReservation(bytes: bytes) { [self] in admit { $0.release(bytes, isPreview: true) } }
    }

    // MARK: Inside

    private static let cancellation = ImageError.cancelled(
        stage: .decode, while: "waiting for memory to decode")

    /// What a number of bytes counts as, so that sums cannot overflow.
    static func counted(_ bytes: Int) -> Int { min(max(0, bytes), DecodeBudgetState.most) }

    /// - Returns: `nil` if the bytes are granted at once.
    private func ask(_ bytes: Int, priority: ImagePriority) -> (Int, DecodeWait)? {
        let bytes = Self.counted(bytes)
        return state.withLock { state in
            guard case .wait(let id) = state.machine.request(bytes, priority: priority) else { return nil }
            let wait = DecodeWait()
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
        left.leaving?.end(isGranted: false)
        for wait in left.admitted { wait.end(isGranted: true) }
    }

    /// Changes the state, and wakes those whom that lets in, outside the lock.
    private func admit(_ change: (inout DecodeBudgetState) -> [Int]) {
        let admitted = state.withLock { state in
            change(&state.machine).compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for wait in admitted { wait.end(isGranted: true) }
    }
}

/// The end of one wait, which may come before anybody listens.
private final class DecodeWait: Sendable {
    private enum State {
        case open
        case listening(@Sendable (Bool) -> Void)
        case ended(Bool)
    }

    private let state = Lock(State.open)

    func onEnd(_ listener: @escaping @Sendable (_ isGranted: Bool) -> Void) {
        let early: Bool? = state.withLock { state in
            if case .ended(let isGranted) = state { return isGranted }
            state = .listening(listener)
            return nil
        }
        if let early { listener(early) }
    }

    func end(isGranted: Bool) {
        let listener: (@Sendable (Bool) -> Void)? = state.withLock { state in
            defer { state = .ended(isGranted) }
            if case .listening(let listener) = state { return listener }
            return nil
        }
        listener?(isGranted)
    }
}
