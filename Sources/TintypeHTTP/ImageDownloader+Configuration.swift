#if HTTP
public import FoundationEssentials
public import TintypeCore

extension ImageDownloader {
    /// The requests that a downloader makes, and the responses that it accepts.
    public struct Configuration: Sendable {
        /// Changes a request before it is sent, for example to sign its URL or to add a token.
        ///
        /// An error that the closure throws ends the load with ``ImageError/Code/badRequest``.
        public typealias RequestModifier = @Sendable (inout DownloadRequest) async throws -> Void

        /// Changes the head of a response before it is checked.
        ///
        /// An error that the closure throws ends the load with ``ImageError/Code/badResponse``. The closure does not see redirects
        /// that are followed.
        public typealias ResponseModifier = @Sendable (inout DownloadResponse) async throws -> Void

        /// Returns the header fields to send to a URL, given the fields that would be sent.
        ///
        /// The downloader calls it after the ``RequestModifier`` for each URL of a redirect, and never passes it fields from its
        /// own earlier answers. A token for one host therefore goes to no other host.
        public typealias HeaderProvider = @Sendable (URL, HTTPFields) -> HTTPFields

        /// The number of transfers that may run at once, at least 1. Other downloads wait.
        public var maximumConcurrentDownloads: Int
        /// The order in which waiting downloads of the same priority begin.
        public var order: DownloadOrder
        /// The longest time without any data: while connecting, before the response, and between two pieces of it.
        ///
        /// Zero or less means 15 s.
        public var timeout: Duration
        /// The longest time that a transfer may take, not counting the wait for its turn; `nil` for no limit.
        public var totalTimeout: Duration?
        /// The header fields of every request.
        ///
        /// They replace the ``defaultHeaders`` of the same name, and an empty value removes one. A redirect to another origin takes
        /// only fields along that are harmless there, such as `Accept` and `User-Agent`; use ``headerProvider`` to send others.
        public var headers: [String: String]
        /// The largest body that is accepted, after decompression.
        public var maximumBytes: ByteCount
        /// The largest number of redirects that are followed.
        public var maximumRedirects: Int
        /// The status codes of responses that hold an image; `nil` accepts every status.
        public var acceptableStatusCodes: Set<Int>?
        /// The media types that are accepted, in lowercase and without parameters; `nil` accepts every type.
        public var acceptableContentTypes: Set<String>?
        /// The URL schemes that are loaded, a subset of `http` and `https`.
        public var schemes: Set<String>
        /// A closure that changes each request.
        public var requestModifier: RequestModifier?
        /// A closure that changes the head of each response.
        public var responseModifier: ResponseModifier?
        /// A closure that returns the header fields for each URL.
        public var headerProvider: HeaderProvider?

        /// Creates a configuration. Each parameter sets the property of the same name.
        public init(
            maximumConcurrentDownloads: Int = 6, order: DownloadOrder = .firstInFirstOut,
            timeout: Duration = .seconds(15), totalTimeout: Duration? = nil, headers: [String: String] = [:],
            maximumBytes: ByteCount = .megabytes(200), maximumRedirects: Int = 5,
            acceptableStatusCodes: Set<Int>? = Set(200..<300), acceptableContentTypes: Set<String>? = nil,
            schemes: Set<String> = ["http", "https"], requestModifier: RequestModifier? = nil,
            responseModifier: ResponseModifier? = nil, headerProvider: HeaderProvider? = nil
        ) {
            self.maximumConcurrentDownloads = maximumConcurrentDownloads
            self.order = order
            self.timeout = timeout
            self.totalTimeout = totalTimeout
            self.headers = headers
            self.maximumBytes = maximumBytes
            self.maximumRedirects = maximumRedirects
            self.acceptableStatusCodes = acceptableStatusCodes
            self.acceptableContentTypes = acceptableContentTypes
            self.schemes = schemes
            self.requestModifier = requestModifier
            self.responseModifier = responseModifier
            self.headerProvider = headerProvider
        }

        /// The header fields that are sent unless ``headers`` replaces them.
        ///
        /// Images are already compressed, and a body that is compressed once more has no known length. The server is therefore asked
        /// not to compress.
        public static let defaultHeaders = [
            "Accept": "image/*,*/*;q=0.8", "Accept-Encoding": "identity", "User-Agent": "Tintype/0.1",
        ]

        /// The ``timeout`` with its default and its bound.
        var idleLimit: Duration { timeout > .zero ? min(timeout, .longestLimit) : .seconds(15) }

        /// The ``totalTimeout`` with its bound.
        var totalLimit: Duration? { totalTimeout.map { min($0, .longestLimit) } }
    }

    /// The state of a downloader and the sums of its work.
    public struct Statistics: Sendable, Hashable {
        /// The number of transfers that run.
        public var active = 0
        /// The number of downloads that wait for their turn.
        public var waiting = 0
        /// The number of transfers that have begun since the downloader was created.
        public var started = 0
        /// The number of downloads that delivered a body.
        public var succeeded = 0
        /// The number of downloads that failed.
        public var failed = 0
        /// The number of downloads that were cancelled, before or after they began.
        public var cancelled = 0
        /// The bytes of all bodies that arrived, including those of downloads that failed later.
        public var receivedBytes = 0
    }
}
#endif
