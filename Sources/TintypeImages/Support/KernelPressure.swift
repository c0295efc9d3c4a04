internal import Glibc

/// The kernel's signals of memory pressure: triggers of pressure stall information, and the counters of the program's control
/// group. Signals that the kernel lacks, or denies to the program, are omitted.
final class KernelPressure: PressureSignals {
    /// Fires when programs waited 50 ms of the last 2 s for memory. Without privileges, the window has to be a multiple of 2 s
    /// (kernel documentation, accounting/psi).
    static let warningTrigger = "some 50000 2000000"
    /// Fires when all programs waited for memory at once for 50 ms of the last 2 s.
    static let criticalTrigger = "full 50000 2000000"

    private enum Source {
        case stall(MemoryPressure.Level)
        /// The counters at the last reading.
        case group(GroupMemoryEvents)
    }

    private struct State {
        var sources: [(descriptor: Int32, source: Source)] = []
        /// A pipe. Closing its far end wakes the waiting thread.
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

    /// Opens a trigger, which lives as long as its descriptor.
    private func openTrigger(_ trigger: String) -> Int32? {
        let descriptor = Glibc.open("\(system.root)/proc/pressure/memory", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        // The terminating zero is part of the message.
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

    /// Returns the most severe level among the signals, and closes sources that no longer exist.
    func take(_ signals: [(descriptor: Int32, events: Int32)]) -> MemoryPressure.Level? {
        state.withLock { state in
            var levels: [MemoryPressure.Level] = []
            for (descriptor, events) in signals where events != 0 {
                guard let index = state.sources.firstIndex(where: { $0.descriptor == descriptor }) else { continue }
                // Only an error: the trigger or the group no longer exists.
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

    /// The observed descriptors; for tests.
    var descriptors: [Int32] { state.withLock { $0.sources.map(\.descriptor) } }

    /// Reads a small file from its start.
    private func text(of descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

/// The number of times that a control group reached its limits: `memory.events` (kernel documentation, cgroup-v2).
struct GroupMemoryEvents: Equatable {
    /// The group exceeded `memory.high` and had to return memory.
    var high = 0
    /// The group was about to exceed `memory.max`, or exceeded it and lost a process.
    var limit = 0

    /// Parses lines of a name and a number. Others are ignored.
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

    /// Returns the level of the events since earlier counts; `nil` if there were none.
    func level(since earlier: GroupMemoryEvents) -> MemoryPressure.Level? {
        limit > earlier.limit ? .critical : high > earlier.high ? .warning : nil
    }
}
