public import FoundationEssentials

/// A request that is about to be sent. A request modifier can change it.
public struct DownloadRequest: Sendable, Hashable {
    /// The URL of the request. A modifier may change it; the image keeps the URL of the load as its identity.
    public var url: URL
    /// The method, such as `GET`.
    public var method: String
    /// The header fields, except those that HTTP itself needs, such as `Host`.
    public var headers: HTTPFields
    /// The body; `nil` for none.
    public var body: Data?
    /// The box that the image will fill, in pixels, if the load has a ``LoadRequest/targetSize``. It isn't sent. A modifier can put it into
    /// the URL or a header field, so that the server sends a smaller image.
    public var targetSize: PixelSize?

    /// Creates a request.
    /// - Parameters:
    ///   - url: the URL.
    ///   - method: the HTTP method.
    ///   - headers: the header fields.
    ///   - body: the body; `nil` for none.
    public init(url: URL, method: String = "GET", headers: HTTPFields = [:], body: Data? = nil) {
        (self.url, self.method, self.headers, self.body) = (url, method, headers, body)
    }
}

extension DownloadRequest: CustomStringConvertible {
    /// The method and the URL, without user info, query values, and header fields, which may be secrets.
    public var description: String { "\(method) \(url.shortDescription)" }
}
