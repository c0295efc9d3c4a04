/// Memory that a decode may take. Given back by ``release()``, or with the last reference.
package final class DecodeReservation: Sendable {
    let bytes: Int
    private let onRelease: Lock<(@Sendable () -> Void)?>

    init(bytes: Int, onRelease: (@Sendable () -> Void)?) {
        self.bytes = bytes
        self.onRelease = Lock(onRelease)
    }

    deinit { release() }

    /// Says that the decode has ended. Further calls do nothing.
    package func release() {
        let onRelease = onRelease.withLock { $0.take() }
        onRelease?()
    }
}
