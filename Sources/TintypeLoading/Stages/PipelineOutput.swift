/// The image of a load, with everything that results tell about it.
final class PipelineOutput: Sendable {
    let image: Image
    /// `nil` for an image from memory.
    let bytes: SourceBytes?
    let source: ImageOrigin
    let freshness: Freshness
    let decodeTime: StageTime
    let transformTime: StageTime
    /// True for an image that was found under its own key, in memory or as a variant on disk.
    let isStored: Bool

    let stores = OutputStores()

    init(
        image: Image, bytes: SourceBytes?, source: ImageOrigin, freshness: Freshness = .cached,
        decodeTime: StageTime = .zero, transformTime: StageTime = .zero, isStored: Bool = false
    ) {
        self.image = image
        self.bytes = bytes
        self.source = source
        self.freshness = freshness
        self.decodeTime = decodeTime
        self.transformTime = transformTime
        self.isStored = isStored
    }

    /// The metrics of a caller's load that has this output.
    func metrics(of trace: LoadTrace) -> ImageMetrics {
        var metrics = ImageMetrics(of: trace, bytes)
        metrics.decode = decodeTime.asPart(of: trace.id)
        metrics.transform = transformTime.asPart(of: trace.id)
        return metrics
    }
}
