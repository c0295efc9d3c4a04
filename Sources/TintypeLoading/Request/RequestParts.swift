internal import FoundationEssentials

/// The parts of a request that few requests have.
///
/// They are behind one reference, so that requests without them are as small, and as fast to copy, as if there were none.
struct RequestParts: Sendable {
    var method = "GET"
    var body: Data?
    var cache: (any ImageCaching)? { didSet { tokens.cache = PartToken.token(of: cache) } }
    var originalCache: (any ImageCaching)? { didSet { tokens.originals = PartToken.token(of: originalCache) } }
    var loader: (any ImageLoading)? {
        didSet {
            // The bytes of a source are identified by its URL.
            tokens.loader = loader is BytesLoader ? 0 : PartToken.token(of: loader)
        }
    }
    var cacheSerializer: CacheSerializer?
    var queryOriginalFrom: CacheLayers?
    var storeOriginalTo: CacheLayers?
    var loadsTargetSize = false
    var hooks: DownloadHooks?
    var diskLifetime: Duration?
    private(set) var tokens = Tokens()

    /// The identity of the caches and the loader that take the places of the manager's; 0 for the manager's.
    struct Tokens: Hashable, Sendable {
        var cache = 0
        var originals = 0
        var loader = 0
    }

    /// True if the request is carried out with other caches or another loader than the manager's.
    var replacesParts: Bool { cache != nil || originalCache != nil || loader != nil }

    /// True if the message to the server is the usual one.
    var isPlainGet: Bool { method == "GET" && body == nil }

    /// The parts of one request, shared by its copies.
    final class Box: Sendable {
        let parts: RequestParts
        init(_ parts: RequestParts) { self.parts = parts }
    }
}
