internal import ArgumentParser
internal import Dispatch
internal import Glibc
package import TintypeLoading

/// Ends a command cleanly after Ctrl-C or `kill`: its task is canceled and tidies up. A second signal ends it immediately.
///
/// The process then dies of the signal, because a shell goes on with its loop or script after a command that exits by itself.
/// A signal that the process was started to ignore stays ignored, as SIGHUP under `nohup`.
package enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// Called when a second signal ends the process: restores settings that the next program would find changed, such as the terminal.
    /// Must not wait.
    package static let lastWords = Lock<(@Sendable () -> Void)?>(nil)

    /// Runs `body`.
    /// - Throws: the error of `body`; or, in a process that signals don't end (the first of a container), the exit status
    ///   128 + signal number.
    package static func handled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let received = Lock<Int32?>(nil)
        let running = Lock<Task<Void, any Error>?>(nil)
        let queue = DispatchQueue(label: "signals")
        // A closed pipe must not end the process in the middle of a file.
        signal(SIGPIPE, SIG_IGN)
        let handled = signals.filter { !isIgnored($0) }.map { number in
            signal(number, SIG_IGN)
            return (number: number, source: DispatchSource.makeSignalSource(signal: number, queue: queue))
        }
        for (number, source) in handled {
            source.setEventHandler {
                let isFirst = received.withLock { received in
                    defer { received = number }
                    return received == nil
                }
                if isFirst {
                    running.withLock { $0 }?.cancel()
                } else if number != SIGHUP {
                    // A terminal that is closed hangs up twice: its shell does, and the kernel.
                    lastWords.withLock { $0 }?()
                    end(by: number)
                    _exit(128 + number)
                }
            }
            // A signal that arrives before the source is registered would be lost.
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
        let task = Task { try await body() }
        running.withLock { $0 = task }
        if received.withLock({ $0 }) != nil { task.cancel() }
        let result = await task.result
        for (number, source) in handled {
            source.cancel()
            signal(number, SIG_DFL)
        }
        if let number = received.withLock({ $0 }) {
            end(by: number)
            throw ExitCode(128 + number)
        }
        try result.get()
    }

    /// Ends the process by a signal. Returns in a process that the signal doesn't end.
    private static func end(by number: Int32) {
        signal(number, SIG_DFL)
        // Threads of libdispatch block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    /// Returns true if the process ignores a signal.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // Functions cannot be compared, but SIG_IGN is a number.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
