extension TieredDiskCache {
    /// A choice of the caches that take part in a call.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// The cache that was added last, and no other.
        case highestOnly
        /// The cache that was added first, and no other.
        case lowestOnly
        /// In order, starting with the highest priority. A query ends with the first hit; changes go to all, even if some fail.
        case serial
        /// All at once. A query ends with the first hit, and the others are canceled. A miss waits for all.
        case concurrent
    }
}
