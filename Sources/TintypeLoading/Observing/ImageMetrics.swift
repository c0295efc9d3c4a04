/// The duration of each stage of a load, and the bytes that it moved.
///
/// Work that was shared with other loads counts in full for each; ``StageTime/isShared`` identifies it.
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
    /// The measurements of the transfer, if the source was asked and its loader measures transfers.
    public var transfer: TransferMetrics?
    /// The protocol of the transfer, such as `HTTP/1.1`.
    public var networkProtocol: String?

    init() {}

    /// The metrics of a load that used bytes of a source; decoding and later stages are added afterwards.
    init(of trace: LoadTrace, _ source: SourceBytes?) {
        requestID = trace.id
        guard let source else { return }
        disk = source.diskTime.asPart(of: trace.id)
        load = source.loadTime.asPart(of: trace.id)
        bytes = source.data.count
        transfer = source.loaded?.transfer
        networkProtocol = source.loaded?.networkProtocol
    }

    /// True if another load carried out a stage that counts as shared; reading the disk alone doesn't.
    var isShared: Bool { load.isShared || decode.isShared || transform.isShared || encode.isShared }

    /// The names of those stages.
    var sharedStages: String {
        [(LoadStage.load, load), (.decode, decode), (.transform, transform), (.encode, encode)]
            .filter { $0.1.isShared }.map { $0.0.rawValue }.joined(separator: " ")
    }
}
