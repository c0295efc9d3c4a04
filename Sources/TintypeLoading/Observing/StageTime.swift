/// The time that a stage of a load took: first in queues, then running.
public struct StageTime: Sendable, Hashable {
    /// The time in queues: for a thread, for a connection, or for memory.
    public var queued = Duration.zero
    /// The rest.
    public var running = Duration.zero

    /// Creates a time. Each parameter sets the property of the same name.
    public init(queued: Duration = .zero, running: Duration = .zero) {
        self.queued = queued
        self.running = running
    }

    /// - Parameter queued: The sum of the waits. If some of them overlapped, it can be larger than `total`, and counts as that.
    init(total: Duration, queued: Duration) {
        self.queued = min(queued, total)
        running = total - self.queued
    }

    /// From the start of the stage to its end.
    public var total: Duration { queued + running }

    /// No time, for a stage that a load didn't need.
    public static let zero = StageTime()
}

/// The stages of a load that another load carried out.
public struct SharedStages: OptionSet, Sendable, Hashable {
    /// The bits of the stages.
    public let rawValue: Int

    /// Creates a set from the bits of stages.
    /// - Parameter rawValue: the bits of the stages.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The transfer from the source.
    public static let transfer = SharedStages(rawValue: 1)
    /// The decoding of the bytes.
    public static let decode = SharedStages(rawValue: 2)
    /// The work of the transformer.
    public static let transform = SharedStages(rawValue: 4)
    /// Encoding.
    public static let encode = SharedStages(rawValue: 8)
}

extension SharedStages: CustomStringConvertible {
    /// The names of the stages.
    public var description: String {
        [(SharedStages.transfer, "transfer"), (.decode, "decode"), (.transform, "transform"), (.encode, "encode")]
            .filter { contains($0.0) }.map(\.1).joined(separator: " ")
    }
}
