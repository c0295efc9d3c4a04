extension MemoryCache {
    /// The limits of a memory cache. All of them can be changed while the cache is used.
    public struct Configuration: Sendable, Hashable {
        /// The most that the pixels of all images may take.
        public var capacity: ByteCount
        /// What is left after a purge, which happens when ``capacity`` is exceeded; `nil` for the capacity itself, so
        /// that only as much goes as has to.
        public var capacityAfterPurge: ByteCount?
        /// The most images; `nil` for any number.
        public var maximumCount: Int?
        /// The largest image that is kept; `nil` for the capacity. Larger ones are found only as long as somebody else
        /// holds them.
        public var maximumEntryBytes: ByteCount?
        /// How long an image is kept from when it was stored; `nil` for as long as there is room.
        public var timeToLive: Duration?

        public init(
            capacity: ByteCount = .memoryCacheDefault, capacityAfterPurge: ByteCount? = nil, maximumCount: Int? = nil,
            maximumEntryBytes: ByteCount? = nil, timeToLive: Duration? = nil
        ) {
            self.capacity = capacity
            self.capacityAfterPurge = capacityAfterPurge
            self.maximumCount = maximumCount
            self.maximumEntryBytes = maximumEntryBytes
            self.timeToLive = timeToLive
        }
    }
}

extension ByteCount {
    /// A fifth of the memory that the machine has or the program's control group allows, at most 512 MB.
    public static let memoryCacheDefault = memoryCacheDefault(SystemMemory())

    static func memoryCacheDefault(_ memory: SystemMemory) -> ByteCount {
        min(.megabytes(512), ByteCount((memory.limit ?? 1_000_000_000) / 5))
    }
}
