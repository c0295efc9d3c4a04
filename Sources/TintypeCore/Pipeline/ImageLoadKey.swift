/// The identity of a load: requests with equal keys get the same image from the same place, and share all of the work.
///
/// What a request wants stored is no part of it: each request sees to that itself, when the image is there (``PipelineOutput``).
struct ImageLoadKey: Hashable, Sendable {
    /// The image, with everything that changes its pixels.
    var image: ImageKey
    var download: DownloadKey
    var policy: CachePolicy
    var queriesDisk: Bool
    /// True if the disk is asked for the finished variant.
    var queriesVariant: Bool
    var retriesFailed: Bool
    var isProgressive: Bool
    var requiresAnimation: Bool

    func hash(into hasher: inout Hasher) {
        // The rest seldom differs between loads of one image.
        hasher.combine(image)
        hasher.combine(download)
    }
}

/// The identity of a load of bytes that are not decoded.
struct DataLoadKey: Hashable, Sendable {
    var source: String
    var download: DownloadKey
    var policy: CachePolicy
    var queriesDisk: Bool
    var retriesFailed: Bool
    var formatHint: ImageFormat?
    /// Distinguishes requests with coders of their own.
    var coder: String
}
