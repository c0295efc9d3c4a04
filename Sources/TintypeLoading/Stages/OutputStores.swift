/// The storing of a load's output: the program's permission, and the writes to disk. Copies share it.
struct OutputStores: Sendable {
    private struct State {
        var mayBeCached: Bool?
        var writes: [Promise<ImageError?>] = []
    }

    private let state = Lock(State())

    /// True if the program allows the caches to keep the output. The program is asked once, or by several jobs at once.
    func mayBeCached(_ decide: () -> Bool) -> Bool {
        if let answer = state.withLock({ $0.mayBeCached }) { return answer }
        let answer = decide()
        // Two jobs that encode one image may ask at once; the first answer counts for both.
        return state.withLock { state in
            let first = state.mayBeCached ?? answer
            state.mayBeCached = first
            return first
        }
    }

    /// The writes that were started.
    var writes: [Promise<ImageError?>] { state.withLock { $0.writes } }

    func add(_ write: Promise<ImageError?>) { state.withLock { $0.writes.append(write) } }
}

extension [Promise<ImageError?>] {
    /// The first error of some writes, once all have ended.
    ///
    /// Throws ``ImageError/Code/cancelled`` if the calling task is canceled before. The writes go on.
    var firstError: ImageError? {
        get async throws(ImageError) {
            var first: ImageError?
            for write in self {
                guard let error = await write.valueUnlessCanceled else { throw .cancelled }
                first = first ?? error
            }
            return first
        }
    }
}
