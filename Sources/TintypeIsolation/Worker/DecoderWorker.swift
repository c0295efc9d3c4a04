internal import CIsolation
internal import FoundationEssentials
internal import Glibc
package import TintypeImages

/// The life of a worker: it gives up its rights, and decodes the data that it is sent until its program is gone.
package struct DecoderWorker {
    private let coders: ImageCoders
    private let socket: WireSocket
    /// The memory that needs no reservation, in bytes.
    private var workingMemory: UInt64 = 0

    /// Processor time of a worker in all, in seconds: the last resort against a worker whose program was stopped.
    private static let processorSeconds: UInt64 = 3_600

    package init(coders: ImageCoders, socket: Int32 = TINTYPE_WORKER_SOCKET) {
        self.coders = coders
        self.socket = WireSocket(descriptor: socket)
    }

    /// Runs until the program is gone.
    /// - Parameter prepare: loads resources that decoders open only once, such as fonts. Without Landlock, they can't open files later.
    /// - Returns: the status to exit with.
    package func run(preparing prepare: () -> Void = {}) -> Int32 {
        do throws(WireSocket.Failure) {
            guard case .begin(let settings) = try receive().message else { return TINTYPE_OTHER_VERSION }
            for index in stride(from: 0, to: settings.variables.count - 1, by: 2) {
                setenv(settings.variables[index], settings.variables[index + 1], 1)
            }
            setlocale(LC_CTYPE, settings.locale)
            prepare()
            let memory = UInt64(max(settings.memoryLimit, 0))
            if let refused = tintype_confine(socket.descriptor, memory, Self.processorSeconds) {
                let reason = "the system doesn't let it \(String(cString: refused))"
                try send(.failed(ImageError(.decoderUnavailable, stage: .decode, reason: reason)))
                return TINTYPE_UNCONFINED
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
        let (message, file) = try receive()
        defer { if file >= 0 { close(file) } }
        var failure: WireSocket.Failure?
        do throws(ImageError) {
            switch message {
            case .info(let request):
                let (data, coders) = (try mapped(file, request.byteCount), coders(for: request))
                let info = try coders.info(of: data, hint: hint(for: request), context: context(request))
                failure = attempt { () throws(WireSocket.Failure) in try send(.info(info)) }
            case .decode(let request):
                let (data, coders) = (try mapped(file, request.byteCount), coders(for: request))
                let image = try coders.decode(data, options: options(for: request), context: context(request))
                failure = attempt { () throws(WireSocket.Failure) in
                    try share([ImageFrame(pixels: image.pixels)], image.properties, image.animation?.info)
                }
            case .open(let request):
                let (data, coders) = (try mapped(file, request.byteCount), coders(for: request))
                guard
                    let decoder = try coders.frameDecoder(
                        for: data, options: options(for: request), context: context(request))
                else { throw ImageError(.notAnimated, stage: .decode, reason: "the format has no frames") }
                frames = decoder
                failure = attempt { () throws(WireSocket.Failure) in try send(.opened(decoder.info, decoder.outputSize))
                }
            case .nextFrame:
                let frame = try frames?.nextFrame()
                failure = attempt { () throws(WireSocket.Failure) in
                    if let frame { try share([frame], Image.Properties()) } else { try send(.done) }
                }
            case .seek(let index):
                try frames?.seek(to: index)
                failure = attempt { () throws(WireSocket.Failure) in try send(.done) }
            case .keepSeekPoints(let interval):
                frames?.keepSeekPoints(every: interval)
                failure = attempt { () throws(WireSocket.Failure) in try send(.done) }
            case .close: frames = nil
            // Answers to nothing.
            case .begin, .proceed, .stop, .memory: failure = .garbage
            }
        } catch {
            try send(.failed(error))
        }
        if let failure { throw failure }
    }

    private func attempt(_ body: () throws(WireSocket.Failure) -> Void) -> WireSocket.Failure? {
        do throws(WireSocket.Failure) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Decoding

    /// The coders for the formats of the coder that the program isolates, in this process.
    private func coders(for request: WireRequest) -> ImageCoders {
        ImageCoders(coders.coders.filter { !$0.decodableFormats.isDisjoint(with: request.formats) })
    }

    /// The format to assume: the format of the program's coder, which a camera file doesn't tell.
    private func hint(for request: WireRequest) -> ImageFormat? {
        request.options.formatHint ?? (request.formats.count == 1 ? request.formats.first : nil)
    }

    private func options(for request: WireRequest) -> DecodeOptions {
        var options = request.options
        options.formatHint = hint(for: request)
        return options
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
        guard file >= 0, tintype_is_memory_file(file, count) == 1,
            let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0), memory != MAP_FAILED
        else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "the decoder couldn't allocate \(ByteCount(count))")
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .custom { munmap($0, $1) })
    }

    // MARK: Answers

    /// Describes an image, and writes its pixels into the memory that the program gives.
    private func share(
        _ frames: [ImageFrame], _ properties: Image.Properties, _ animation: ImageInfo? = nil
    ) throws(WireSocket.Failure) {
        guard let image = WireImage(frames, properties: properties, animation: animation), let count = image.byteCount
        else { throw .garbage }
        try send(.layout(image))
        let (message, file) = try receive()
        defer { if file >= 0 { close(file) } }
        guard case .memory = message, tintype_is_memory_file(file, count) == 1 else { throw .garbage }
        for (index, frame) in frames.enumerated() {
            // Written, not mapped: the pages are neither cleared first nor faulted in, and the program can seal them at once.
            let isWritten = frame.pixels.withUnsafeBytes { write($0, to: file, at: index * image.frameStride) }
            guard isWritten else { throw .system(errno) }
        }
        try send(.written)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Bool {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            let count = pwrite(file, start + done, bytes.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private func receive() throws(WireSocket.Failure) -> (message: HostMessage, file: Int32) {
        try socket.receiveWithFile(HostMessage.self, wait: wait)
    }

    private func send(_ message: WorkerMessage) throws(WireSocket.Failure) { try socket.send(message, wait: wait) }

    private func wait(for events: Int32) throws(WireSocket.Failure) {
        var poll = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
        while Glibc.poll(&poll, 1, -1) < 0 {
            guard errno == EINTR else { throw .system(errno) }
        }
    }
}
