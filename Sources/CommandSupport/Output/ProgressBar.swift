internal import TintypeLoading

/// A line that shows the progress of a list of images.
package struct ProgressBar: Sendable {
    /// The number of images; `nil` if it is unknown.
    package var total: Int?
    package var finished = 0
    package var failed = 0
    package var bytes = 0

    /// Returns the line, at most `width` columns wide.
    package func line(width: Int) -> String {
        let failures = failed == 0 ? "" : "  \(failed) failed"
        // A list that is not saved has no bytes to show.
        let size = bytes == 0 ? "" : "  \(ByteCount(bytes))"
        guard let total, total > 0 else {
            return String("\(counted(finished, "image"))\(failures)\(size)".prefix(width))
        }
        let counts = " \(finished)/\(total)\(failures)\(size)"
        let columns = min(40, width - counts.count)
        guard columns >= 8 else { return String(counts.dropFirst().prefix(width)) }
        let filled = min(columns, finished * columns / total)
        return String(repeating: "█", count: filled) + String(repeating: "░", count: columns - filled) + counts
    }
}

/// Counts images and shows the progress, at most every 50 ms.
package final class ProgressDisplay: Sendable {
    private struct State {
        var bar: ProgressBar
        var nextDraw: ContinuousClock.Instant
    }

    private let console: Console
    private let state: Lock<State>

    package init(_ console: Console, total: Int?) {
        self.console = console
        state = Lock(State(bar: ProgressBar(total: total), nextDraw: .now))
        if console.isInteractive { console.showStatus(ProgressBar(total: total).line(width: console.width - 1)) }
    }

    package func finishedOne(bytes: Int, failed: Bool) {
        let bar = state.withLock { state -> ProgressBar? in
            state.bar.finished += 1
            state.bar.failed += failed ? 1 : 0
            state.bar.bytes += bytes
            guard console.isInteractive else { return nil }
            let now = ContinuousClock.now
            guard now >= state.nextDraw || state.bar.finished == state.bar.total else { return nil }
            state.nextDraw = now + .milliseconds(50)
            return state.bar
        }
        if let bar { console.showStatus(bar.line(width: console.width - 1)) }
    }

    package func end() { console.showStatus("") }
}
