public import FoundationEssentials
internal import TintypeLoading

/// A credential for a server that requires authentication.
public enum HTTPCredential: Sendable, Hashable {
    /// A user name and a password (RFC 7617). The name can't have a colon.
    case basic(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(token: String)
    /// The value of the field `Authorization`, for other schemes.
    case authorization(String)

    /// The value of the field `Authorization`.
    var field: String {
        switch self {
        case .basic(let user, let password): "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        case .bearer(let token): "Bearer \(token)"
        case .authorization(let value): value
        }
    }
}

/// A server's request for a credential: a response with the status 401 (RFC 9110, section 11.6.1).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The URL that was requested. Compare its scheme and host before you return a credential, because a redirect may lead anywhere.
    public let url: URL
    /// The value of the field `WWW-Authenticate`, such as `Basic realm="images"`. Challenges in several fields are joined with commas.
    public let field: String
    /// The number of challenges for this URL in this transfer, counted from 1. If it is 2 or more, the last credential was refused.
    public let attempt: Int

    /// The schemes that the server accepts, in lowercase, such as `basic`.
    public var schemes: [String] {
        // A scheme is a word at the start or after a comma that isn't the name of a parameter. Quoted texts have no schemes.
        let unquoted = field.replacing("\\\"", with: "").split(separator: "\"", omittingEmptySubsequences: false)
            .enumerated().map { $0.offset.isMultiple(of: 2) ? String($0.element) : "" }.joined()
        return unquoted.split(separator: ",").compactMap { part in
            let word = part.drop { $0 == " " }.prefix { $0 != " " }
            return word.isEmpty || word.contains("=") ? nil : word.lowercased()
        }
    }
}

extension HTTPCredential: CustomStringConvertible {
    /// The kind of the credential, without the secret.
    public var description: String {
        switch self {
        case .basic(let user, _): "basic authorization of \(user)"
        case .bearer: "bearer token"
        case .authorization: "authorization"
        }
    }
}

extension AuthenticationChallenge: CustomStringConvertible {
    /// The schemes and the URL, without user info, query values, and parameters of the challenge.
    public var description: String {
        "challenge \(attempt) of \(url.shortDescription) for \(schemes.joined(separator: ", "))"
    }
}
