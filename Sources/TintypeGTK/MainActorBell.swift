#if GTK
internal import TintypeDisplay

/// Runs a closure on the main actor soon after ``ring()``: once for all calls until then.
final class MainActorBell: Sendable {
    private let isRinging = Lock(false)
    private let action: @MainActor () -> Void

    init(_ action: @escaping @MainActor () -> Void) { self.action = action }

    /// Can be called on any thread.
    func ring() {
        let isFirst = isRinging.withLock { isRinging in
            defer { isRinging = true }
            return !isRinging
        }
        guard isFirst else { return }
        Task { @MainActor [self] in
            isRinging.withLock { $0 = false }
            action()
        }
    }
}
#endif
