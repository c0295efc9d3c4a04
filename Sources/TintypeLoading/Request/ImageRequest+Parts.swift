public import FoundationEssentials

/// Returns the bytes that the disk stores for an image, in place of those that came or that a coder would write.
///
/// It receives the image; its bytes as the source sent them, `nil` for a thumbnail or transformed image; and its URL. An original always comes
/// at its full size, for which a load of a thumbnail decodes it once more. The closure returns `nil` if the disk should store what it would
/// store otherwise. It is called on a thread of the processing queue, once for the original and once
/// for a stored variant; an error that it throws ends the write with ``ImageError/Code/encodeFailed``.
public typealias CacheSerializer = @Sendable (_ image: Image, _ data: Data?, _ url: URL) throws -> Data?

/// The message to the server, and the parts that take the places of the manager's.
extension ImageRequest {
    /// True if bytes that were asked for before this request are too old for it.
    var isReload: Bool { cachePolicy == .reload || (queryFrom.isEmpty && queryOriginalFrom?.isEmpty != false) }

    /// True if a cache gets anything of the image.
    var storesAnything: Bool { !storeTo.isEmpty || storeOriginalTo?.isEmpty == false }

    var parts: RequestParts {
        get { box?.parts ?? RequestParts() }
        set { box = RequestParts.Box(newValue) }
    }

    // MARK: The message to the server

    /// The method of the HTTP request. Requests with different methods or bodies share no download, and their images have different
    /// cache keys, unless ``cacheKey`` sets the key.
    public var method: String {
        get { box?.parts.method ?? "GET" }
        set { parts.method = newValue }
    }

    /// The body of the HTTP request; `nil` for none.
    public var body: Data? {
        get { box?.parts.body }
        set { parts.body = newValue }
    }

    /// The closures that change the request, its response, and the bytes that arrive; `nil` for those of the downloader.
    public var downloadHooks: DownloadHooks? {
        get { box?.parts.hooks }
        set { parts.hooks = newValue }
    }

    /// True to tell the loader the ``thumbnailSize``, so that it can ask its server for a smaller image: ``LoadRequest/targetSize``.
    ///
    /// The source then has an identity of its own for each size: the bytes for one size are neither shared with, nor cached for, any
    /// other. Leave it false, the default, for sources that send the same bytes whatever the size.
    public var loadsTargetSize: Bool {
        get { box?.parts.loadsTargetSize ?? false }
        set { parts.loadsTargetSize = newValue }
    }

    /// The size that the loader is told.
    var targetSize: PixelSize? {
        guard loadsTargetSize, let size = thumbnailSize, !size.isEmpty else { return nil }
        return size
    }

    // MARK: Parts in place of the manager's

    /// The cache for this request; `nil` for the manager's.
    ///
    /// Requests with different caches share no work.
    public var cache: (any ImageCaching)? {
        get { box?.parts.cache }
        set { parts.cache = newValue }
    }

    /// The cache for the bytes that sources send; `nil` for ``cache``, or else for
    /// ``ImageManager/Configuration-swift.struct/originalCache``, or else for the manager's.
    ///
    /// Its disk stores the originals. Decoded images, stored thumbnails, and transformed images stay in ``cache``.
    public var originalCache: (any ImageCaching)? {
        get { box?.parts.originalCache }
        set { parts.originalCache = newValue }
    }

    /// The loader for this request, in place of all loaders of the manager; `nil` for those.
    public var loader: (any ImageLoading)? {
        get { box?.parts.loader }
        set { parts.loader = newValue }
    }

    /// Returns the bytes that the disk stores; `nil` for ``ImageManager/Configuration-swift.struct/cacheSerializer``.
    ///
    /// Of requests that share a download, the first one that stores it decides.
    public var cacheSerializer: CacheSerializer? {
        get { box?.parts.cacheSerializer }
        set { parts.cacheSerializer = newValue }
    }

    // MARK: The layers of the original

    /// The layers in which the original is looked up to make the image of it; `nil`, the default, for the disk if ``queryFrom`` has it.
    ///
    /// Only bytes are on disk; in memory is the image before its ``transformer``. An image that is not a thumbnail and not transformed is
    /// the original itself: its bytes are looked up here, and the decoded image in ``queryFrom``.
    public var queryOriginalFrom: CacheLayers? {
        get { box?.parts.queryOriginalFrom }
        set { parts.queryOriginalFrom = newValue }
    }

    /// The layers in which the original is stored; `nil`, the default, for the disk if ``storeTo`` has it.
    ///
    /// Only bytes are on disk; in memory is the image before its ``transformer``.
    public var storeOriginalTo: CacheLayers? {
        get { box?.parts.storeOriginalTo }
        set { parts.storeOriginalTo = newValue }
    }

    // MARK: The lifetime on disk

    /// The time after which what this load stores on disk expires, counted from when it was loaded; `nil`, the default, for the limits of
    /// the cache alone. A negative time counts as zero.
    ///
    /// It ends an entry earlier than ``DiskCache/Configuration/maximumAge``, never later. Of requests that share a download, the first one
    /// that stores it decides. An image that is on disk already keeps its end.
    public var diskLifetime: Duration? {
        get { box?.parts.diskLifetime }
        set { parts.diskLifetime = newValue }
    }
}
