public import FoundationEssentials

/// A request that is about to be sent, and that a request modifier can change.
public struct DownloadRequest: Sendable, Hashable {
    /// The URL of the request. A modifier may change it; the image keeps the URL of the load as its identity.
    public var url: URL
    /// The method, such as `GET`.
    public var method: String
    /// The header fields, except those that HTTP itself needs, such as `Host`.
    public var headers: HTTPFields
    /// The body; `nil` for none.
    public var body: Data?
    /// The box that the image will fill, in pixels, if the load tells it (``LoadRequest/targetSize``). It isn't sent; a modifier can
    /// make the URL or a header field of it that makes the server send a smaller image.
    public var targetSize: PixelSize?

    /// Creates a request.
    /// - Parameters:
    ///   - url: the URL.
    ///   - method: the HTTP method.
    ///   - headers: the header fields.
    ///   - body: the body; `nil` for none.
    public init(url: URL, method: String = "GET", headers: HTTPFields = [:], body: Data? = nil) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

/// The head of a response, which a response modifier can change. The changed head is checked.
public struct DownloadResponse: Sendable, Hashable {
    /// The URL of the response, after redirects.
    public let url: URL
    /// The status code.
    public var statusCode: Int
    /// The header fields.
    public var headers: HTTPFields

    /// Creates the head of a response.
    /// - Parameters:
    ///   - url: the URL.
    ///   - statusCode: the HTTP status.
    ///   - headers: the header fields.
    public init(url: URL, statusCode: Int, headers: HTTPFields = [:]) {
        self.url = url
        self.statusCode = statusCode
        self.headers = headers
    }

    /// The media type without its parameters, in lowercase.
    package var mimeType: String? {
        guard let field = headers["Content-Type"] else { return nil }
        // Bytes, because it is asked for several times in a load, and characters are ten times slower.
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        let type = field.utf8.drop(while: isSpace).prefix { $0 != UInt8(ascii: ";") && !isSpace($0) }
        guard !type.isEmpty else { return nil }
        let isLowercase = type.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) }
        return isLowercase ? String(Substring(type)) : Substring(type).lowercased()
    }
}

extension DownloadRequest: CustomStringConvertible {
    /// The method and the URL, without user info, values of its query, and header fields, which may be secrets.
    public var description: String { "\(method) \(url.shortDescription)" }
}

extension DownloadResponse: CustomStringConvertible {
    /// The status and the URL, without user info, values of its query, and header fields, which may be secrets.
    public var description: String { "\(statusCode) from \(url.shortDescription)" }
}
