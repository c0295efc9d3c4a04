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
    var firstError: ImageError? {
        get async {
            var first: ImageError?
            for write in self {
                let error = await write.value
                first = first ?? error
            }
            return first
        }
    }
}
