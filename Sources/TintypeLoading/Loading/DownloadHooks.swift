public import FoundationEssentials

/// The closures of a request that change its messages to the server, and the bytes that arrive.
///
/// ```swift
/// var request = ImageRequest(url)
/// request.downloadHooks = DownloadHooks(
///     identifier: "album \(album.id)",
///     modifyRequest: { $0.headers["X-Album"] = "\(album.id)" },
///     decrypt: { data, _ in try album.decrypt(data) })
/// ```
///
/// Each closure takes the place of the downloader's: `ImageDownloader` describes when they are called, and how their errors are reported.
/// Other loaders may ignore them.
public struct DownloadHooks: Sendable {
    /// Changes a request before it is sent.
    public typealias RequestModifier = @Sendable (inout DownloadRequest) async throws -> Void
    /// Changes the request that follows a redirect, whose head it is given, or throws an error to refuse the redirect.
    public typealias RedirectModifier = @Sendable (inout DownloadRequest, DownloadResponse) async throws -> Void
    /// Changes the head of a response before it is checked.
    public typealias ResponseModifier = @Sendable (inout DownloadResponse) async throws -> Void
    /// Returns the decrypted bytes of a body.
    public typealias Decryptor = @Sendable (Data, DownloadResponse) async throws -> Data

    /// The identity of the closures.
    ///
    /// Requests with different identifiers share no download, and their images have different cache keys, unless
    /// ``ImageRequest/CacheOptions/key`` sets the key. Equal identifiers mean closures that do the same.
    public var identifier: String
    /// Changes the request; `nil` for the downloader's closure.
    public var modifyRequest: RequestModifier?
    /// Changes or refuses the request that follows a redirect; `nil` for the downloader's closure.
    public var modifyRedirect: RedirectModifier?
    /// Changes the head of the response; `nil` for the downloader's closure.
    public var modifyResponse: ResponseModifier?
    /// Decrypts the body; `nil` for the downloader's closure.
    public var decrypt: Decryptor?

    /// Creates hooks. Each parameter sets the property of the same name.
    public init(
        identifier: String, modifyRequest: RequestModifier? = nil, modifyRedirect: RedirectModifier? = nil,
        modifyResponse: ResponseModifier? = nil, decrypt: Decryptor? = nil
    ) {
        self.identifier = identifier
        self.modifyRequest = modifyRequest
        self.modifyRedirect = modifyRedirect
        self.modifyResponse = modifyResponse
        self.decrypt = decrypt
    }
}
