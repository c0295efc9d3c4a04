#if HEIF
internal import Glibc
internal import TintypeImages

/// The pieces of an image's work, which the calling thread and threads of processors without work take in turn.
final class DividedWork: Sendable {
    private struct State {
        /// The piece that comes next.
        var next = 0
        /// The first piece that failed, in their order.
        var failure: (piece: Int, error: ImageError)?
    }

    private let count: Int
    private let piece: @Sendable (Int) throws(ImageError) -> Void
    private let state = Lock(State())

    /// More threads would take too much memory for a single image.
    static let maximumThreads = 4

    /// - Parameter piece: Does a piece of the work, counted from 0; called on several threads at once.
    init(count: Int, piece: @escaping @Sendable (Int) throws(ImageError) -> Void) {
        self.count = count
        self.piece = piece
    }

    /// Does all of the work. Pieces after a failed piece are left out.
    /// - Throws: The error of the first piece that fails, in their order.
    func run() throws(ImageError) {
        let queue = WorkQueue.processing
        let idle = queue.width - max(1, queue.load.running)
        var threads: [pthread_t] = []
        while threads.count < min(idle, count - 1, Self.maximumThreads - 1), let thread = startThread() {
            threads.append(thread)
        }
        takePieces()
        for thread in threads { pthread_join(thread, nil) }
        if let failure = state.withLock({ $0.failure }) { throw failure.error }
    }

    private func takePieces() {
        while let next = takePiece() {
            do throws(ImageError) { try piece(next) } catch {
                state.withLock { state in
                    if next < state.failure?.piece ?? .max { state.failure = (next, error) }
                }
            }
        }
    }

    private func takePiece() -> Int? {
        state.withLock { state in
            guard state.failure == nil, state.next < count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    /// - Returns: `nil` if the system has no thread.
    private func startThread() -> pthread_t? {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(self)
        let failed = pthread_create(
            &thread, nil,
            { work in
                if let work { Unmanaged<DividedWork>.fromOpaque(work).takeRetainedValue().takePieces() }
                return nil
            }, work.toOpaque())
        guard failed == 0 else {
            work.release()
            return nil
        }
        return thread
    }
}
#endif
