public import FoundationEssentials

/// Closures that change a request's messages to and from the server, and the bytes that arrive.
///
/// ```swift
/// var request = ImageRequest(url)
/// request.downloadHooks = DownloadHooks(
///     identifier: "album \(album.id)",
///     modifyRequest: { $0.headers["X-Album"] = "\(album.id)" },
///     decrypt: { data, _ in try album.decrypt(data) })
/// ```
///
/// Each closure replaces the downloader's. `ImageDownloader` describes when they are called, and how their errors are reported. Other
/// loaders may ignore them. The closures must not load through the same downloader.
public struct DownloadHooks: Sendable {
    /// The identity of the closures.
    ///
    /// Requests with different identifiers share no download, and their images have different cache keys, unless
    /// ``ImageRequest/CacheOptions/key`` sets the key. Use equal identifiers only for closures that do the same.
    public var identifier: String
    /// Changes the request before it is sent; `nil` for the downloader's closure.
    public var modifyRequest: (@Sendable (inout DownloadRequest) async throws -> Void)?
    /// Changes the request that follows a redirect, given the head of the redirect, or throws an error to refuse it; `nil` for the
    /// downloader's closure.
    public var modifyRedirect: (@Sendable (inout DownloadRequest, ResponseHead) async throws -> Void)?
    /// Changes the head of the response before it is checked; `nil` for the downloader's closure.
    public var modifyResponse: (@Sendable (inout ResponseHead) async throws -> Void)?
    /// Returns the decrypted bytes of a body; `nil` for the downloader's closure.
    public var decrypt: (@Sendable (Data, ResponseHead) async throws -> Data)?

    /// Creates hooks. Each parameter sets the property of the same name.
    public init(
        identifier: String, modifyRequest: (@Sendable (inout DownloadRequest) async throws -> Void)? = nil,
        modifyRedirect: (@Sendable (inout DownloadRequest, ResponseHead) async throws -> Void)? = nil,
        modifyResponse: (@Sendable (inout ResponseHead) async throws -> Void)? = nil,
        decrypt: (@Sendable (Data, ResponseHead) async throws -> Data)? = nil
    ) {
        (self.identifier, self.modifyRequest, self.modifyRedirect) = (identifier, modifyRequest, modifyRedirect)
        (self.modifyResponse, self.decrypt) = (modifyResponse, decrypt)
    }
}
