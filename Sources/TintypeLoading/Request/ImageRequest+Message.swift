public import FoundationEssentials

/// The message to the server.
extension ImageRequest {
    var parts: RequestParts {
        get { box?.parts ?? RequestParts() }
        set { box = RequestParts.Box(newValue) }
    }

    /// The method of the HTTP request. Requests with different methods or bodies don't share downloads, and their images have different
    /// cache keys, unless ``CacheOptions/key`` sets the key. The method is sent as written: servers recognize `GET`, not `get`.
    public var method: String {
        get { box?.parts.method ?? "GET" }
        set { parts.method = newValue }
    }

    /// The body of the HTTP request; `nil` for none.
    public var body: Data? {
        get { box?.parts.body }
        set { parts.body = newValue }
    }

    /// The closures that change the request, its response, and the bytes that arrive; `nil` for the downloader's options.
    public var downloadHooks: DownloadHooks? {
        get { box?.parts.hooks }
        set { parts.hooks = newValue }
    }

    /// True to pass the ``thumbnailSize`` to the loader as ``LoadRequest/targetSize``, so that it can request a smaller image.
    ///
    /// Each size then counts as a source of its own: its bytes are neither shared with, nor cached for, other sizes. Leave it false, the
    /// default, for sources that send the same bytes for all sizes.
    public var loadsTargetSize: Bool {
        get { box?.parts.loadsTargetSize ?? false }
        set { parts.loadsTargetSize = newValue }
    }

    /// The size that the loader is told.
    var targetSize: PixelSize? {
        guard loadsTargetSize, let size = thumbnailSize, !size.isEmpty else { return nil }
        return size
    }
}
