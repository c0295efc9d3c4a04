#if HTTP
extension ImageDownloader {
    /// The state of a downloader and the totals of its work.
    public struct Statistics: Sendable, Hashable {
        /// The number of running transfers.
        public var active = 0
        /// The number of downloads that are waiting for their turn.
        public var waiting = 0
        /// The number of transfers that have started since the downloader was created.
        public var started = 0
        /// The number of downloads that delivered a body.
        public var succeeded = 0
        /// The number of downloads that failed.
        public var failed = 0
        /// The number of downloads that were canceled, before or after they started.
        public var cancelled = 0
        /// The bytes of all bodies that arrived, including downloads that failed later.
        public var receivedBytes = 0
    }
}
#endif
