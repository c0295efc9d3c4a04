public import FoundationEssentials
internal import TintypeCore

/// A request that is about to be sent, as a request modifier sees and changes it.
public struct DownloadRequest: Sendable, Hashable {
    /// Where the request goes. A modifier may send it elsewhere; the image is still known by the URL that was asked for.
    public var url: URL
    public var method: String
    /// All fields that are sent, but those that HTTP itself needs, such as `Host`.
    public var headers: HTTPFields
    public var body: Data?

    public init(url: URL, method: String = "GET", headers: HTTPFields = [:], body: Data? = nil) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

/// The head of a response, as a response modifier sees and changes it. What is changed is what is checked.
public struct DownloadResponse: Sendable, Hashable {
    /// Where the response came from, after redirects.
    public let url: URL
    public var statusCode: Int
    public var headers: HTTPFields

    public init(url: URL, statusCode: Int, headers: HTTPFields = [:]) {
        self.url = url
        self.statusCode = statusCode
        self.headers = headers
    }

    /// The media type without its parameters, in lowercase.
    public var mimeType: String? {
        guard let field = headers["Content-Type"], let type = field.split(separator: ";").first else { return nil }
        let trimmed = String(type.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }).lowercased()
        return trimmed.isEmpty ? nil : trimmed
    }
}

extension DownloadRequest {
    /// The same request with `user:password@` of its URL as a field, as RFC 7617 has it; a field that is there already stays.
    var withCredentialsInHeader: DownloadRequest {
        let user = url.user(percentEncoded: false)
        let password = url.password(percentEncoded: false)
        guard user != nil || password != nil else { return self }
        var request = self
        request.url = url.withoutCredentials
        if headers["Authorization"] == nil {
            let login = Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString()
            request.headers["Authorization"] = "Basic \(login)"
        }
        return request
    }
}
