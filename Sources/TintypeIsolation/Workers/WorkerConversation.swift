internal import Glibc
internal import TintypeImages

/// A conversation with a worker about one request, with a deadline. Used by one thread.
final class WorkerConversation {
    private let socket: WireSocket
    private let context: DecodeContext
    private var deadline: ContinuousClock.Instant
    /// The memory of the decode, until the conversation ends.
    private var reservation: DecodeReservation?
    /// The reason why there is no memory for the decode.
    private var refusal: ImageError?

    enum Failure: Error {
        /// An error of the image. The worker is ready for the next one.
        case image(ImageError)
        /// The program gives the image up, and with it the worker, which may be in the middle of it.
        case abandoned(ImageError)
        /// The worker is of no more use.
        case connection(WireSocket.Failure)
        /// The worker says what no honest one says.
        case nonsense
        case timeout
        /// The program has no memory or no descriptors.
        case system(String, Int32)
    }

    init(_ socket: WireSocket, deadline: ContinuousClock.Instant, _ context: DecodeContext) {
        self.socket = socket
        self.deadline = deadline
        self.context = context
    }

    /// Waits until a new worker is confined.
    func begin(_ settings: WorkerSettings) throws(Failure) {
        try send(.begin(settings))
        guard case .ready = try receive() else { throw .nonsense }
    }

    /// Sends a request, and waits for its answer. An error of the image is thrown.
    func ask(_ message: HostMessage) throws(Failure) -> WorkerMessage {
        try send(message)
        return try answer()
    }

    /// Sends a request with the bytes of an image, and waits for its answer.
    func ask(_ message: HostMessage, about file: SharedMemory) throws(Failure) -> WorkerMessage {
        try send(message, descriptor: file.descriptor)
        return try answer()
    }

    /// Gives the worker memory for the pixels that it described.
    func frames(_ image: WireImage) throws(Failure) -> [ImageFrame] {
        let (frame, limits) = (image.layout.byteCount, context.limits)
        let (pixels, overflow) = frame.multipliedReportingOverflow(by: image.durations.count)
        // Rows have a little room at their ends.
        let room = 64 * image.size.height * image.durations.count
        guard let count = image.byteCount, !overflow, pixels - room <= limits.maximumBytes.bytes,
            image.durations.count <= max(1, limits.maximumFrames)
        else {
            throw .abandoned(
                ImageError(
                    .limitExceeded, stage: .decode,
                    reason:
                        "\(image.durations.count) × \(image.size) pixels take more than the limit of \(limits.maximumBytes)"
                ))
        }
        let memory = try SharedMemory(count: count)
        guard case .written = try ask(.memory, about: memory) else { throw .nonsense }
        return try memory.frames(image, pool: context.pool)
    }

    func send(_ message: HostMessage) throws(Failure) { try send(message, descriptor: -1) }

    // MARK: Inside

    private func send(_ message: HostMessage, descriptor: Int32) throws(Failure) {
        _ = try interruptible { wait throws(WireSocket.Failure) in
            try socket.send(message, file: descriptor, wait: wait)
        }
    }

    private func receive() throws(Failure) -> WorkerMessage {
        try interruptible { wait throws(WireSocket.Failure) in try socket.receive(WorkerMessage.self, wait: wait) }
    }

    private func answer() throws(Failure) -> WorkerMessage {
        while true {
            switch try receive() {
            case .reserve(let bytes): try reserve(bytes)
            case .failed(let error): throw .image(refusal ?? error)
            case let message:
                guard refusal == nil else { throw .nonsense }
                return message
            }
        }
    }

    /// Reserves the memory that a decoder needs: in the worker, and for the pixels in this process.
    private func reserve(_ bytes: Int) throws(Failure) {
        guard refusal == nil, bytes >= 0 else { throw .nonsense }
        reservation?.release()
        reservation = nil
        // The time in which others decode doesn't count.
        let began = ContinuousClock.now
        do throws(ImageError) {
            let (both, overflow) = bytes.multipliedReportingOverflow(by: 2)
            reservation = try context.reserve(overflow ? .max : both)
        } catch {
            if error.isCancellation { throw .abandoned(error) }
            refusal = error
            return try send(.stop)
        }
        deadline += ContinuousClock.now - began
        try send(.proceed)
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
            if ContinuousClock.now > deadline { return .timeout }
            var poll = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
            let ready = Glibc.poll(&poll, 1, 10)
            if ready > 0 { return nil }
            if ready < 0, errno != EINTR { return .connection(.system(errno)) }
        }
    }
}
