public import FoundationEssentials

/// The measurements of a transfer over a network.
///
/// The HTTP client doesn't report how long the name lookup, the connection, and the TLS handshake took. They are part of ``firstByte``.
public struct TransferMetrics: Sendable, Hashable {
    /// The time when the last request was sent, by the clock of the system; `nil` if none was.
    public var start: Date?
    /// The time in the queue of the loader.
    public var waiting = Duration.zero
    /// The time from the last request to the head of its response.
    public var firstByte = Duration.zero
    /// The time from the head of the response to the end of its body.
    public var body = Duration.zero
    /// The time between attempts.
    public var backoff = Duration.zero
    /// The number of attempts, at least 1.
    public var attempts = 1
    /// The number of redirects of the last attempt.
    public var redirects = 0
    /// The bytes of bodies that arrived in all attempts, before decompression.
    public var receivedBytes = 0
    /// The bytes at the start of the body that came from an interrupted transfer.
    public var resumedBytes = 0

    /// Creates the measurements of a transfer that hasn't started.
    public init() {}
}
