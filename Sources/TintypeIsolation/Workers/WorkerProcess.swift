internal import CIsolation
internal import Glibc
internal import TintypeImages

/// A process that decodes for this one. It ends with the last reference to it.
final class WorkerProcess: Sendable {
    let process: Int32
    let socket: WireSocket
    /// A descriptor of the process; -1 where the system has none.
    private let handle: Int32
    /// The process is killed when no program has this descriptor any more, even while it is stopped.
    private let lifeline: Int32
    /// The process that started it.
    private let starter = getpid()
    private let state = Lock(State())

    /// The origin of images; that of the user's own has no name.
    struct Origin: Equatable {
        var name: String?
    }

    private struct State {
        var requests = 0
        var served: Origin?
        var ending: WorkerEnding?
    }

    init(_ program: WorkerProgram) throws(ImageError) {
        var (started, descriptor, lifeline): (Int32, Int32, Int32) = (0, -1, -1)
        let code = tintype_start_worker(program.file, program.library, &descriptor, &lifeline, &started)
        guard code == 0 else {
            throw WorkerConversation.Failure.unavailable("\(program.name) can't be started to decode", code)
        }
        process = started
        socket = WireSocket(descriptor: descriptor)
        self.lifeline = lifeline
        handle = tintype_open_process(started)
    }

    /// False in a copy of the program that it made with `fork`, which must leave the process alone.
    var isOwn: Bool { starter == getpid() }

    /// False once the process was ended, and in a copy of the program.
    var isUsable: Bool { isOwn && state.withLock { $0.ending == nil } }

    deinit {
        end()
        close(socket.descriptor)
        if handle >= 0 { close(handle) }
    }

    /// The origin whose images the process has seen; `nil` if it has seen none.
    var served: Origin? { state.withLock { $0.served } }

    /// The number of requests, an animation being one.
    var requests: Int { state.withLock { $0.requests } }

    /// Lets the process run, for a request about an image of an origin.
    func serve(_ origin: String?) {
        state.withLock { state in
            state.served = Origin(name: origin)
            state.requests += 1
        }
        tintype_signal_process(handle, process, SIGCONT)
    }

    /// Stops the process: whatever has taken it over gets no processor until the next image.
    func pause() { tintype_signal_process(handle, process, SIGSTOP) }

    /// False once the process has ended, for whatever reason.
    var isAlive: Bool {
        var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        // A worker that waits has nothing to say.
        return Glibc.poll(&poll, 1, 0) == 0
    }

    /// The processor time that it has used; `nil` if it is gone.
    var processorTime: Duration? {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return Duration.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The memory that is resident now, in bytes; `nil` if the process is gone.
    var residentBytes: Int? {
        let numbers = SystemMemory().lines(of: "/proc/\(process)/statm").first?.split(separator: " ") ?? []
        return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(getpagesize()) } : nil
    }

    /// Waits for the end of the process, but not for ever: a thread of the program must not hang for one that can't be killed.
    private func reaped() -> WorkerEnding {
        var status: Int32 = 0
        for attempt in 0..<2_000 {
            let result = waitpid(process, &status, WNOHANG)
            if result < 0, errno == EINTR { continue }
            if result == process {
                let signal = status & 0x7F
                return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
            }
            // A program that ignores SIGCHLD, or waits for all children, knows it already.
            guard result == 0 else { break }
            var poll = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
            // Without a descriptor, this only waits.
            _ = Glibc.poll(&poll, 1, attempt < 20 ? 1 : 5)
        }
        return .unknown
    }

    /// Ends the process at once, and leaves no zombie.
    @discardableResult
    func end() -> WorkerEnding {
        state.withLock { state in
            if let ending = state.ending { return ending }
            // A process that has ended already keeps its own reason. A program that has changed its user since may no longer kill it; the kernel
            // does when the lifeline is closed.
            if isOwn { tintype_signal_process(handle, process, SIGKILL) }
            close(lifeline)
            let ending = isOwn ? reaped() : .unknown
            state.ending = ending
            return ending
        }
    }
}
