#if GTK
internal import TintypeDisplay

/// Runs a closure on the main actor soon after ``notify()``: once for all calls until then.
final class MainActorNotifier: Sendable {
    private let isNotifying = Lock(false)
    private let action: @MainActor () -> Void

    init(_ action: @escaping @MainActor () -> Void) { self.action = action }

    /// Can be called on any thread.
    func notify() {
        let isFirst = isNotifying.withLock { isNotifying in
            defer { isNotifying = true }
            return !isNotifying
        }
        guard isFirst else { return }
        Task { @MainActor [self] in
            isNotifying.withLock { $0 = false }
            action()
        }
    }
}
#endif
