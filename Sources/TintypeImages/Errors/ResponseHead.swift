public import FoundationEssentials

/// The head of a source's answer: everything but its bytes.
public struct ResponseHead: Sendable, Hashable {
    /// The final URL of the answer, after redirects.
    public var url: URL
    /// The HTTP status.
    public var statusCode: Int?
    /// The media type that the source specified.
    public var mimeType: String?
    /// The protocol of the transfer, such as `HTTP/1.1`.
    public var networkProtocol: String?
    /// The header fields of the answer.
    public var headers: HTTPFields

    /// Creates a head. Each parameter sets the property of the same name.
    public init(
        url: URL, statusCode: Int? = nil, mimeType: String? = nil, networkProtocol: String? = nil,
        headers: HTTPFields = [:]
    ) {
        self.url = url
        self.statusCode = statusCode
        self.mimeType = mimeType
        self.networkProtocol = networkProtocol
        self.headers = headers
    }
}

extension ResponseHead: CustomStringConvertible {
    /// The status and the URL, without header fields, user info, and query values, which may be credentials.
    public var description: String { (statusCode.map { "\($0) " } ?? "") + url.shortDescription }
}
