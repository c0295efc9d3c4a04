public import FoundationEssentials

/// The values for asking an HTTP server if a response is still current (RFC 9110, section 8.8).
///
/// They belong to the URL that sent them. Another URL may use the same values for other bytes.
public struct CacheValidators: Sendable, Hashable, Codable {
    /// The `ETag` of the response, with its quotes.
    public var entityTag: String?
    /// The `Last-Modified` date of the response, as the server spelled it.
    public var lastModified: String?
    /// The digest of the URL that gave them; `nil` if that is the URL of the request. A digest, because URLs may have secrets.
    var owner: String?

    /// Creates validators. Each parameter sets the property of the same name.
    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The start of a file's entity tag, which no server's tag has: those are quoted.
    package static let filePrefix = "file-"

    /// True if there is nothing to ask a server with.
    public var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// True if they have no control characters, which would end a header field.
    var isText: Bool {
        [entityTag, lastModified].allSatisfy { $0?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ?? true }
    }

    /// Returns true if the validators may be sent to a URL.
    /// - Parameters:
    ///   - url: the URL that is about to be asked.
    ///   - request: the URL of the request, which differs after a redirect.
    public func belong(to url: URL, of request: URL) -> Bool {
        owner.map { $0 == XXH3.digest(url.representation) } ?? (url.representation == request.representation)
    }

    /// The validators as those that a URL gave.
    package func owned(by url: URL, of request: URL) -> CacheValidators {
        var validators = self
        let representation = url.representation
        validators.owner = representation == request.representation ? nil : XXH3.digest(representation)
        return validators
    }

    /// True if others have another entity tag, or, where there are none, another date: they belong to other bytes (RFC 9111, section 4.3.4).
    package func isContradicted(by new: CacheValidators?) -> Bool {
        guard let old = entityTag, let tag = new?.entityTag else {
            guard entityTag == nil, new?.entityTag == nil, let lastModified else { return false }
            return new?.lastModified.map { $0 != lastModified } ?? false
        }
        // Some servers mark the same tag as weak now and then.
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(old) != opaque(tag)
    }

    /// The validators after the source said that the bytes are current: those that it doesn't repeat stay.
    package func renewed(by new: CacheValidators?) -> CacheValidators? {
        var all = self
        all.entityTag = new?.entityTag ?? entityTag
        all.lastModified = new?.lastModified ?? lastModified
        return all.isEmpty ? nil : all
    }
}

extension URL {
    /// The part of a URL that identifies what a server sends for it: all but credentials and the fragment.
    package var representation: String {
        let text = (user(percentEncoded: true) == nil ? self : withoutCredentials).absoluteString
        return text.firstIndex(of: "#").map { String(text[..<$0]) } ?? text
    }
}
