/// The image of a load, with everything that results tell of it. All requests that share the load see it stored as they asked.
final class PipelineOutput: Sendable {
    let image: Image
    /// `nil` for an image from memory.
    let bytes: SourceBytes?
    let source: ImageSource
    let freshness: Freshness
    let decodeTime: StageTime
    let transformTime: StageTime
    /// The numbers of the loads that decoded and transformed the image; `nil` if none had to.
    let decodedBy: Int?
    let transformedBy: Int?
    /// True for an image that was found under its own key, in memory or as a variant on disk.
    let isStored: Bool

    private struct State {
        var variantWrite: OnceTask<ImageError?>?
        var mayBeCached: Bool?
        var isInMemory = false
        var marks: LoadEnvironment.RemovalMarks?
    }

    private let state = Lock(State())

    init(
        image: Image, bytes: SourceBytes?, source: ImageSource, freshness: Freshness = .cached,
        decodeTime: StageTime = .zero, decodedBy: Int? = nil, transformTime: StageTime = .zero,
        transformedBy: Int? = nil, isStored: Bool = false
    ) {
        self.image = image
        self.bytes = bytes
        self.source = source
        self.freshness = freshness
        self.decodeTime = decodeTime
        self.transformTime = transformTime
        self.decodedBy = decodedBy
        self.transformedBy = transformedBy
        self.isStored = isStored
    }

    /// The stages that other loads than one with this number carried out.
    func sharedStages(with id: Int) -> SharedStages {
        var stages = bytes?.sharedStages(with: id, decodedBy: decodedBy) ?? []
        if let transformedBy, transformedBy != id { stages.insert(.transform) }
        return stages
    }

    /// The write of the thumbnail or transformed image to disk.
    var variantWrite: OnceTask<ImageError?> {
        state.withLock { state in
            if let write = state.variantWrite { return write }
            let write = OnceTask<ImageError?>()
            state.variantWrite = write
            return write
        }
    }

    /// The state of the caches' removals when the load began. What was removed since is stored by none of its callers, not even by
    /// those that joined it after the removal.
    var marks: LoadEnvironment.RemovalMarks? {
        get { state.withLock { $0.marks } }
        set { state.withLock { $0.marks = newValue } }
    }

    /// True if the program allows the caches to keep the image: its answer to the first request that asks.
    func mayBeCached(_ decide: () -> Bool) -> Bool {
        if let answer = state.withLock({ $0.mayBeCached }) { return answer }
        let answer = decide()
        return state.withLock { state in
            let first = state.mayBeCached ?? answer
            state.mayBeCached = first
            return first
        }
    }

    /// Returns true once: its caller stores the image in memory.
    func claimMemoryStore() -> Bool {
        state.withLock { state in
            defer { state.isInMemory = true }
            return !state.isInMemory
        }
    }
}
