/// The time that a stage of a load took: first in queues, then running.
public struct StageTime: Sendable, Hashable {
    /// The time in queues: for a thread, for a connection, or for memory.
    public var queued = Duration.zero
    /// The time after the queues: the work itself.
    public var running = Duration.zero
    /// True if another load carried out the stage.
    public var isShared = false
    /// The number of the load that carried out the stage; `nil` if none had to.
    var load: Int?

    /// - Parameter queued: The sum of the waits. If some of them overlapped, it can be larger than `total`, and counts as that.
    init(total: Duration = .zero, queued: Duration = .zero, load: Int? = nil) {
        self.queued = min(queued, total)
        running = total - self.queued
        self.load = load
    }

    /// From the start of the stage to its end.
    public var total: Duration { queued + running }

    /// No time, for a stage that a load didn't need.
    package static let zero = StageTime()

    /// The time as a part of the load with a number.
    func asPart(of load: Int) -> StageTime {
        var time = self
        time.isShared = self.load.map { $0 != load } ?? false
        time.load = nil
        return time
    }
}
