#if HTTP
public import FoundationEssentials
public import TintypeLoading

extension ImageDownloader {
    /// The requests that a downloader makes, and the responses that it accepts. Its closures are called on any thread, several at once.
    public struct Configuration: Sendable {
        /// The number of transfers that normally run at once, at least 1; the default is 6. Other downloads wait.
        ///
        /// While others wait, a host that holds more than half of the slots doesn't hold them up: up to half as many transfers run in addition.
        /// ``maximumDownloadsPerHost`` limits a host strictly.
        public var maximumConcurrentDownloads: Int
        /// True if the newest of the waiting downloads of a priority starts first, as for a list that scrolls; false, the default, if the
        /// oldest does.
        public var newestFirst: Bool
        /// The longest time without any data: while connecting, before the response, and between two pieces of it.
        ///
        /// Zero or less means 15 s, the default. The time that closures of the program take doesn't count.
        public var timeout: Duration
        /// The longest time that an attempt to transfer may take, not counting the wait for its turn; `nil`, the default, for no limit.
        public var totalTimeout: Duration?
        /// The header fields of every request.
        ///
        /// They replace the ``defaultHeaders`` of the same name, and an empty value removes a default. A redirect to another origin takes
        /// only fields along that are harmless there, such as `Accept` and `User-Agent`; use ``headerProvider`` to send others.
        public var headers: [String: String]
        /// The largest body that is accepted, after decompression; 200 MB by default.
        public var maximumBytes: ByteCount
        /// The largest number of redirects that are followed; 5 by default.
        public var maximumRedirects: Int
        /// The status codes of responses that hold an image; `nil` accepts every status. The status 304 has a meaning of its own, and never
        /// holds an image.
        public var acceptableStatusCodes: Set<Int>?
        /// The media types that are accepted, in lowercase and without parameters; `nil` accepts every type.
        public var acceptableContentTypes: Set<String>?
        /// The URL schemes that are loaded, a subset of `http` and `https`.
        public var schemes: Set<String>
        /// A closure that changes each request before it is sent, for example to sign its URL or to add a token.
        ///
        /// It is called when the turn of the transfer has come, so that a signature isn't old when it is sent. It mustn't load through the same
        /// downloader, and neither may the other closures that can suspend: if all transfers that run did so, each would wait for the turn of
        /// its load, and none would end. A downloader of its own can get the token.
        ///
        /// The transfer keeps its turn while one of these closures waits, so none should wait long, as for a user's answer. A time limit
        /// or a cancellation cancels the task of the closure, and doesn't wait for its end.
        ///
        /// An error that the closure throws ends the load with ``ImageError/Code/badRequest``.
        public var requestModifier: (@Sendable (inout DownloadRequest) async throws -> Void)?
        /// A closure that changes the request that follows a redirect, or refuses the redirect by throwing an error, which ends the load
        /// with ``ImageError/Code/badRedirect``.
        ///
        /// It is called for each redirect that the downloader would follow, with the head of the redirect. The network guard checks the
        /// changed request too. A closure that changes the host has to remove the fields that aren't for that host, such as
        /// `Authorization`. It mustn't load through the same downloader.
        public var redirectModifier: (@Sendable (inout DownloadRequest, ResponseHead) async throws -> Void)?
        /// A closure that changes the head of each response before it is checked.
        ///
        /// An error that the closure throws ends the load with ``ImageError/Code/badResponse``. The closure does not see redirects
        /// that are followed. It mustn't load through the same downloader.
        public var responseModifier: (@Sendable (inout ResponseHead) async throws -> Void)?
        /// A closure that returns the header fields to send to a URL, given the fields that would be sent.
        ///
        /// The downloader calls it after the ``requestModifier`` for each URL of a redirect, and never passes it fields from its
        /// own earlier answers. A token for a host therefore never goes to another host.
        /// A manager also asks it for each load, to keep the images of different users apart, so it should return soon.
        public var headerProvider: (@Sendable (URL, HTTPFields) -> HTTPFields)?

        /// The policy for repeating transfers that failed; none by default.
        public var retry: RetryPolicy
        /// The policy for servers that fail again and again; `nil` asks them each time. The server that a redirect leads to counts by
        /// itself.
        public var circuitBreaker: CircuitBreakerPolicy?
        /// The servers that may be connected to; `nil` allows all.
        public var networkGuard: NetworkGuard?
        /// The longest wait for the start of a response, after the request was sent; `nil` for no limit but ``timeout``.
        public var firstByteTimeout: Duration?
        /// The smallest number of bytes of a body per second, on average over 10 s; `nil` for no limit. The default, 100, ends transfers
        /// that send a byte now and then, and would occupy their slot for hours.
        public var minimumSpeed: Int?
        /// The largest size of a body compared with its compressed size, from 1 MB on; `nil` for no limit but ``maximumBytes``.
        public var maximumDecompressionRatio: Double?
        /// The largest number of redirects that an origin may send; `nil` for no limit but ``maximumRedirects``.
        public var maximumRedirectsPerOrigin: Int?
        /// The number of transfers from the same host that may run at once; `nil` for no limit but ``maximumConcurrentDownloads``.
        ///
        /// A redirected transfer counts for the host that it was redirected to. It goes on at once, and later requests wait for it.
        public var maximumDownloadsPerHost: Int?
        /// True, the default, to keep the beginnings of interrupted transfers in memory, up to 32 MB, and to continue with them when a
        /// URL is loaded again.
        ///
        /// A transfer can be continued if the server identifies the bytes with a strong validator, such as an entity tag that doesn't
        /// start with `W/`, and didn't compress them. The request has to have the same header fields again, cookies and those of closures
        /// included: the bytes of one user never continue those of another.
        public var resumesTransfers: Bool {
            get { partialDownloads != nil }
            set { partialDownloads = newValue ? partialDownloads ?? PartialDownloads() : nil }
        }
        /// The beginnings of interrupted transfers, which later transfers continue.
        package var partialDownloads: PartialDownloads?
        /// The smallest part of a body between two reports of progress, from 0 to 1. The first and the last report are always made.
        public var minimumProgressInterval: Double
        /// The place for cookies; `nil` neither keeps nor sends any.
        public var cookies: (any CookieStoring)?
        /// A closure that returns the credential for a challenge of a server; `nil` answers no challenge, and so does a closure that
        /// returns `nil`.
        ///
        /// An error that the closure throws ends the load with ``ImageError/Code/badRequest``. The closure mustn't load through the same
        /// downloader.
        public var credentials: (@Sendable (AuthenticationChallenge) async throws -> HTTPCredential?)?
        /// A closure that returns the decrypted bytes of a body, which are decoded and cached; `nil` for none.
        ///
        /// An error that the closure throws ends the load with ``ImageError/Code/badResponse``. Bytes are not decoded while they arrive. The
        /// closure mustn't load through the same downloader.
        public var decryptor: (@Sendable (Data, ResponseHead) async throws -> Data)?
        /// The certificates to trust and to present, and the exceptions.
        public var tls: TLSOptions
        /// The proxy for connections.
        public var proxy: ProxyOptions
        /// True if servers may choose HTTP/2; false, the default, if they are asked for HTTP/1.1 only.
        ///
        /// Allow it for servers that you trust. A server that changes between HTTP/2 and HTTP/1.1 for the same host, and back, can end the
        /// program: async-http-client 1.37.0 keeps closed connections of HTTP/2 in its pool (`HTTPConnectionPool+HTTP1StateMachine.swift`,
        /// `http2ConnectionClosed`) and traps at the next change. And until a server has sent its first settings, the library keeps its
        /// frames without a limit.
        public var usesHTTP2: Bool
        /// The path of a Unix domain socket to connect to in place of every host, for `http` only; `nil` for none.
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
        /// `Accept` names the formats that this build decodes, for servers that choose one. Images are already compressed, and a body that is
        /// compressed once more has no known length. The server is therefore asked not to compress.
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
