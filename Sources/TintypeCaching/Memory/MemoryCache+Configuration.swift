extension MemoryCache {
    /// The limits of a memory cache. They can be changed while the cache is used.
    public struct Configuration: Sendable, Hashable {
        /// The most bytes that the pixels of all images may use; zero to keep no image.
        public var capacity: ByteCount
        /// The bytes that remain after a purge, which starts when ``capacity`` is exceeded; `nil` for the capacity itself, so
        /// that only as many images as necessary are evicted.
        public var capacityAfterPurge: ByteCount?
        /// The largest number of images; `nil` for one for each 2 KB of the capacity, and 10,000 at least. What belongs to an image beside its pixels
        /// takes about as much.
        public var maximumCount: Int?
        /// The largest image that is stored; `nil` for the capacity. Larger images are found only while another part of the
        /// program holds them.
        public var maximumEntryBytes: ByteCount?
        /// The time that an image stays in the cache after it was stored; `nil` for no limit.
        public var timeToLive: Duration?
        /// The order of eviction.
        public var policy: Policy
        /// The largest number of images up to a size, in addition to the other limits; empty for no limit. An image belongs to the smallest
        /// class that it fits in. Images that are larger than every class aren't stored. A full class evicts its least recently used image
        /// under every policy. As in any dictionary literal, equal sizes, such as 1,000 KB and 1 MB, end the program.
        ///
        /// ```swift
        /// configuration.sizeClasses = [.kilobytes(100): 100, .kilobytes(500): 50, .megabytes(1): 10]
        /// ```
        public var sizeClasses: [ByteCount: Int]
        /// True to still find evicted images while another part of the program holds them; this is the default.
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
        /// Evicts the images that were not used again first, or the least recently used images where that works better, such as
        /// in a feed that is scrolled back. A new image that needs more than a quarter of the capacity has to be requested
        /// twice before other images are evicted for it.
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
