internal import CIsolation
internal import FoundationEssentials
internal import Glibc
package import TintypeImages

/// The life of a worker: it gives up its rights, and decodes the data that it is sent until its program is gone.
package struct DecoderWorker {
    private let coders: ImageCoders
    private let socket = WireSocket(descriptor: TINTYPE_WORKER_SOCKET)
    /// The memory that needs no reservation, in bytes.
    private var workingMemory: UInt64 = 0

    /// Processor time of a worker in all, in seconds: the last resort against a worker whose program was stopped.
    static let processorSeconds: UInt64 = 3_600

    package init(coders: ImageCoders) { self.coders = coders }

    /// Runs until the program is gone.
    /// - Parameter prepare: loads resources that decoders open only once, such as fonts. Without Landlock, they can't open files later.
    /// - Returns: the status to exit with.
    package func run(preparing prepare: () -> Void = {}) -> Int32 {
        do throws(WireSocket.Failure) {
            guard case .begin(let settings) = try receive().message else { return TINTYPE_OTHER_VERSION }
            for (name, value) in settings.variables { setenv(name, value, 1) }
            setlocale(LC_CTYPE, settings.locale)
            prepare()
            let memory = UInt64(max(settings.memoryLimit, 0))
            if let refused = tintype_confine(memory, Self.processorSeconds) {
                let reason = "the system doesn't let it \(String(cString: refused))"
                try send(.failed(.decoderUnavailable, reason))
                return 1
            }
            var worker = self
            worker.workingMemory = UInt64(max(settings.workingMemoryLimit, 0))
            try send(.ready)
            var frames: (any FrameDecoder)?
            while true { try worker.serve(&frames) }
        } catch {
            return 0
        }
    }

    private func serve(_ frames: inout (any FrameDecoder)?) throws(WireSocket.Failure) {
        let (request, file) = try receive()
        defer { if file >= 0 { close(file) } }
        let (answer, pixels): (WorkerMessage?, PixelBuffer?)
        do throws(ImageError) {
            (answer, pixels) = try self.answer(to: request, file, &frames)
        } catch {
            // The program wouldn't believe other codes.
            let code = WireRequest.codes.contains(error.code) ? error.code : .corruptImage
            // A message has no long texts.
            (answer, pixels) = (.failed(code, WireRequest.cleaned(error.reason, limit: 1_000)), nil)
        }
        guard let answer else { return }
        try send(answer)
        if let pixels { try share(pixels) }
    }

    /// Returns the answer to a request, if it has one, and the pixels that it describes.
    private func answer(
        to message: HostMessage, _ file: Int32, _ frames: inout (any FrameDecoder)?
    ) throws(ImageError) -> (WorkerMessage?, PixelBuffer?) {
        switch message {
        case .info(let request):
            let (data, coders) = (try mapped(file, request.byteCount), coders(for: request))
            let info = try coders.info(of: data, hint: request.options.formatHint, context: context(request))
            return (.info(info), nil)
        case .decode(let request):
            let (data, coders) = (try mapped(file, request.byteCount), coders(for: request))
            let image = try coders.decode(data, options: request.options, context: context(request))
            let layout = WireImage(
                image.pixels.size, image.pixels.format, properties: image.properties, animation: image.animation?.info)
            return (.layout(layout), image.pixels)
        case .open(let request):
            let (data, coders) = (try mapped(file, request.byteCount), coders(for: request))
            let decoder = try coders.frameDecoder(for: data, options: request.options, context: context(request))
            guard let decoder else {
                throw ImageError(.notAnimated, stage: .decode, reason: "the format has no frames")
            }
            frames = decoder
            return (.opened(decoder.info, decoder.outputSize), nil)
        case .nextFrame:
            guard let frame = try frames?.nextFrame() else { return (.done, nil) }
            let layout = WireImage(frame.pixels.size, frame.pixels.format, duration: frame.duration)
            return (.layout(layout), frame.pixels)
        case .seek(let index): try frames?.seek(to: index)
        case .keepSeekPoints(let interval): frames?.keepSeekPoints(every: interval)
        case .close:
            frames = nil
            return (nil, nil)
        // Answers to nothing.
        case .begin, .proceed, .stop, .memory: return (nil, nil)
        }
        return (.done, nil)
    }

    // MARK: Decoding

    /// The coders for the formats of the coder that the program isolates, in this process.
    private func coders(for request: WireRequest) -> ImageCoders {
        ImageCoders(coders.coders.filter { !$0.decodableFormats.isDisjoint(with: request.formats) })
    }

    /// A context whose memory the program reserves.
    private func context(_ request: WireRequest) -> ProcessingContext {
        tintype_limit_memory(workingMemory)
        let reserved = Lock(workingMemory)
        return ProcessingContext(limits: request.limits) { [self] bytes throws(ImageError) in
            let answer: HostMessage
            do throws(WireSocket.Failure) {
                try send(.reserve(bytes))
                answer = try receive().message
            } catch {
                _exit(0)
            }
            guard case .proceed = answer else { throw ProcessingContext.overBudget(bytes) }
            let memory = reserved.withLock { reserved in
                reserved += min(UInt64(max(bytes, 0)), 1 << 48)
                return reserved
            }
            tintype_limit_memory(memory)
        }
    }

    /// Maps the bytes of an image. They are unmapped with the last copy of the data.
    private func mapped(_ file: Int32, _ count: Int) throws(ImageError) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0), memory != MAP_FAILED else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "the decoder couldn't allocate \(ByteCount(count))")
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .custom { munmap($0, $1) })
    }

    // MARK: Answers

    /// Writes pixels into the memory that the program gives.
    private func share(_ pixels: PixelBuffer) throws(WireSocket.Failure) {
        let (message, file) = try receive()
        defer { if file >= 0 { close(file) } }
        guard case .memory = message else { throw .garbage }
        // Written, not mapped: the pages are neither cleared first nor faulted in, and the program can seal them at once.
        guard pixels.withUnsafeBytes({ SharedMemory.write($0, to: file) }) else { throw .system(errno) }
        try send(.written)
    }

    private func receive() throws(WireSocket.Failure) -> (message: HostMessage, file: Int32) {
        var file: Int32 = -1
        let message = try socket.receive(HostMessage.self, file: &file, wait: wait)
        return (message, file)
    }

    private func send(_ message: WorkerMessage) throws(WireSocket.Failure) { try socket.send(message, wait: wait) }

    /// Waits until the socket may be ready, and is called again if it isn't.
    private func wait(for events: Int32) throws(WireSocket.Failure) {
        var poll = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
        guard Glibc.poll(&poll, 1, -1) >= 0 || errno == EINTR else { throw .system(errno) }
    }
}
