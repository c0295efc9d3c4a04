#if HTTP
public import FoundationEssentials
public import TintypeLoading

extension ImageDownloader {
    /// The requests that a downloader makes, and the responses that it accepts. Its closures are called on any thread, several at once.
    public struct Configuration: Sendable {
        /// The number of transfers that normally run at once, at least 1; the default is 6. Other downloads wait.
        ///
        /// If one host holds more than half of the slots, it doesn't block the others: up to half as many additional transfers run for
        /// waiting downloads. ``maximumDownloadsPerHost`` limits a host strictly.
        public var maximumConcurrentDownloads: Int
        /// True to start the newest waiting download of each priority first, as for a scrolling list; false, the default, to start the
        /// oldest.
        public var newestFirst: Bool
        /// The longest time without any data: while connecting, before the response, and between two chunks of it.
        ///
        /// Zero or less means 15 s, the default. The time that closures of the program take doesn't count.
        public var timeout: Duration
        /// The longest time that an attempt may take, not counting the wait for its turn; `nil`, the default, for no limit.
        public var totalTimeout: Duration?
        /// The header fields of every request.
        ///
        /// They replace the ``defaultHeaders`` of the same name; an empty value removes a default. A redirect to another origin keeps only
        /// fields that are harmless there, such as `Accept` and `User-Agent`; use ``headerProvider`` to send others.
        public var headers: [String: String]
        /// The largest body that is accepted, after decompression; 200 MB by default.
        public var maximumBytes: ByteCount
        /// The largest number of redirects that are followed; 5 by default.
        public var maximumRedirects: Int
        /// The status codes of responses with an image; `nil` accepts every status. A response with the status 304 never has an image.
        public var acceptableStatusCodes: Set<Int>?
        /// The media types that are accepted, in lowercase and without parameters; `nil` accepts every type.
        public var acceptableContentTypes: Set<String>?
        /// The URL schemes that are loaded, a subset of `http` and `https`.
        public var schemes: Set<String>
        /// A closure that changes each request before it is sent, for example to sign its URL or to add a token.
        ///
        /// It is called when it is the transfer's turn, so that a signature is recent when it is sent. Neither this closure nor the others
        /// that can suspend may load through the same downloader: if all running transfers did so, each would wait for a slot, and none
        /// would end. Use another downloader to get a token.
        ///
        /// The transfer occupies its slot while one of these closures runs, so none should wait long, for example for the user's input. A
        /// time limit or a cancellation cancels the task of the closure without waiting for its end.
        ///
        /// If the closure throws an error, the load ends with ``ImageError/Code/badRequest``.
        public var requestModifier: (@Sendable (inout DownloadRequest) async throws -> Void)?
        /// A closure that changes the request that follows a redirect, or refuses the redirect by throwing an error, which ends the load
        /// with ``ImageError/Code/badRedirect``.
        ///
        /// It is called for each redirect that the downloader would follow, with the head of the redirect. The network guard also checks
        /// the changed request. A closure that changes the host must remove the fields that aren't for that host, such as `Authorization`.
        /// It must not load through the same downloader.
        public var redirectModifier: (@Sendable (inout DownloadRequest, ResponseHead) async throws -> Void)?
        /// A closure that changes the head of each response before it is checked.
        ///
        /// If the closure throws an error, the load ends with ``ImageError/Code/badResponse``. It isn't called for redirects that are
        /// followed. It must not load through the same downloader.
        public var responseModifier: (@Sendable (inout ResponseHead) async throws -> Void)?
        /// A closure that returns the header fields to send to a URL, given the fields that would be sent without it.
        ///
        /// The downloader calls it after the ``requestModifier`` for each URL of a redirect, and never passes it the fields that it
        /// returned earlier, so that a token for a host never reaches another host. A manager also calls it for each load, to keep the
        /// images of different users apart, so it should return soon.
        public var headerProvider: (@Sendable (URL, HTTPFields) -> HTTPFields)?

        /// The policy for repeating transfers that failed; none by default.
        public var retry: RetryPolicy
        /// The policy for servers that fail repeatedly; `nil` for none. The server that a redirect leads to is counted separately.
        public var circuitBreaker: CircuitBreakerPolicy?
        /// The servers that the downloader may connect to; `nil` for all.
        public var networkGuard: NetworkGuard?
        /// The longest wait for the start of a response, after the request was sent; `nil` for no limit but ``timeout``.
        public var firstByteTimeout: Duration?
        /// The smallest number of bytes of a body per second, on average over 10 s; `nil` for no limit. The default, 100, ends transfers
        /// that send a byte now and then, which would occupy their slots for hours.
        public var minimumSpeed: Int?
        /// The largest ratio of a body's size to its compressed size, checked from 1 MB on; `nil` for no limit but ``maximumBytes``.
        public var maximumDecompressionRatio: Double?
        /// The largest number of redirects from one origin; `nil` for no limit but ``maximumRedirects``.
        public var maximumRedirectsPerOrigin: Int?
        /// The number of transfers from the same host that may run at once; `nil` for no limit but ``maximumConcurrentDownloads``.
        ///
        /// A redirected transfer counts for the host that it was redirected to. It continues at once, and later requests wait for it.
        public var maximumDownloadsPerHost: Int?
        /// True, the default, to keep the received bytes of interrupted transfers in memory, up to 32 MB, and to resume from them when the
        /// URL is loaded again.
        ///
        /// A transfer can be resumed if the server identifies the bytes with a strong validator, such as an entity tag that doesn't start
        /// with `W/`, and didn't compress them. The new request must have the same header fields, including cookies and the fields from
        /// closures, so that the bytes of different users are never combined.
        public var resumesTransfers: Bool {
            get { partialDownloads != nil }
            set { partialDownloads = newValue ? partialDownloads ?? PartialDownloads() : nil }
        }
        /// The beginnings of interrupted transfers, which later transfers continue.
        package var partialDownloads: PartialDownloads?
        /// The smallest part of a body between two progress reports, from 0 to 1. The first and the last report are always made.
        public var minimumProgressInterval: Double
        /// The cookie store; `nil` neither keeps nor sends cookies.
        public var cookies: (any CookieStoring)?
        /// A closure that returns the credential for a server's challenge, or `nil` not to answer it. Without a closure, no challenge is
        /// answered.
        ///
        /// If the closure throws an error, the load ends with ``ImageError/Code/badRequest``. It must not load through the same downloader.
        public var credentials: (@Sendable (AuthenticationChallenge) async throws -> HTTPCredential?)?
        /// A closure that returns the decrypted bytes of a body. The decrypted bytes are decoded and cached. `nil` for no decryption.
        ///
        /// If the closure throws an error, the load ends with ``ImageError/Code/badResponse``. With this closure, bytes aren't decoded
        /// while they arrive. It must not load through the same downloader.
        public var decryptor: (@Sendable (Data, ResponseHead) async throws -> Data)?
        /// The certificates to trust and to present, and the exceptions.
        public var tls: TLSOptions
        /// The proxy for connections.
        public var proxy: ProxyOptions
        /// True to offer HTTP/2 to servers; false, the default, to use HTTP/1.1 only.
        ///
        /// Allow it only for servers that you trust. A server that changes between HTTP/2 and HTTP/1.1 for the same host, and back, can end
        /// the program: async-http-client 1.37.0 keeps closed connections of HTTP/2 in its pool
        /// (`HTTPConnectionPool+HTTP1StateMachine.swift`, `http2ConnectionClosed`) and traps at the next change. Also, the library buffers
        /// a server's frames without a limit until the server has sent its first settings.
        public var usesHTTP2: Bool
        /// The path of a Unix domain socket to connect to instead of any host, for `http` only; `nil` for none.
        public var unixSocketPath: String?
        /// A closure that observes downloads. It is called on any thread, and should return soon.
        public var observer: (@Sendable (DownloadEvent) -> Void)?

        /// Creates a configuration. Each parameter sets the property of the same name.
        public init(
            maximumConcurrentDownloads: Int = 6, newestFirst: Bool = false,
            timeout: Duration = .seconds(15), totalTimeout: Duration? = nil, headers: [String: String] = [:],
            maximumBytes: ByteCount = .megabytes(200), maximumRedirects: Int = 5,
            acceptableStatusCodes: Set<Int>? = Set(200..<300), acceptableContentTypes: Set<String>? = nil,
            schemes: Set<String> = ["http", "https"],
            requestModifier: (@Sendable (inout DownloadRequest) async throws -> Void)? = nil,
            redirectModifier: (@Sendable (inout DownloadRequest, ResponseHead) async throws -> Void)? = nil,
            responseModifier: (@Sendable (inout ResponseHead) async throws -> Void)? = nil,
            headerProvider: (@Sendable (URL, HTTPFields) -> HTTPFields)? = nil,
            retry: RetryPolicy = .none, circuitBreaker: CircuitBreakerPolicy? = nil, networkGuard: NetworkGuard? = nil,
            firstByteTimeout: Duration? = nil, minimumSpeed: Int? = 100, maximumDecompressionRatio: Double? = nil,
            maximumRedirectsPerOrigin: Int? = nil, maximumDownloadsPerHost: Int? = nil,
            resumesTransfers: Bool = true, minimumProgressInterval: Double = 0,
            cookies: (any CookieStoring)? = nil,
            credentials: (@Sendable (AuthenticationChallenge) async throws -> HTTPCredential?)? = nil,
            decryptor: (@Sendable (Data, ResponseHead) async throws -> Data)? = nil,
            tls: TLSOptions = TLSOptions(), proxy: ProxyOptions = .none, usesHTTP2: Bool = false,
            unixSocketPath: String? = nil,
            observer: (@Sendable (DownloadEvent) -> Void)? = nil
        ) {
            self.maximumConcurrentDownloads = maximumConcurrentDownloads
            self.newestFirst = newestFirst
            self.timeout = timeout
            self.totalTimeout = totalTimeout
            self.headers = headers
            self.maximumBytes = maximumBytes
            self.maximumRedirects = maximumRedirects
            self.acceptableStatusCodes = acceptableStatusCodes
            self.acceptableContentTypes = acceptableContentTypes
            self.schemes = schemes
            self.requestModifier = requestModifier
            self.redirectModifier = redirectModifier
            self.responseModifier = responseModifier
            self.headerProvider = headerProvider
            self.retry = retry
            self.circuitBreaker = circuitBreaker
            self.networkGuard = networkGuard
            self.firstByteTimeout = firstByteTimeout
            self.minimumSpeed = minimumSpeed
            self.maximumDecompressionRatio = maximumDecompressionRatio
            self.maximumRedirectsPerOrigin = maximumRedirectsPerOrigin
            self.maximumDownloadsPerHost = maximumDownloadsPerHost
            partialDownloads = resumesTransfers ? PartialDownloads() : nil
            self.minimumProgressInterval = minimumProgressInterval
            self.cookies = cookies
            self.credentials = credentials
            self.decryptor = decryptor
            self.tls = tls
            self.proxy = proxy
            self.usesHTTP2 = usesHTTP2
            self.unixSocketPath = unixSocketPath
            self.observer = observer
        }

        /// The header fields that are sent unless ``headers`` replaces them.
        ///
        /// `Accept` names the formats that this build decodes, for servers that choose one. The server is asked not to compress, because
        /// images are already compressed, and a compressed body has no known length.
        public static let defaultHeaders = [
            "Accept": (acceptedTypes + ["image/*;q=0.8", "*/*;q=0.5"]).joined(separator: ","),
            "Accept-Encoding": "identity", "User-Agent": "Tintype/0.1",
        ]

        /// The media types of the formats that servers choose among, as far as the package traits of this build bring a coder for them.
        private static let acceptedTypes: [String] = {
            var types: [String] = []
            #if AVIF
            types.append("image/avif")
            #endif
            #if JXL
            types.append("image/jxl")
            #endif
            #if HEIF
            types += ["image/heic", "image/heif"]
            #endif
            types += ["image/webp", "image/apng", "image/png", "image/jpeg", "image/gif"]
            #if SVG
            types.append("image/svg+xml")
            #endif
            #if TIFF
            types.append("image/tiff")
            #endif
            return types
        }()

        /// The ``defaultHeaders``, ready for a request.
        static let defaultFields = HTTPFields(defaultHeaders)

        /// The ``timeout`` with its default and its bound.
        var idleLimit: Duration { timeout > .zero ? min(timeout, .longestLimit) : .seconds(15) }

        /// The time limits of a transfer, with their bounds.
        var paceLimits: TransferPace.Limits {
            TransferPace.Limits(
                idle: idleLimit, total: totalTimeout?.boundedLimit,
                firstByte: firstByteTimeout?.boundedLimit, minimumSpeed: minimumSpeed)
        }
    }
}
#endif
