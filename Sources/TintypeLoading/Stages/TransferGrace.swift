/// The time that a nearly finished transfer has after its last caller has left: its bytes are stored on disk if it ends within that time.
final class TransferGrace: Sendable {
    private struct State {
        var hold: Downloads.Hold?
        var timer: Task<Void, Never>?
        var hasEnded = false
    }

    private let state = Lock(State())
    private let downloads: Downloads
    private let key: DownloadKey
    private let configuration: ImageManager.Configuration
    private let keep: @Sendable () async -> Void

    /// - Parameter keep: Stores the bytes, which the manager has during the call.
    init(_ key: DownloadKey, _ environment: LoadEnvironment, keep: @escaping @Sendable () async -> Void) {
        self.key = key
        self.keep = keep
        downloads = environment.shared.downloads
        configuration = environment.configuration
    }

    var lingering: TaskCoalescer<DownloadKey, SourceBytes>.Lingering {
        .init(minimumFraction: configuration.cancellationGraceFraction) {
            self.begin($0)
        } end: {
            self.end($0)
        }
    }

    private func begin(_ leave: @escaping @Sendable () -> Void) {
        let hold = downloads.hold(key)
        let isLate = state.withLock { state in
            if !state.hasEnded { state.hold = hold }
            return state.hasEnded
        }
        guard !isLate else { return downloads.release(hold) }
        let timer = Task { [configuration] in
            // Ends early when the transfer does.
            do { try await configuration.clock.sleep(for: configuration.cancellationGrace) } catch { return }
            leave()
        }
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.timer = timer }
            return state.hasEnded
        }
        if hasEnded { timer.cancel() }
    }

    private func end(_ outcome: Downloads.Outcome) {
        let (timer, hold) = state.withLock { state in
            state.hasEnded = true
            defer { (state.timer, state.hold) = (nil, nil) }
            return (state.timer, state.hold)
        }
        timer?.cancel()
        guard case .success = outcome else {
            if let hold { downloads.release(hold) }
            return
        }
        // The caller's own hold lasts until now if this one has not begun.
        let kept = hold ?? downloads.hold(key)
        Task.detached { [downloads, keep] in
            await keep()
            downloads.release(kept)
        }
    }
}
