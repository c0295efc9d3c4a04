public import FoundationEssentials

/// The head of a response: everything except its body. The closures of a downloader receive it, and may change its status and its fields.
public struct ResponseHead: Sendable, Hashable {
    /// The URL of the response, after redirects.
    public let url: URL
    /// The HTTP status; `nil` for sources without HTTP.
    public var statusCode: Int?
    /// The protocol of the transfer, such as `HTTP/1.1`.
    public let networkProtocol: String?
    /// The header fields of the response.
    public var headers: HTTPFields

    /// Creates a head. Each parameter sets the property of the same name.
    public init(url: URL, statusCode: Int? = nil, networkProtocol: String? = nil, headers: HTTPFields = [:]) {
        self.url = url
        self.statusCode = statusCode
        self.networkProtocol = networkProtocol
        self.headers = headers
    }

    /// The media type of the field `Content-Type`, without its parameters, in lowercase; the first, if a server sends several.
    package var mimeType: String? {
        guard let field = headers["Content-Type"] else { return nil }
        // Bytes, because it is asked for several times in a load, and characters are ten times slower.
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        let type = field.utf8.drop(while: isSpace).prefix {
            $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") && !isSpace($0)
        }
        guard !type.isEmpty else { return nil }
        let isLowercase = type.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) }
        return isLowercase ? String(Substring(type)) : Substring(type).lowercased()
    }
}

extension ResponseHead: CustomStringConvertible {
    /// The status and the URL, without header fields, user info, and query values, which may be secrets.
    public var description: String { (statusCode.map { "\($0) from " } ?? "") + url.shortDescription }
}
