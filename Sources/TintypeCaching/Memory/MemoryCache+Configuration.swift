extension MemoryCache {
    /// The limits of a memory cache. They can change while the cache is in use.
    public struct Configuration: Sendable, Hashable {
        /// The largest number of bytes for the pixels of all images; zero to keep no image.
        public var capacity: ByteCount
        /// The bytes that remain after a purge, which starts when ``capacity`` is exceeded; `nil` for the capacity itself, so
        /// that only as many images as necessary are evicted.
        public var capacityAfterPurge: ByteCount?
        /// The largest number of images; `nil` for one per 2 KB of the capacity, but at least 10,000. An image takes about 2 KB in addition
        /// to its pixels.
        public var maximumCount: Int?
        /// The size of the largest image that is stored; `nil` for the capacity. Larger images are found only while another part of the
        /// program holds them.
        public var maximumEntryBytes: ByteCount?
        /// The time that an image stays in the cache after it is stored; `nil` for no limit.
        public var timeToLive: Duration?
        /// The order of eviction.
        public var policy: Policy
        /// The largest number of images up to a size, in addition to the other limits; empty for no limit. An image belongs to the smallest
        /// class that it fits in; an image larger than every class isn't stored. A full class evicts its least recently used image under
        /// every policy. As in any dictionary literal, equal sizes, such as 1,000 KB and 1 MB, crash the program.
        ///
        /// ```swift
        /// configuration.sizeClasses = [.kilobytes(100): 100, .kilobytes(500): 50, .megabytes(1): 10]
        /// ```
        public var sizeClasses: [ByteCount: Int]
        /// True, the default, to find evicted images as long as another part of the program holds them.
        public var keepsWeakReferences: Bool

        /// Creates a configuration. Each parameter sets the property of the same name.
        /// - Parameter capacity: the most memory; `nil` for a share of the machine's or the container's memory.
        public init(
            capacity: ByteCount? = nil, capacityAfterPurge: ByteCount? = nil, maximumCount: Int? = nil,
            maximumEntryBytes: ByteCount? = nil, timeToLive: Duration? = nil, policy: Policy = .adaptive,
            sizeClasses: [ByteCount: Int] = [:], keepsWeakReferences: Bool = true
        ) {
            self.capacity = capacity ?? .memoryCacheDefault
            self.capacityAfterPurge = capacityAfterPurge
            self.maximumCount = maximumCount
            self.maximumEntryBytes = maximumEntryBytes
            self.timeToLive = timeToLive
            self.policy = policy
            self.sizeClasses = sizeClasses
            self.keepsWeakReferences = keepsWeakReferences
        }
    }

    /// The order of eviction when the cache is full.
    public enum Policy: Sendable, Hashable, CaseIterable {
        /// Evicts images that were used only once first, or the least recently used images where that works better, such as in a feed that
        /// is scrolled back. A new image that needs more than a quarter of the capacity must be requested twice before other images are
        /// evicted for it.
        case adaptive
        /// Evicts the least recently used images.
        case leastRecentlyUsed
    }
}

extension MemoryCache.Configuration {
    /// The limits of all images together.
    var room: Room {
        Room(bytes: max(0, capacity.bytes), count: max(0, maximumCount ?? max(10_000, capacity.bytes / 2_048)))
    }
}

extension ByteCount {
    /// A fifth of the memory of the machine or of the program's control group, at most 512 MB.
    static let memoryCacheDefault = memoryCacheDefault(SystemMemory())

    static func memoryCacheDefault(_ memory: SystemMemory) -> ByteCount {
        min(.megabytes(512), ByteCount((memory.limit ?? 1_000_000_000) / 5))
    }
}
