/// The duration of each stage of a load, and the bytes that it moved.
///
/// Work that was shared with other loads counts in full for each; ``shared`` tells which it was.
public struct ImageMetrics: Sendable, Hashable {
    /// The number of the load in the log and in traces, unique in the process; `nil` for an image that was in memory.
    public var requestID: Int?
    /// From the call to the result.
    public var total = Duration.zero
    /// Reading the disk cache.
    public var disk = StageTime.zero
    /// Waiting for a loader, and the transfer.
    public var load = StageTime.zero
    /// Waiting for a thread and for memory, and decoding.
    public var decode = StageTime.zero
    /// Waiting for a thread, and transforming.
    public var transform = StageTime.zero
    /// Waiting for a thread, and encoding: for ``ImageManager/encoded(for:as:options:)`` alone.
    public var encode = StageTime.zero
    /// The encoded bytes that were read from disk or network.
    public var bytes = 0
    /// The stages that another load carried out.
    public var shared: SharedStages = []
    /// The protocol that was spoken, such as `HTTP/1.1`.
    public var networkProtocol: String?

    /// Creates metrics of zero.
    public init() {}
}
