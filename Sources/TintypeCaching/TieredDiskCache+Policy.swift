extension TieredDiskCache {
    /// The caches that take part in a call.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// Only the cache that was added last.
        case highestOnly
        /// Only the cache that was added first.
        case lowestOnly
        /// All caches in order, starting with the highest priority. A query ends with the first hit; changes go to all, even if some fail.
        case serial
        /// All caches at once. A query ends with the first hit, and the others are canceled. A miss waits for all.
        case concurrent
    }
}
