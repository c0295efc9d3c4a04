/// The image of a load, with everything that results tell about it.
struct PipelineOutput: Sendable {
    var image: Image
    /// `nil` for an image from memory.
    var bytes: SourceBytes?
    var source: ImageOrigin
    var freshness = Freshness.cached
    var decodeTime = StageTime.zero
    var transformTime = StageTime.zero
    /// True for an image that was found under its own key, in memory or as a variant on disk.
    var isStored = false
    let stores = OutputStores()

    /// The metrics of a caller's load that has this output.
    func metrics(of trace: LoadTrace) -> ImageMetrics {
        var metrics = ImageMetrics(of: trace, bytes)
        metrics.decode = decodeTime.asPart(of: trace.id)
        metrics.transform = transformTime.asPart(of: trace.id)
        return metrics
    }
}
