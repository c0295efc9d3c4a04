internal import CommandSupport
internal import Tintype

/// The report of an image that is in the cache.
struct PrefetchReport: Encodable, Equatable {
    /// The URL, without credentials unless the user wants complete URLs.
    var url: String
    /// `loaded`, or `skipped` if the image was there already.
    var outcome: String
}

/// The totals of a list of images.
struct PrefetchSummary: Equatable {
    var loaded = 0
    var skipped = 0
    var failed = 0
    var duration = Duration.zero

    mutating func add(_ progress: PrefetchProgress) {
        loaded += progress.loaded
        skipped += progress.skipped
    }

    /// `10 images loaded, 2 skipped, 1 failed, 2.31 s`
    var line: String {
        "\(counted(loaded, "image")) loaded, \(skipped) skipped, \(failed) failed, \(duration.short)"
    }
}
