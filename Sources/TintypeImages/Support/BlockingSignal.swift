/// Lets a thread wait for the answer of another thread.
// Sendable: `answer` is read and written with the monitor locked.
package final class BlockingSignal: @unchecked Sendable {
    private let monitor = ThreadMonitor()
    private var answer: Bool?

    package init() {}

    package func send(_ answer: Bool) {
        monitor.locked { self.answer = answer }
        monitor.signal()
    }

    /// Waits for the answer.
    /// - Returns: `nil` if no answer arrives within the time.
    package func wait(milliseconds: Int) -> Bool? {
        monitor.locked {
            if answer == nil { monitor.wait(milliseconds: milliseconds) }
            return answer
        }
    }
}
