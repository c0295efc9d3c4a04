internal import Synchronization

/// Adds up the waits of a stage in queues.
///
/// The stage's task has it as a task-local value, so that a queue finds it through all calls between the stage and the queue. Outside of
/// loads there is none, and nothing is measured.
package final class StageStopwatch: Sendable {
    @TaskLocal package static var current: StageStopwatch?

    private let nanoseconds = Atomic<Int64>(0)

    package init() {}

    /// The sum of the waits that have ended.
    package var waited: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

    /// A wait that has started.
    package struct Wait: Sendable {
        fileprivate let stopwatch: StageStopwatch
        fileprivate let start = ContinuousClock.now

        /// Adds the wait to its stage.
        package func end() {
            stopwatch.nanoseconds.wrappingAdd((ContinuousClock.now - start).inNanoseconds, ordering: .relaxed)
        }
    }

    /// Starts a wait of the calling task's stage, if any.
    package static func beginWait() -> Wait? { current.map { Wait(stopwatch: $0) } }
}
