/// Memory that is reserved for a decode, until ``release()`` is called or the last reference is gone.
package final class DecodeReservation: Sendable {
    package let bytes: Int
    private let onRelease: Lock<(@Sendable () -> Void)?>

    init(bytes: Int, onRelease: (@Sendable () -> Void)?) {
        self.bytes = bytes
        self.onRelease = Lock(onRelease)
    }

    deinit { release() }

    /// Ends the reservation. Further calls do nothing.
    package func release() {
        let onRelease = onRelease.withLock { $0.take() }
        onRelease?()
    }
}
