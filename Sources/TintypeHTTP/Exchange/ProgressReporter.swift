#if HTTP
internal import TintypeLoading

/// Reports the progress of a load to its caller, over all of its attempts.
///
/// Bytes wait until the next report is due, so that none is lost. An attempt that continues where the previous attempt ended continues its
/// reports, too.
struct ProgressReporter {
    private let load: ImageDownloader.Load
    private let interval: Double
    /// False if the bytes are of no use to the caller, because they are encrypted.
    private let showsBytes: Bool

    struct State: Sendable {
        /// The number of bytes that were reported in the current sequence.
        var reported = 0
        var hasBegun = false
    }

    private var reported = 0
    private var expected: Int?

    private var state: Lock<State> { load.progress }
    /// False if no caller gets reports.
    private var isActive: Bool { load.request.isReported }

    init(interval: Double, showsBytes: Bool, load: ImageDownloader.Load) {
        self.interval = interval.isFinite ? min(max(interval, 0), 1) : 0
        self.showsBytes = showsBytes
        self.load = load
    }

    /// Starts a body.
    /// - Parameters:
    ///   - bytes: the buffer of the body, with the bytes at its start that are here already.
    ///   - expected: the size of the whole body.
    mutating func begin(_ bytes: ArrivingBytes, expected: Int?) {
        guard isActive else { return }
        self.expected = expected
        let count = bytes.count
        let known = state.withLock { state in
            defer { state.hasBegun = true }
            // A body that starts over is reported from its start.
            if state.reported > count { state.reported = 0 }
            return state.hasBegun && count > 0 ? state.reported : nil
        }
        reported = known ?? 0
        if known == nil {
            state.withLock { $0.reported = 0 }
            load.request.reportBeginning(expected: expected)
        }
        finish(bytes)
    }

    /// Reports the bytes that have arrived, if that is due.
    mutating func update(_ bytes: ArrivingBytes) {
        guard isActive else { return }
        let received = bytes.count
        if let expected, expected > 0, interval > 0, received < expected {
            guard Double(received - reported) / Double(expected) >= interval else { return }
        }
        report(bytes, received)
    }

    /// Sends the report that is due.
    mutating func finish(_ bytes: ArrivingBytes) {
        guard isActive else { return }
        let received = bytes.count
        if received > reported { report(bytes, received) }
    }

    private mutating func report(_ bytes: ArrivingBytes, _ received: Int) {
        load.request.report(bytes, from: reported, expected: expected, showsBytes: showsBytes)
        reported = received
        state.withLock { $0.reported = received }
    }
}
#endif
