internal import Glibc
internal import TintypeImages

/// A conversation with a worker about a request, with a deadline. Used by a single thread.
final class WorkerConversation {
    private let worker: WorkerProcess
    private let context: ProcessingContext
    /// The request that the worker answers; `nil` while it starts.
    private let request: WireRequest?
    /// The size of the frames of the animation that is open.
    private let frameSize: PixelSize?
    /// The largest number of bytes that a worker may allocate.
    private let memoryLimit: Int
    private let timeLimit: Duration
    /// The part of it that remains. Time while the program is stopped, as by Ctrl-Z, doesn't count.
    private var timeLeft: Duration
    private var lastLook = SuspendingClock.now
    /// The processor time for the request, and the time that the worker has then used in all. On a busy machine, much more time passes.
    private let processorLimit: Duration
    private let processorEnd: Duration
    /// The memory of the decode, until the conversation ends.
    private var reservation: DecodeReservation?
    /// True once the pixels were described, and have their memory.
    private var hasMemory = false
    /// The reason why memory is missing for the decode.
    private var refusal: ImageError?

    enum Failure: Error {
        /// An error of the image. The worker is ready for the next request.
        case image(ImageError)
        /// The program gives the image up, and with it the worker, which may be in the middle of it.
        case abandoned(ImageError)
        /// The worker is of no more use.
        case connection(WireSocket.Failure)
        /// The worker says something that an honest worker never says.
        case nonsense
        case timeout(Duration)
        /// The program has no memory or no descriptors.
        case system(String, Int32)
    }

    init(
        _ worker: WorkerProcess, about request: WireRequest?, frameSize: PixelSize? = nil,
        _ isolation: DecoderIsolation, _ context: ProcessingContext
    ) {
        (self.worker, self.request, self.frameSize, self.context) = (worker, request, frameSize, context)
        memoryLimit = isolation.memoryLimit.bytes
        timeLimit = request == nil ? isolation.startLimit : isolation.timeLimit
        timeLeft = timeLimit
        processorLimit =
            request.map { isolation.processorLimit(byteCount: $0.byteCount, formats: $0.formats) }
            ?? isolation.startLimit
        processorEnd = (worker.processorTime ?? .zero) + processorLimit
    }

    /// Waits until a new worker is confined.
    func begin(_ settings: WorkerSettings) throws(Failure) {
        try send(.begin(settings))
        switch try receive() {
        case .ready: break
        case .failed(_, let reason):
            let reason = WireRequest.cleaned(reason, limit: 2_000)
            throw .image(ImageError(.decoderUnavailable, stage: .decode, reason: reason))
        default: throw .nonsense
        }
    }

    /// Sends a request, with the bytes of an image if there are any, and waits for its answer. An error of the image is thrown.
    func ask(_ message: HostMessage, about file: SharedMemory? = nil) throws(Failure) -> WorkerMessage {
        try send(message, file)
        return try answer()
    }

    /// Gives the worker memory for the pixels that it described, and returns them.
    func frame(_ image: WireImage) throws(Failure) -> ImageFrame {
        // Rows are padded, but not to twice the memory of an image.
        guard let count = image.byteCount, count / 2 <= context.limits.maximumBytes.bytes else { throw .nonsense }
        // A frame has the memory of its animation. A worker that reserved too little for an image is in the middle of it, and of no more use
        // without room.
        let pixelBytes = image.size.pixelCount * image.format.bytesPerPixel
        if frameSize == nil, (reservation?.bytes ?? 0) < min(pixelBytes, context.budget.limit.bytes / 2) {
            do throws(Failure) { try reserve(count, and: 0) } catch .image(let error) { throw .abandoned(error) }
        }
        hasMemory = true
        let memory = try SharedMemory(count: count)
        guard case .written = try ask(.memory, about: memory) else { throw .nonsense }
        let pixels = try memory.pixels(image.size, image.format, pool: context.pool)
        return ImageFrame(pixels: pixels, duration: image.duration)
    }

    func send(_ message: HostMessage, _ file: SharedMemory? = nil) throws(Failure) {
        _ = try interruptible { wait throws(WireSocket.Failure) in
            try worker.socket.send(message, file: file?.descriptor ?? -1, wait: wait)
        }
    }

    // MARK: Inside

    private func receive() throws(Failure) -> WorkerMessage {
        let start = Self.threadTime
        let message = try interruptible { wait throws(WireSocket.Failure) in
            try worker.socket.receive(WorkerMessage.self, wait: wait)
        }
        // A worker can't gain time with messages that take long to read.
        timeLeft -= Self.threadTime - start
        if timeLeft <= .zero { throw .timeout(timeLimit) }
        do throws(ImageError) { try context.checkCancellation() } catch { throw .abandoned(error) }
        return message
    }

    /// The processor time of the calling thread.
    private static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func answer() throws(Failure) -> WorkerMessage {
        guard let request else { throw .nonsense }
        for _ in 0..<Self.maximumReservations {
            let answer = try receive()
            if let refusal {
                guard case .failed = answer else { throw .nonsense }
                throw .image(refusal)
            }
            switch try request.validated(answer, frameSize: frameSize) {
            case .reserve(let bytes):
                guard !hasMemory else { throw .nonsense }
                try reserve(bytes)
            case .failed(let code, let reason): throw .image(ImageError(code, stage: .decode, reason: reason))
            case let answer: return answer
            }
        }
        throw .nonsense
    }

    /// A decoder reserves memory once, and several may try an image.
    private static let maximumReservations = 16

    /// Reserves the memory that a decoder says it needs, in the worker, and for the pixels in this process.
    private func reserve(_ bytes: Int) throws(Failure) {
        do throws(Failure) {
            try reserve(min(bytes, memoryLimit), and: min(bytes, max(0, context.limits.maximumBytes.bytes)))
        } catch .image(let error) {
            refusal = error
            return try send(.stop)
        }
        try send(.proceed)
    }

    /// Counts memory in the budget of all decodes: at most half of it, so that a worker that lies can't stop other decodes.
    private func reserve(_ bytes: Int, and more: Int) throws(Failure) {
        reservation?.release()
        reservation = nil
        let (sum, isTooMuch) = bytes.addingReportingOverflow(more)
        // The time of other decodes doesn't count.
        defer { lastLook = .now }
        do throws(ImageError) {
            reservation = try context.reserve(min(isTooMuch ? .max : sum, context.budget.limit.bytes / 2))
        } catch {
            throw error.isCancellation ? .abandoned(error) : .image(error)
        }
    }

    private func interruptible<Value>(
        _ body: (WireSocket.Wait) throws(WireSocket.Failure) -> Value
    ) throws(Failure) -> Value {
        var interruption: Failure?
        do throws(WireSocket.Failure) {
            return try body { events throws(WireSocket.Failure) in
                interruption = wait(for: events)
                if interruption != nil { throw .interrupted }
            }
        } catch {
            throw interruption ?? .connection(error)
        }
    }

    /// Waits until the worker can be heard, or spoken to, and looks every ten milliseconds whether anyone still wants the image.
    private func wait(for events: Int32) -> Failure? {
        while true {
            do throws(ImageError) { try context.checkCancellation() } catch { return .abandoned(error) }
            let now = SuspendingClock.now
            timeLeft -= min(now - lastLook, .milliseconds(200))
            lastLook = now
            if timeLeft <= .zero { return .timeout(timeLimit) }
            if let used = worker.processorTime, used > processorEnd { return .timeout(processorLimit) }
            var poll = pollfd(fd: worker.socket.descriptor, events: Int16(events), revents: 0)
            let ready = Glibc.poll(&poll, 1, 10)
            if ready > 0 { return nil }
            if ready < 0, errno != EINTR { return .connection(.system(errno)) }
        }
    }
}
