extension ImageRequest {
    /// The use of the caches by a request.
    ///
    /// ```swift
    /// request.cache.key = "photo 7"  // for a URL with a signature that changes
    /// request.cache.store = .memory  // nothing on disk
    /// ```
    public struct CacheOptions: Sendable, Hashable {
        /// The identity of the source in the caches instead of its URL, for URLs that carry signatures or tokens.
        public var key: String?
        /// The layers to look in for the image. A request that looks nowhere is a reload.
        public var query = CacheLayers.all
        /// The layers to store the image in. The disk stores the bytes as they came; see also ``storesVariant``.
        public var store = CacheLayers.all
        /// The layers to look in for the original, to make the image from it; `nil`, the default, for the disk if ``query`` has it.
        ///
        /// Only bytes are on disk; in memory is the image before its ``ImageRequest/transformer``. An image that is not a thumbnail and not
        /// transformed is the original itself: its bytes are looked up here, and the decoded image in ``query``.
        public var queryOriginal: CacheLayers?
        /// The layers to store the original in; `nil`, the default, for the disk if ``store`` has it.
        ///
        /// Only bytes are on disk; in memory is the image before its ``ImageRequest/transformer``.
        public var storeOriginal: CacheLayers?
        /// True if the disk also stores the thumbnail or transformed image, encoded anew, so that it need not be made again.
        public var storesVariant = false
        /// The encoding of ``storesVariant``; part of the variant's cache key. The format is the source's if it can hold the image,
        /// otherwise a format that can.
        public var encoding = EncodeOptions()
        /// The lifetime of this load's entries on disk, counted from when it was loaded; `nil`, the default, for the limits
        /// of the cache alone. A negative time counts as zero.
        ///
        /// It ends an entry earlier than ``DiskCache/Configuration/maximumAge``, never later. Of requests that share a load, the request
        /// with the shortest time decides. If loads of several sizes share a transfer, the bytes have the time of the load that ends first.
        /// An image that is on disk already keeps its end.
        public var lifetime: Duration?
        /// True if the load ends only when the caches have stored the image. ``ImageResult/storeError`` then has the reason.
        public var waitsForStore = false
        /// True if the result of a memory hit has the encoded bytes, if the disk cache has them and the request looks there for the
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
