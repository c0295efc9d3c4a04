internal import Synchronization
internal import Tracing

/// A caller's load, as the log and traces name it.
///
/// Work that several loads share appears under the load that started it.
struct LoadTrace: Sendable {
    /// Unique in the process, starting with 1.
    let id: Int
    let start = ContinuousClock.now
    let span: (any Span)?

    private static let lastID = Atomic(0)

    init(span: (any Span)? = nil) {
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        self.span = span
    }
}

/// A stage of a load. The raw values are part of the names of timers and spans, and of log lines.
enum LoadStage: String, CaseIterable, Sendable { case disk, load, decode, transform, encode, store }
