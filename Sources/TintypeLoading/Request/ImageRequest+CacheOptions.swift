extension ImageRequest {
    /// Options for how a request uses the caches.
    ///
    /// ```swift
    /// request.cache.key = "photo 7"  // for a URL with a signature that changes
    /// request.cache.store = .memory  // nothing on disk
    /// ```
    public struct CacheOptions: Sendable, Hashable {
        /// The identity of the source in the caches instead of its URL, for URLs that carry signatures or tokens.
        public var key: String?
        /// The layers to look in for the image. A request with no layers is a reload.
        public var query = CacheLayers.all
        /// The layers to store the image in. The disk stores the original bytes; see also ``storesVariant``.
        public var store = CacheLayers.all
        /// The layers to look in for the original to make the image from; `nil`, the default, for the disk if ``query`` includes it.
        ///
        /// The disk has only bytes; the memory has the image before its ``ImageRequest/transformer``. An image that is neither a thumbnail
        /// nor transformed is itself the original: these layers apply to its bytes, and ``query`` to the decoded image.
        public var queryOriginal: CacheLayers?
        /// The layers to store the original in; `nil`, the default, for the disk if ``store`` includes it.
        ///
        /// The disk stores only bytes; the memory stores the image before its ``ImageRequest/transformer``.
        public var storeOriginal: CacheLayers?
        /// True to store the thumbnail or transformed image on disk, too, encoded again, so that it doesn't have to be made again.
        public var storesVariant = false
        /// The encoding for ``storesVariant``; part of the variant's cache key. The format is the source's format if it can hold the image,
        /// otherwise a format that can.
        public var encoding = EncodeOptions()
        /// The lifetime of this load's entries on disk, counted from when it was loaded; `nil`, the default, for the limits
        /// of the cache alone. A negative time counts as zero.
        ///
        /// It can only shorten the lifetime from ``DiskCache/Configuration/maximumAge``. If requests share a load, the shortest lifetime
        /// applies. If loads of several sizes share a transfer, the bytes have the lifetime of the load that ends first. An image that is
        /// already on disk keeps its lifetime.
        public var lifetime: Duration?
        /// True to end the load only when the caches have stored the image. ``ImageResult/storeError`` has any disk error.
        public var waitsForStore = false
        /// True to include the encoded bytes in the result of a memory hit, if the disk cache has them and the request looks there for the
        /// original.
        public var queriesData = false

        init() {}
    }

    /// True if bytes that were asked for before this request are too old for it.
    var isReload: Bool { cachePolicy == .reload || (cache.query.isEmpty && cache.queryOriginal?.isEmpty != false) }

    /// True if a cache gets anything of the image.
    var storesAnything: Bool { !cache.store.isEmpty || cache.storeOriginal?.isEmpty == false }

    /// True if memory is asked for the image before its transformer, or stores it.
    var usesOriginalInMemory: Bool {
        cache.queryOriginal?.contains(.memory) == true || cache.storeOriginal?.contains(.memory) == true
    }
}
