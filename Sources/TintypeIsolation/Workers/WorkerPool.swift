internal import Glibc
internal import Synchronization
internal import TintypeImages

/// The workers of a ``DecoderIsolation``. A worker has a single request at a time, and sees images of a single origin only; the worker
/// that was used last comes first.
final class WorkerPool: Sendable {
    let isolation: DecoderIsolation
    private let idle = Lock<[WorkerProcess]>([])
    private let failedStart = Lock<FailedStart?>(nil)

    /// The last start that failed.
    private struct FailedStart {
        var error: ImageError
        /// The period when decodes fail at once.
        var delay: Duration
        var end: SuspendingClock.Instant
    }

    private let isPrepared = Atomic(false)
    /// Starts workers before they are needed.
    private static let preparing = WorkQueue(label: "tintype.workers", width: 1)

    /// The longest time after a failed start when decodes fail at once. After the first failure it is a second, and then twice the
    /// last period: a moment without memory must not be a minute without images.
    private static let longestDelay = Duration.seconds(60)
    private let longestUse: Duration

    /// - Parameter longestUse: The processor time after which a worker is replaced; as a rule half of the time after which the kernel ends
    ///   it.
    init(_ isolation: DecoderIsolation, longestUse: Duration = .seconds(DecoderWorker.processorSeconds / 2)) {
        self.isolation = isolation
        self.longestUse = longestUse
    }

    /// The number of workers that were started, for tests.
    var startCount: Int { starts.withLock { $0 } }
    private let starts = Lock(0)

    /// The processes that wait for a request.
    var idleProcesses: [Int32] { idle.withLock { $0.map(\.process) } }

    /// Gives a worker to `body`, which keeps it for the next request only if it returns, or throws an error of the image itself.
    /// - Returns: the result of `body`; `nil` if no worker can be started, and the program may decode instead.
    func withWorker<Value>(
        about request: WireRequest, _ context: ProcessingContext,
        _ body: (WorkerConversation) throws(WorkerConversation.Failure) -> Value
    ) throws(ImageError) -> Value? {
        guard let worker = try take(context) else { return nil }
        defer { keep(worker) }
        return try converse(with: worker, about: request, context, body)
    }

    /// Runs a request of a worker, and ends the worker unless it can have another one.
    /// - Parameter frameSize: the size of the frames of the animation that the request has opened.
    func converse<Value>(
        with worker: WorkerProcess, about request: WireRequest, frameSize: PixelSize? = nil,
        _ context: ProcessingContext, _ body: (WorkerConversation) throws(WorkerConversation.Failure) -> Value
    ) throws(ImageError) -> Value {
        guard worker.isOwn else { throw WorkerConversation.Failure.ofFork }
        let conversation = WorkerConversation(worker, about: request, frameSize: frameSize, isolation, context)
        do throws(WorkerConversation.Failure) {
            return try body(conversation)
        } catch {
            if case .image(let error) = error { throw error }
            throw error.imageError(of: worker.end(), isolation)
        }
    }

    /// Returns a worker that waits, or a new worker; `nil` if none can be started, and the program may decode instead.
    func take(_ context: ProcessingContext) throws(ImageError) -> WorkerProcess? {
        try context.checkCancellation()
        var worker = takeIdle(for: context.origin)
        // A worker that was killed while it waited is replaced.
        while let idle = worker, !idle.isOwn || !idle.isAlive { worker = takeIdle(for: context.origin) }
        do throws(ImageError) {
            if worker == nil { worker = try start(context) }
        } catch {
            if error.code == .decoderUnavailable, isolation.allowsInProcess { return nil }
            throw error
        }
        worker?.serve(context.origin)
        return worker
    }

    private func takeIdle(for origin: String?) -> WorkerProcess? {
        idle.withLock { idle in
            let place =
                idle.lastIndex { $0.served == WorkerProcess.Origin(name: origin) }
                ?? idle.lastIndex { $0.served == nil }
            return place.map { idle.remove(at: $0) }
        }
    }

    /// Starts a worker for the first image, unless that has been done.
    func prepare() {
        guard !isPrepared.exchange(true, ordering: .relaxed), startCount == 0 else { return }
        Task {
            _ = try? await Self.preparing.perform { [self] _ throws(ImageError) in
                park(try start(ProcessingContext()))
            }
        }
    }

    private func start(_ context: ProcessingContext) throws(ImageError) -> WorkerProcess {
        if let failed = failedStart.withLock({ $0 }), .now < failed.end { throw failed.error }
        let program = try WorkerProgram.named(isolation.helper)
        starts.withLock { $0 += 1 }
        let worker = try WorkerProcess(program)
        let conversation = WorkerConversation(worker, about: nil, isolation, context)
        do throws(WorkerConversation.Failure) {
            try conversation.begin(WorkerSettings(isolation))
            failedStart.withLock { $0 = nil }
            return worker
        } catch {
            let failure = error.startError(of: worker.end(), isolation, program: program.name)
            if failure.code == .decoderUnavailable {
                failedStart.withLock { last in
                    let delay = last.map { min($0.delay * 2, Self.longestDelay) } ?? .seconds(1)
                    last = FailedStart(error: failure, delay: delay, end: .now + delay)
                }
            }
            throw failure
        }
    }

    /// Keeps a worker for the next request, unless it was ended, has done enough, or there are enough.
    func keep(_ worker: WorkerProcess) {
        guard worker.isUsable, worker.requests < isolation.maximumDecodesPerProcess,
            worker.processorTime ?? .zero < longestUse,
            worker.residentBytes ?? .max <= isolation.maximumIdleMemory.bytes
        else { return }
        park(worker)
    }

    /// Stops a worker, and lets it wait. The worker that has waited longest goes if there are too many.
    private func park(_ worker: WorkerProcess) {
        guard isolation.maximumIdleProcesses > 0 else { return }
        worker.pause()
        // The worker that goes is ended outside of the lock.
        _ = idle.withLock { [limit = isolation.maximumIdleProcesses] idle in
            idle.append(worker)
            return idle.count > limit ? idle.removeFirst() : nil
        }
    }
}

extension WorkerSettings {
    /// The variables that decide about fonts and their shapes. The environment of a worker has no others.
    private static let names = [
        "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME", "FONTCONFIG_FILE",
        "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "FC_LANG", "LANG", "LC_ALL", "LC_CTYPE", "PANGO_LANGUAGE",
    ]

    /// Read once: another thread may change the environment at any time.
    private static let ownVariables = Dictionary(
        uniqueKeysWithValues: names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } })

    /// The settings of a worker of this process.
    init(_ isolation: DecoderIsolation) {
        memoryLimit = max(isolation.memoryLimit.bytes, 64 << 20)
        workingMemoryLimit = min(max(isolation.workingMemoryLimit.bytes, 64 << 20), memoryLimit)
        variables = Self.ownVariables
        locale = setlocale(LC_CTYPE, nil).map { String(cString: $0) } ?? "C"
    }
}
