import Logging

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A log that keeps its lines.
final class RecordingLog: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: [String: String]
    }

    private let state = Lock<[Line]>([])

    var lines: [Line] { state.withLock { $0 } }

    func logger(level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in Handler(logLevel: level) { [state] line in state.withLock { $0.append(line) } } }
    }

    private struct Handler: LogHandler {
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]
        let write: @Sendable (Line) -> Void

        init(logLevel: Logger.Level, write: @escaping @Sendable (Line) -> Void) {
            self.logLevel = logLevel
            self.write = write
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            write(
                Line(
                    level: event.level, message: event.message.description,
                    metadata: (event.metadata ?? [:]).mapValues { "\($0)" }))
        }
    }
}
