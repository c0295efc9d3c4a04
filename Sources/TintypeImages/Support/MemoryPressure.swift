internal import Glibc

/// A source of notifications when the system, or the program's control group, runs low on memory.
///
/// It uses the signals of Linux: the triggers of `/proc/pressure/memory` (pressure stall information), and the event counters of the
/// program's control group (version 2). If neither exists, an observing cache logs this once, and only ``report(_:)`` sends notifications.
///
/// ```swift
/// cache.observe(.system)                       // Trims itself.
/// MemoryPressure.system.report(.critical)      // What a desktop's own monitor has noticed.
/// ```
public final class MemoryPressure: Sendable {
    /// The severity of memory pressure.
    public enum Level: Sendable, Hashable, Comparable, CaseIterable {
        /// Some programs wait for memory, or the control group exceeds its `memory.high`.
        case warning
        /// All programs wait for memory at once, or the control group has reached its limit.
        case critical
    }

    /// An observation, which continues until this object is released or canceled.
    package final class Observation: Sendable {
        private let end: @Sendable () -> Void
        fileprivate init(end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
        /// Ends the observation. May be called several times.
        package func cancel() { end() }
    }

    /// An owner's observation of a single source, or none, of pressure.
    package final class Subscription: Sendable {
        private let observation = Lock<Observation?>(nil)

        package init() {}

        /// Observes `pressure` instead of the previous source; `nil` ends the observation.
        package func replace(with pressure: MemoryPressure?, _ observer: @escaping @Sendable (Level) -> Void) {
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
    public static let system = MemoryPressure(KernelPressure()) { absence.set($0) }

    private static let absence = AbsenceOfSignals()

    /// Returns the reason why the system sends no signals, to the first caller that asks after an observation has found that out.
    package static func takeAbsence() -> String? { absence.take() }

    private let core: PressureCore

    /// Creates a source that only ``report(_:)`` triggers, for a program that monitors memory itself.
    public convenience init() { self.init(NoSignals(), log: { _ in }) }

    /// Creates a source.
    /// - Parameters:
    ///   - signals: the signals to observe.
    ///   - log: receives a message if no signals are available.
    init(_ signals: any PressureSignals, log: @escaping @Sendable (String) -> Void) {
        core = PressureCore(signals, log: log)
    }

    deinit { core.signals.close() }

    /// Calls `observer` on a separate thread whenever memory is scarce, until the observation ends.
    /// - Parameter observer: receives the level of pressure.
    /// - Returns: the observation. Keep it as long as it should continue.
    package func observe(_ observer: @escaping @Sendable (Level) -> Void) -> Observation {
        let number = core.add(observer)
        return Observation { [core] in core.levels.remove(number) }
    }

    /// Notifies all observers before it returns.
    /// - Parameter level: the level of pressure.
    public func report(_ level: Level) { core.levels.send(level) }
}

/// A source of signals of memory pressure.
protocol PressureSignals: Sendable {
    /// Opens the signals. Called once, before the first `next`.
    /// - Returns: false if there are none.
    func open() -> Bool
    /// Waits until memory is scarce.
    /// - Returns: `nil` after the signals were closed, or no longer exist.
    func next() -> MemoryPressure.Level?
    func close()
}

/// The reason why there are no signals, until it is logged.
private final class AbsenceOfSignals: Sendable {
    private let reason = Lock<String?>(nil)

    func set(_ text: String) { reason.withLock { $0 = text } }

    func take() -> String? {
        reason.withLock { reason in
            defer { reason = nil }
            return reason
        }
    }
}

/// The signals of a kernel without any.
private struct NoSignals: PressureSignals {
    func open() -> Bool { false }
    func next() -> MemoryPressure.Level? { nil }
    func close() {}
}

/// The state that the observing thread shares with its owner, without keeping the owner alive.
private final class PressureCore: Sendable {
    let signals: any PressureSignals
    let levels = Broadcast<MemoryPressure.Level>()
    private let hasStarted = Lock(false)
    private let log: @Sendable (String) -> Void

    init(_ signals: any PressureSignals, log: @escaping @Sendable (String) -> Void) {
        self.signals = signals
        self.log = log
    }

    func add(_ observer: @escaping @Sendable (MemoryPressure.Level) -> Void) -> Int {
        let number = levels.add(observer)
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        if isFirst { start() }
        return number
    }

    private func start() {
        guard signals.open() else {
            return log(
                "memory pressure notifications are unavailable (neither /proc/pressure/memory nor memory.events of "
                    + "a control group can be watched); caches rely on their limits")
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        let failed = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let core = Unmanaged<PressureCore>.fromOpaque(context).takeRetainedValue()
                while let level = core.signals.next() { core.levels.send(level) }
                return nil
            }, context)
        guard failed == 0 else {
            Unmanaged<PressureCore>.fromOpaque(context).release()
            return log(
                "memory pressure notifications are unavailable (no thread could be started, error \(failed)); caches rely on their limits"
            )
        }
        pthread_detach(thread)
    }
}
