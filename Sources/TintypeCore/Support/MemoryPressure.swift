internal import Glibc
internal import Logging

/// Tells when the system, or the program's control group, runs out of memory.
///
/// It listens to what Linux offers: the triggers of `/proc/pressure/memory` (pressure stall information), and the event
/// counters of the program's control group (version 2). Where there is neither, this is logged once, and only
/// ``report(_:)`` tells of pressure.
///
/// ```swift
/// cache.observe(.system)                       // Trims to its watermarks by itself.
/// MemoryPressure.system.report(.critical)      // What a desktop's own monitor has noticed.
/// ```
public final class MemoryPressure: Sendable {
    /// How scarce memory is.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Programs wait for memory, or the control group is over its `memory.high`.
        case warning
        /// All programs at once wait for memory, or the control group has reached its limit.
        case critical

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// An observer, which is told until this is released or cancelled.
    public final class Observation: Sendable {
        private let end: @Sendable () -> Void
        fileprivate init(end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
        /// Tells the observer no more. May be called twice.
        public func cancel() { end() }
    }

    /// What an owner observes: nothing, or one source of pressure at a time.
    final class Subscription: Sendable {
        private let observation = Lock<Observation?>(nil)

        /// Observes `pressure` in place of what was observed before; nothing if it is `nil`.
        func replace(with pressure: MemoryPressure?, _ observer: @escaping @Sendable (Level) -> Void) {
            let new = pressure?.observe(observer)
            let old = observation.withLock { observation in
                let old = observation
                observation = new
                return old
            }
            old?.cancel()
        }
    }

    /// The pressure in the machine and the program's control group.
    public static let system: MemoryPressure = {
        let logger = Logger(label: "tintype.memory-pressure")
        return MemoryPressure(KernelPressure(), log: { logger.notice("\($0)") })
    }()

    private let core: PressureCore

    /// Pressure that nothing but ``report(_:)`` tells of, for a program that watches memory by itself.
    public convenience init() { self.init(NoSignals(), log: { _ in }) }

    /// - Parameter log: where it is told that the signals offer nothing.
    init(_ signals: any PressureSignals, log: @escaping @Sendable (String) -> Void) {
        core = PressureCore(signals, log: log)
    }

    deinit { core.signals.close() }

    /// Calls `observer` whenever memory is scarce, on a thread of its own, until the observation ends.
    public func observe(_ observer: @escaping @Sendable (Level) -> Void) -> Observation {
        let token = core.add(observer)
        return Observation { [core] in core.remove(token) }
    }

    /// Tells all observers before it returns.
    public func report(_ level: Level) { core.report(level) }
}

/// What tells of memory pressure.
protocol PressureSignals: Sendable {
    /// False if there is nothing to wait for. Called once, before the first `next`.
    func open() -> Bool
    /// Waits until memory is scarce; `nil` after it was closed, or when the signals have gone.
    func next() -> MemoryPressure.Level?
    func close()
}

/// A kernel that tells nothing.
private struct NoSignals: PressureSignals {
    func open() -> Bool { false }
    func next() -> MemoryPressure.Level? { nil }
    func close() {}
}

/// What the watching thread shares with its owner, which it does not keep alive.
private final class PressureCore: Sendable {
    private struct State {
        var observers: [Int: @Sendable (MemoryPressure.Level) -> Void] = [:]
        var nextToken = 0
        var hasStarted = false
    }

    let signals: any PressureSignals
    private let state = Lock(State())
    private let log: @Sendable (String) -> Void

    init(_ signals: any PressureSignals, log: @escaping @Sendable (String) -> Void) {
        self.signals = signals
        self.log = log
    }

    func add(_ observer: @escaping @Sendable (MemoryPressure.Level) -> Void) -> Int {
        let (token, isFirst) = state.withLock { state in
            let isFirst = !state.hasStarted
            state.hasStarted = true
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return (state.nextToken, isFirst)
        }
        if isFirst { start() }
        return token
    }

    func remove(_ token: Int) {
        // Released outside of the lock: it may own anything.
        let observer = state.withLock { $0.observers.removeValue(forKey: token) }
        withExtendedLifetime(observer) {}
    }

    func report(_ level: MemoryPressure.Level) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(level) }
    }

    private func start() {
        guard signals.open() else {
            return log(
                "the kernel tells nothing of memory pressure here (neither /proc/pressure/memory nor memory.events of "
                    + "a control group); caches keep to their limits, and are trimmed further only on request")
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let failed = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let core = Unmanaged<PressureCore>.fromOpaque(context).takeRetainedValue()
                while let level = core.signals.next() { core.report(level) }
                return nil
            }, context)
        guard failed == 0 else {
            Unmanaged<PressureCore>.fromOpaque(context).release()
            return log("the system gives no thread to watch memory pressure with (error \(failed))")
        }
        pthread_detach(thread)
    }
}
