internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import TintypeCore

/// Lets Ctrl-C, and a polite `kill`, end a command cleanly: its task is cancelled, and it tidies up. A second one ends it at once.
enum Interruption {
    /// Runs `body` and throws the exit status 128 + signal number if it was interrupted.
    static func handled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let received = Lock<Int32?>(nil)
        let task = Task { try await body() }
        let queue = DispatchQueue(label: "signals")
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let isFirst = received.withLock { received in
                    defer { received = number }
                    return received == nil
                }
                if isFirst { task.cancel() } else { _exit(128 + number) }
            }
            source.resume()
            return source
        }
        let result = await task.result
        for (source, number) in zip(sources, [SIGINT, SIGTERM, SIGHUP]) {
            source.cancel()
            signal(number, SIG_DFL)
        }
        if let number = received.withLock({ $0 }) { throw ExitCode(128 + number) }
        try result.get()
    }
}
