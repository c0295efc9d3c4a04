internal import Glibc
internal import TintypeImages

/// The workers of one ``DecoderIsolation``. A worker has one request at a time; the one that was used last comes first.
final class WorkerPool: Sendable {
    let isolation: DecoderIsolation
    private let helper: String?
    private let idle = Lock<[WorkerProcess]>([])

    init(_ isolation: DecoderIsolation, helper: String?) {
        self.isolation = isolation
        self.helper = helper
    }

    /// The processes that wait for a request.
    var idleProcesses: [Int32] { idle.withLock { $0.map(\.process) } }

    /// Gives a worker to `body`, which keeps it for the next request only if it returns, or throws an error of the image itself.
    func withWorker<Value>(
        _ context: DecodeContext, _ body: (WorkerConversation) throws(WorkerConversation.Failure) -> Value
    ) throws(ImageError) -> Value {
        let worker = try take(context)
        let (result, isUsable) = converse(with: worker, context, body)
        if isUsable { keep(worker) }
        return try result.get()
    }

    /// Runs one request of a worker.
    /// - Returns: the result, and true if the worker can have another request. Otherwise it was ended.
    func converse<Value>(
        with worker: WorkerProcess, _ context: DecodeContext,
        _ body: (WorkerConversation) throws(WorkerConversation.Failure) -> Value
    ) -> (Result<Value, ImageError>, isUsable: Bool) {
        let conversation = WorkerConversation(worker.socket, deadline: .now + isolation.timeLimit, context)
        do throws(WorkerConversation.Failure) {
            return (.success(try body(conversation)), true)
        } catch {
            if case .image(let error) = error { return (.failure(error), true) }
            let ending = worker.end()
            return (.failure(error.imageError(of: ending, isolation)), false)
        }
    }

    /// Returns a worker that waits, or a new one.
    func take(_ context: DecodeContext) throws(ImageError) -> WorkerProcess {
        try context.checkCancellation()
        while let worker = idle.withLock({ $0.popLast() }) {
            // One that was killed while it waited is replaced.
            if worker.isAlive { return worker }
        }
        guard let helper else {
            throw ImageError(
                .decoderUnavailable, stage: .decode,
                reason:
                    "tintype-decoder is not installed beside the program, and \(DecoderIsolation.helperVariable) names none"
            )
        }
        let worker = try WorkerProcess(helper)
        let conversation = WorkerConversation(worker.socket, deadline: .now + isolation.timeLimit, context)
        do throws(WorkerConversation.Failure) {
            try conversation.begin(WorkerSettings(memoryLimit: isolation.memoryLimit.bytes))
            return worker
        } catch {
            let ending = worker.end()
            throw error.startError(of: ending, isolation, helper: helper)
        }
    }

    /// Keeps a worker for the next request, unless it has done enough, or there are enough.
    func keep(_ worker: WorkerProcess) {
        guard worker.countDecode() < isolation.maximumDecodesPerProcess,
            worker.residentBytes ?? .max <= isolation.maximumIdleMemory.bytes
        else { return }
        idle.withLock { [limit = isolation.maximumIdleProcesses] idle in
            if idle.count < limit { idle.append(worker) }
        }
    }
}

extension WorkerSettings {
    /// The variables that decide about fonts and their shapes. The environment of a worker has no others.
    private static let names = [
        "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME", "FONTCONFIG_FILE",
        "FONTCONFIG_PATH",
        "FONTCONFIG_SYSROOT", "FC_LANG", "LANG", "LC_ALL", "LC_CTYPE", "PANGO_LANGUAGE",
    ]

    /// The settings of a worker of this process.
    init(memoryLimit: Int) {
        self.memoryLimit = max(memoryLimit, 64 << 20)
        variables = Self.names.flatMap { name in getenv(name).map { [name, String(cString: $0)] } ?? [] }
        locale = setlocale(LC_CTYPE, nil).map { String(cString: $0) } ?? "C"
    }
}
