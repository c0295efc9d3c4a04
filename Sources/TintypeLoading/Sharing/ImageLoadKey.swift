/// The identity of a load: requests with equal keys get the same image from the same place, and share all of the work.
///
/// What a request wants stored is no part of it: each request sees to that itself, when the image is there (``PipelineOutput``).
struct ImageLoadKey: Hashable, Sendable {
    /// The image, with everything that changes its pixels.
    var image: ImageKey
    var download: DownloadKey
    /// The generation of the environment: a load keeps to the configuration and the coders as they are when it begins.
    var generation: Int
    var policy: CachePolicy
    var queriesDisk: Bool
    /// True if the disk is asked for the finished variant.
    var queriesVariant: Bool
    /// True if the disk is asked for larger thumbnails.
    var queriesOtherVariants: Bool
    /// True if bytes that were asked for before the load began are too old.
    var isReload: Bool
    /// True for a load that refreshes, and whose new bytes remove the variants of the old ones.
    var replacesVariants: Bool
    var retriesFailed: Bool

    /// The fetch that the load needs.
    var fetch: FetchKey {
        FetchKey(
            source: image.source, download: download, policy: policy, queriesDisk: queriesDisk, isReload: isReload,
            retriesFailed: retriesFailed)
    }

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
    /// The generation of the environment: a load keeps to the configuration and the coders as they are when it begins.
    var generation: Int
    var policy: CachePolicy
    var queriesDisk: Bool
    /// True if bytes that were asked for before the load began are too old.
    var isReload: Bool
    var replacesVariants: Bool
    var retriesFailed: Bool
    var formatHint: ImageFormat?
    /// Distinguishes requests with coders of their own.
    var coder: String

    /// The fetch that the load needs.
    var fetch: FetchKey {
        FetchKey(
            source: source, download: download, policy: policy, queriesDisk: queriesDisk, isReload: isReload,
            retriesFailed: retriesFailed)
    }
}
