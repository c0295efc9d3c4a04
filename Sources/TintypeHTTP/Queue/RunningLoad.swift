#if HTTP
internal import TintypeCore

/// A load that can be canceled from outside of its task: by its downloader, or by a time limit.
///
/// The parts of the load run one after another in tasks of their own. A time limit cancels the present part, which may be tried again, and
/// the downloader cancels the load.
final class RunningLoad: Sendable {
    private struct State {
        var isCancelled = false
        /// The number of the present part, and of the last one that was canceled.
        var part = 0
        var cancelledPart = 0
        /// Cancels the present part.
        var cancelPart: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    /// Cancels the load.
    func cancel() {
        let cancelPart = state.withLock { state in
            state.isCancelled = true
            return state.cancelPart
        }
        cancelPart?()
    }

    /// Runs a part of the load, and cancels it with the calling task.
    /// - Parameter work: The part. It receives a closure that cancels it alone.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (_ cancel: @escaping @Sendable () -> Void) async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let part = state.withLock { state -> Int? in
            guard !state.isCancelled else { return nil }
            state.part += 1
            return state.part
        }
        guard let part, !Task.isCancelled else { throw .cancelledTransfer }
        // Until it first waits, it stays on this thread.
        let task = Task.immediate { [self] in
            do throws(ImageError) {
                return Result<Value, ImageError>.success(try await work { self.cancel(part) })
            } catch {
                return Result<Value, ImageError>.failure(error)
            }
        }
        let isCancelled = state.withLock { state in
            state.cancelPart = { task.cancel() }
            return state.isCancelled || state.cancelledPart == part
        }
        if isCancelled { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { $0.cancelPart = nil }
        return try result.get()
    }

    private func cancel(_ part: Int) {
        let cancelPart = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.part == part else { return nil }
            state.cancelledPart = part
            return state.cancelPart
        }
        cancelPart?()
    }
}
#endif
