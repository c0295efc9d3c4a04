internal import FoundationEssentials
internal import TintypeCore

/// Reports the progress of one load to its caller, over all of its attempts.
///
/// Chunks wait until the next report is due, so that none is lost. An attempt that continues where the last one ended continues its
/// reports, too.
struct ProgressReporter {
    private let receive: @Sendable (LoadProgress) -> Void
    private let interval: Double
    /// False if the bytes are of no use to the caller, because they are encrypted.
    private let showsBytes: Bool
    private let state: Lock<State>

    struct State: Sendable {
        /// The number of bytes that were reported in the current sequence.
        var reported = 0
        var hasBegun = false
    }

    private var pending = Data()
    private var received = 0
    private var expected: Int?

    /// - Parameter state: the state that the attempts of a load share.
    init(
        interval: Double, showsBytes: Bool, state: Lock<State>, receive: @escaping @Sendable (LoadProgress) -> Void
    ) {
        self.interval = interval.isFinite ? min(max(interval, 0), 1) : 0
        self.showsBytes = showsBytes
        self.state = state
        self.receive = receive
    }

    /// Begins a body.
    /// - Parameters:
    ///   - prefix: the bytes at its beginning that are here already.
    ///   - expected: the size of the whole body.
    mutating func begin(prefix: Data, expected: Int?) {
        self.expected = expected
        received = prefix.count
        let known = state.withLock { state in
            defer { state.hasBegun = true }
            // A body that starts over is reported from its beginning.
            if state.reported > prefix.count { state.reported = 0 }
            return state.hasBegun && !prefix.isEmpty ? state.reported : nil
        }
        if let known {
            pending = Data(prefix.dropFirst(known))
        } else {
            state.withLock { $0.reported = 0 }
            receive(LoadProgress(receivedBytes: 0, expectedBytes: expected))
            pending = prefix
        }
        if !pending.isEmpty { report() }
    }

    /// Adds bytes of the body.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        received += bytes.count
        pending.append(contentsOf: bytes)
        if let expected, expected > 0, interval > 0, received < expected {
            guard Double(pending.count) / Double(expected) >= interval else { return }
        }
        report()
    }

    /// Reports what hasn't been reported.
    mutating func finish() {
        if !pending.isEmpty { report() }
    }

    private mutating func report() {
        let chunk = pending
        pending = Data()
        state.withLock { $0.reported = received }
        receive(
            LoadProgress(chunk: showsBytes ? chunk : Data(), receivedBytes: received, expectedBytes: expected))
    }
}
