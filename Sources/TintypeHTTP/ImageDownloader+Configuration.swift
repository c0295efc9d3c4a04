#if HTTP
public import FoundationEssentials
public import TintypeCore

extension ImageDownloader {
    /// How a downloader asks, and what it accepts.
    public struct Configuration: Sendable {
        /// Looks at a request before it is sent and may change it: to sign its URL, to add a token. An error that it throws ends
        /// the load with ``ImageError/Code/badRequest``.
        public typealias RequestModifier = @Sendable (inout DownloadRequest) async throws -> Void

        /// Looks at the head of a response before anything else does and may change it. An error that it throws ends the load
        /// with ``ImageError/Code/badResponse``. Redirects that are followed are not shown to it.
        public typealias ResponseModifier = @Sendable (inout DownloadResponse) async throws -> Void

        /// Gives the header fields that are sent to a URL, for those that would be; asked for each URL of a redirect anew, with
        /// fields that no earlier answer of it has touched. So a token for one host goes to no other, whatever the servers
        /// say. It comes after the ``RequestModifier``.
        public typealias HeadersFilter = @Sendable (URL, HTTPFields) -> HTTPFields

        /// How many transfers run at once; the others wait. At least 1.
        public var maximumConcurrentDownloads: Int
        /// Which of the waiting downloads of one priority begins first.
        public var order: DownloadOrder
        /// How long nothing may come: while connecting, before the response, and between any two pieces of it. Zero or less is
        /// the default of 15 s.
        public var timeout: Duration
        /// How long a transfer may take in all, without the time it waited for its turn; `nil` is without limit.
        public var totalTimeout: Duration?
        /// Header fields of every request. They replace the defaults of the same name (`Accept`, `Accept-Encoding`, `User-Agent`);
        /// an empty value leaves a default out.
        public var headers: [String: String]
        /// The largest body that is accepted, whether announced or received.
        public var maximumBytes: ByteCount
        /// How many redirects are followed.
        public var maximumRedirects: Int
        /// The status codes that mean an image came; `nil` accepts every one.
        public var acceptableStatusCodes: Range<Int>?
        /// The media types that are accepted, in lowercase and without parameters; `nil` accepts every one.
        public var acceptableContentTypes: Set<String>?
        /// The schemes that are loaded, of `http` and `https`.
        public var schemes: Set<String>
        public var requestModifier: RequestModifier?
        public var responseModifier: ResponseModifier?
        public var headersFilter: HeadersFilter?

        public init(
            maximumConcurrentDownloads: Int = 6, order: DownloadOrder = .firstInFirstOut,
            timeout: Duration = .seconds(15), totalTimeout: Duration? = nil, headers: [String: String] = [:],
            maximumBytes: ByteCount = .megabytes(200), maximumRedirects: Int = 5,
            acceptableStatusCodes: Range<Int>? = 200..<300, acceptableContentTypes: Set<String>? = nil,
            schemes: Set<String> = ["http", "https"], requestModifier: RequestModifier? = nil,
            responseModifier: ResponseModifier? = nil, headersFilter: HeadersFilter? = nil
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
            self.headersFilter = headersFilter
        }

        /// The fields that are sent unless ``headers`` says otherwise.
        ///
        /// Images are compressed already, and of a body that is compressed once more nobody knows how much is to come: so the
        /// server is asked not to.
        public static let defaultHeaders = [
            "Accept": "image/*,*/*;q=0.8", "Accept-Encoding": "identity", "User-Agent": "Tintype/0.1",
        ]

        /// How long nothing may come, as it is used.
        var idleLimit: Duration { timeout > .zero ? timeout : .seconds(15) }
    }

    /// What a downloader does and has done.
    public struct Statistics: Sendable, Hashable {
        /// Transfers under way.
        public var active = 0
        /// Downloads that wait for their turn.
        public var waiting = 0
        /// Transfers begun since the downloader was made.
        public var started = 0
        public var succeeded = 0
        public var failed = 0
        /// Downloads given up, before or after they began.
        public var cancelled = 0
        /// Bytes of bodies received, also of those that failed later.
        public var receivedBytes = 0
    }
}
#endif
