public import FoundationEssentials

extension DiskCache {
    /// What is known of an entry without reading it.
    public struct Listing: Sendable, Hashable {
        public var key: ImageKey
        /// The bytes of the image.
        public var bytes: Int
        /// The bytes of the file: the image, its key, and what came with it.
        public var fileBytes: Int
        public var created: Date
        public var accessed: Date
        public var expires: Date?
        public var mimeType: String?
        public var validators: CacheValidators?
        /// See ``DiskCacheEntry/idleLifetime``.
        public var idleLifetime: Duration?
        /// What the bytes on disk went through (``PayloadCodec/identifier``).
        public var transform: String?
        /// Where the listing goes on after this entry.
        public var cursor: Int64

        init(_ row: IndexRow) {
            key = row.key
            bytes = row.payloadSize
            fileBytes = row.fileSize
            created = Date(cacheTime: row.created)
            accessed = Date(cacheTime: row.accessed)
            expires = row.expires.map { Date(cacheTime: $0) }
            mimeType = row.mimeType
            validators = row.validators
            idleLifetime = row.lifetime.map { .microseconds($0) }
            transform = row.transform
            cursor = row.id
        }
    }
}

/// What a check of a whole cache found.
public struct CacheVerification: Sendable, Hashable {
    /// What was read.
    public var checked = CacheUsage()
    /// The keys of the entries that were damaged; they are dropped.
    public var damaged: [ImageKey] = []

    public init() {}
}
