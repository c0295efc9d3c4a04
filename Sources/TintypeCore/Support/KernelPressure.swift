internal import Glibc

/// The kernel's signals of memory pressure: triggers of pressure stall information, and the counters of the program's
/// control group. What a kernel lacks, or does not let the program have, is left out.
final class KernelPressure: PressureSignals {
    /// Programs lost 50 ms of the last 2 s to waiting for memory. Without privileges the window has to be a multiple of 2 s
    /// (kernel documentation, accounting/psi).
    static let warningTrigger = "some 50000 2000000"
    /// No program did anything else for 50 ms of the last 2 s.
    static let criticalTrigger = "full 50000 2000000"

    private enum Source {
        case stall(MemoryPressure.Level)
        /// The counters when they were last read.
        case group(GroupMemoryEvents)
    }

    private struct State {
        var sources: [(descriptor: Int32, source: Source)] = []
        /// A pipe whose far end is closed to wake the thread that waits.
        var wake: (near: Int32, far: Int32) = (-1, -1)
        var isClosed = false
    }

    private let system: SystemMemory
    private let state = Lock(State())

    init(system: SystemMemory = SystemMemory()) { self.system = system }

    deinit {
        state.withLock { state in
            for (descriptor, _) in state.sources { Glibc.close(descriptor) }
            for end in [state.wake.near, state.wake.far] where end >= 0 { Glibc.close(end) }
        }
    }

    func open() -> Bool {
        state.withLock { state in
            let triggers = [(Self.warningTrigger, MemoryPressure.Level.warning), (Self.criticalTrigger, .critical)]
            for (trigger, level) in triggers {
                guard let descriptor = openTrigger(trigger) else { continue }
                state.sources.append((descriptor, .stall(level)))
            }
            if let path = system.controlGroupFolder.map({ "\(system.root)\($0)/memory.events" }) {
                let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                if descriptor >= 0 {
                    state.sources.append((descriptor, .group(GroupMemoryEvents(text(of: descriptor)))))
                }
            }
            guard !state.sources.isEmpty else { return false }
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return false }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            state.wake = (ends[0], ends[1])
            return true
        }
    }

    /// A trigger lives as long as its descriptor.
    private func openTrigger(_ trigger: String) -> Int32? {
        let descriptor = Glibc.open("\(system.root)/proc/pressure/memory", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        // The zero at the end counts.
        let written = trigger.withCString { write(descriptor, $0, strlen($0) + 1) }
        if written > 0 { return descriptor }
        Glibc.close(descriptor)
        return nil
    }

    func next() -> MemoryPressure.Level? {
        while true {
            var polled: [pollfd] = state.withLock { state in
                let descriptors = state.isClosed ? [] : state.sources.map(\.descriptor)
                return descriptors.map { pollfd(fd: $0, events: Int16(POLLPRI), revents: 0) }
                    + [pollfd(fd: state.wake.near, events: Int16(POLLIN), revents: 0)]
            }
            guard polled.count > 1 else { return nil }
            guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { return nil }
            if let level = take(polled.dropLast().map { (descriptor: $0.fd, events: Int32($0.revents)) }) {
                return level
            }
        }
    }

    /// The most severe of what the sources tell; those that have gone are closed.
    func take(_ signals: [(descriptor: Int32, events: Int32)]) -> MemoryPressure.Level? {
        state.withLock { state in
            var levels: [MemoryPressure.Level] = []
            for (descriptor, events) in signals where events != 0 {
                guard let index = state.sources.firstIndex(where: { $0.descriptor == descriptor }) else { continue }
                // An error alone: the trigger or the group is no more.
                guard events & POLLPRI != 0 else {
                    Glibc.close(descriptor)
                    state.sources.remove(at: index)
                    continue
                }
                switch state.sources[index].source {
                case .stall(let level): levels.append(level)
                case .group(let before):
                    let events = GroupMemoryEvents(text(of: descriptor))
                    state.sources[index].source = .group(events)
                    if let level = events.level(since: before) { levels.append(level) }
                }
            }
            return levels.max()
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            if state.wake.far >= 0 { Glibc.close(state.wake.far) }
            state.wake.far = -1
        }
    }

    /// For tests: what is watched.
    var descriptors: [Int32] { state.withLock { $0.sources.map(\.descriptor) } }

    /// A small file from its beginning.
    private func text(of descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

/// How often a control group came to its limits: `memory.events` (kernel documentation, cgroup-v2).
struct GroupMemoryEvents: Equatable {
    /// The group was over `memory.high` and had to give memory back.
    var high = 0
    /// The group was about to exceed `memory.max`, or did and lost a process.
    var limit = 0

    /// Lines of a name and a number; what else there is does not count.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count == 2, let count = Int(fields[1]) else { continue }
            switch fields[0] {
            case "high": high = count
            case "max", "oom", "oom_kill": limit &+= count
            default: break
            }
        }
    }

    /// What happened since earlier counts; `nil` if nothing did.
    func level(since earlier: GroupMemoryEvents) -> MemoryPressure.Level? {
        limit > earlier.limit ? .critical : high > earlier.high ? .warning : nil
    }
}
