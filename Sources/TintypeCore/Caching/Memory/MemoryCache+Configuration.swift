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
        /// Which images go first.
        public var policy: Policy
        /// How many images of each size are kept, beside the other limits; empty for any number. An image counts for the
        /// smallest class that it fits in, and what is larger than every class is not kept. From a class that is full goes
        /// what was not used for the longest time, whatever the policy.
        ///
        /// ```swift
        /// configuration.sizeClasses = [
        ///     .init(upTo: .kilobytes(100), count: 100), .init(upTo: .kilobytes(500), count: 50),
        ///     .init(upTo: .megabytes(1), count: 10),
        /// ]
        /// ```
        public var sizeClasses: [SizeClass]
        /// What is left when the system runs out of memory.
        public var watermarks: Watermarks
        /// Whether an image that had to go is still found while another part of the program holds it; true by default.
        public var keepsWeakReferences: Bool

        public init(
            capacity: ByteCount? = nil, capacityAfterPurge: ByteCount? = nil, maximumCount: Int? = nil,
            maximumEntryBytes: ByteCount? = nil, timeToLive: Duration? = nil, policy: Policy = .adaptive,
            sizeClasses: [SizeClass] = [], watermarks: Watermarks = Watermarks(), keepsWeakReferences: Bool = true
        ) {
            self.capacity = capacity ?? .memoryCacheDefault
            self.capacityAfterPurge = capacityAfterPurge
            self.maximumCount = maximumCount
            self.maximumEntryBytes = maximumEntryBytes
            self.timeToLive = timeToLive
            self.policy = policy
            self.sizeClasses = sizeClasses
            self.watermarks = watermarks
            self.keepsWeakReferences = keepsWeakReferences
        }
    }

    /// Which images go first when there is no more room.
    public enum Policy: Sendable, Hashable, CaseIterable {
        /// Those that save the least time for the bytes they take, by their size and by how often they are asked for;
        /// those that were not used for the longest time where that serves better, such as in a feed that is scrolled
        /// back. A newcomer of more than a quarter of the room has to be asked for twice before others go for it.
        case adaptive
        /// Those that were not used for the longest time.
        case leastRecentlyUsed
    }

    /// How many images up to a size are kept.
    public struct SizeClass: Sendable, Hashable {
        /// The largest image of the class.
        public var upTo: ByteCount
        /// The most images of the class.
        public var count: Int

        public init(upTo: ByteCount, count: Int) {
            self.upTo = upTo
            self.count = count
        }
    }

    /// The parts of the capacity, from 0 to 1, that are left at each level of memory pressure.
    public struct Watermarks: Sendable, Hashable {
        public var warning: Double
        public var critical: Double

        public init(warning: Double = 0.5, critical: Double = 0.1) {
            self.warning = warning
            self.critical = critical
        }

        /// The part that is left at a level.
        public func fraction(at level: MemoryPressure.Level) -> Double {
            let fraction =
                switch level {
                case .warning: warning
                case .critical: critical
                }
            return fraction >= 0 ? min(fraction, 1) : 0
        }
    }
}

extension ByteCount {
    /// A fifth of the memory that the machine has or the program's control group allows, at most 512 MB.
    static let memoryCacheDefault = memoryCacheDefault(SystemMemory())

    static func memoryCacheDefault(_ memory: SystemMemory) -> ByteCount {
        min(.megabytes(512), ByteCount((memory.limit ?? 1_000_000_000) / 5))
    }
}
