internal import FoundationEssentials

/// What each kind of shared work is known by: equal values are the same work, and it is done once.
///
/// A stage's work names all that its result depends on, and nothing that only matters to a later stage.

/// Getting the encoded bytes of a source.
struct FetchWork: Hashable, Sendable {
    var url: URL
    /// What the source is known by in the caches.
    var source: String
    var headers: [String: String]
    var readsDisk: Bool
    var mayLoad: Bool
    var refreshes: Bool
    var retriesFailed: Bool
}

/// Decoding bytes.
struct DecodeWork: Hashable, Sendable {
    var fetch: FetchWork
    var options: DecodeOptions
    /// Tells requests with coders of their own apart: nobody knows whether two coders do the same.
    var coder: Int?
    /// Whether it begins while the bytes arrive, and tells previews.
    var isProgressive = false

    /// The options, with what the name and the media type of the source say where the request says nothing.
    func options(mimeType: String? = nil) -> DecodeOptions {
        options.completed(fileName: fetch.url.lastPathComponent, mimeType: mimeType)
    }
}

/// Transforming a decoded image.
struct TransformWork: Hashable, Sendable {
    var decode: DecodeWork
    var transformer: String
    var includesAnimations: Bool
}

/// All of it, and storing what came of it.
struct ImageWork: Hashable, Sendable {
    var transform: TransformWork
    var queriesMemory: Bool
    var storeTo: CacheLayers
    var storesVariant: Bool
    var encode: EncodeOptions
    var waitsForStore: Bool
    var needsAnimation: Bool
    var refreshes: Bool { transform.decode.fetch.refreshes }
}

/// Getting the bytes of an image that is not decoded.
struct EncodedWork: Hashable, Sendable {
    var fetch: FetchWork
    var formatHint: ImageFormat?
    var coder: Int?
    var storesOnDisk: Bool
    var waitsForStore: Bool
}

/// What the shared stages give, with the time that each took.
struct ImageOutcome: Sendable {
    var image: Image
    var fetched: FetchedData?
    var decodeTime = Duration.zero
    var transformTime = Duration.zero
    /// The memory cache had it in the end: somebody else stored it between our look and our work.
    var isFromMemory = false
    var storeError: ImageError?
}

/// What the shared stages tell while they are under way.
enum ImageUpdate: Sendable {
    case progress(ImageProgress)
    case preview(Image)
}
