/// The image of a load, with everything that results tell about it.
final class PipelineOutput: Sendable {
    let image: Image
    /// `nil` for an image from memory.
    let bytes: SourceBytes?
    let source: ImageOrigin
    let freshness: Freshness
    let decodeTime: StageTime
    let transformTime: StageTime
    /// The numbers of the loads that decoded and transformed the image; `nil` if none had to.
    let decodedBy: Int?
    let transformedBy: Int?
    /// True for an image that was found under its own key, in memory or as a variant on disk.
    let isStored: Bool
    /// The writes to disk that the load started.
    let writes = DiskWrites()
    private let mayBeCached = Lock(Bool?.none)

    init(
        image: Image, bytes: SourceBytes?, source: ImageOrigin, freshness: Freshness = .cached,
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

    /// The stages carried out by loads other than the load with this number.
    func sharedStages(with id: Int) -> SharedStages {
        var stages = bytes?.sharedStages(with: id, decodedBy: decodedBy) ?? []
        if let transformedBy, transformedBy != id { stages.insert(.transform) }
        return stages
    }

    /// True if the program allows the caches to keep the image. The program is asked once.
    func mayBeCached(_ decide: () -> Bool) -> Bool {
        if let answer = mayBeCached.withLock({ $0 }) { return answer }
        // Only the job stores, never two stores at once.
        let answer = decide()
        mayBeCached.withLock { $0 = answer }
        return answer
    }
}

/// The writes to disk of a load, for the callers that wait for them.
final class DiskWrites: Sendable {
    private let writes = Lock<[Promise<ImageError?>]>([])

    func append(_ write: Promise<ImageError?>) { writes.withLock { $0.append(write) } }

    /// The first error of the writes, once all have ended.
    var error: ImageError? {
        get async {
            var first: ImageError?
            for write in writes.withLock({ $0 }) {
                let error = await write.value
                first = first ?? error
            }
            return first
        }
    }
}
