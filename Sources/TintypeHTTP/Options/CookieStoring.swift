public import FoundationEssentials
internal import TintypeLoading

/// A store for cookies (RFC 6265).
///
/// Its methods are called from any thread, several at once. ``cookies(for:)`` must return immediately, because it is also called on the
/// thread that requests an image, such as the main thread.
public protocol CookieStoring: Sendable {
    /// Returns the value of the field `Cookie` for a request; `nil` for none.
    /// - Parameter url: the URL of the request.
    func cookies(for url: URL) -> String?

    /// Stores the cookies of a response.
    /// - Parameters:
    ///   - fields: the values of its `Set-Cookie` fields.
    ///   - url: the URL of the response.
    func store(_ fields: [String], from url: URL)
}

/// A cookie store in memory. The cookies last as long as this object.
///
/// A cookie is sent to the host that set it, or to all hosts under its `Domain` attribute. The store has no list of public suffixes, so it
/// accepts only domains with a dot that the host belongs to.
public final class SessionCookies: CookieStoring {
    private static let maximumCount = 1_000
    /// The most cookies of a domain, so that it can't drive out all others.
    private static let maximumPerDomain = 50
    private static let maximumBytes = 4_096

    private struct Cookie {
        var name: String
        var value: String
        var domain: String
        var isHostOnly: Bool
        var path: String
        var isSecure: Bool
        var expiry: Date?
    }

    private let cookies = Lock<[Cookie]>([])
    private let now: @Sendable () -> Date

    /// Creates an empty store.
    /// - Parameter now: returns the current time.
    public init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Removes all cookies.
    public func removeAll() { cookies.withLock { $0 = [] } }

    public func cookies(for url: URL) -> String? {
        guard let host = url.host(percentEncoded: false)?.lowercased() else { return nil }
        let now = now()
        let path = Self.path(of: url)
        let matching = cookies.withLock { cookies in
            cookies.removeAll { $0.expiry.map { $0 <= now } ?? false }
            return cookies.filter { cookie in
                (cookie.domain == host || !cookie.isHostOnly && Self.isHost(host, below: cookie.domain))
                    && Self.isPath(path, below: cookie.path)
                    && (!cookie.isSecure || url.scheme?.lowercased() == "https")
            }
        }
        // More specific paths come first (section 5.4).
        let sorted = matching.enumerated().sorted {
            ($1.element.path.count, $0.offset) < ($0.element.path.count, $1.offset)
        }
        return sorted.isEmpty ? nil : sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    public func store(_ fields: [String], from url: URL) {
        let now = now()
        let isSecure = url.scheme?.lowercased() == "https"
        for cookie in fields.prefix(50).compactMap({ Self.parse($0, from: url, now: now) }) {
            cookies.withLock { cookies in
                guard isSecure || !cookies.contains(where: { Self.isCookie(cookie, shadowing: $0) }) else { return }
                cookies.removeAll {
                    $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
                }
                guard cookie.expiry.map({ $0 > now }) ?? true else { return }
                cookies.append(cookie)
                if cookies.count(where: { $0.domain == cookie.domain }) > Self.maximumPerDomain,
                    let oldest = cookies.firstIndex(where: { $0.domain == cookie.domain })
                {
                    cookies.remove(at: oldest)
                }
                if cookies.count > Self.maximumCount { cookies.removeFirst() }
            }
        }
    }

    private static func parse(_ field: String, from url: URL, now: Date) -> Cookie? {
        guard field.utf8.count <= maximumBytes, let host = url.host(percentEncoded: false)?.lowercased() else {
            return nil
        }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = String(pair[..<equals]).trimmed
        let value = String(pair[pair.index(after: equals)...]).trimmed
        guard !name.isEmpty, !(name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var cookie = Cookie(
            name: name, value: value, domain: host, isHostOnly: true, path: defaultPath(of: url), isSecure: false)
        var maximumAge: Double?
        var hasDomain = false
        for attribute in parts.dropFirst() {
            let pieces = attribute.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
            let argument = pieces.count > 1 ? pieces[1] : ""
            switch pieces.first?.lowercased() {
            case "secure": cookie.isSecure = true
            case "path" where argument.hasPrefix("/"): cookie.path = argument
            case "expires": cookie.expiry = CookieDate.date(argument) ?? cookie.expiry
            case "max-age": maximumAge = seconds(argument) ?? maximumAge
            case "domain" where !argument.isEmpty:
                let domain = (argument.hasPrefix(".") ? String(argument.dropFirst()) : argument).lowercased()
                // The dot at the end of a complete name doesn't turn a top-level domain into a valid domain.
                guard domain == host || domain.dropLast().contains(".") && isHost(host, below: domain) else {
                    return nil
                }
                hasDomain = true
                cookie.domain = domain
                cookie.isHostOnly = IPAddress(host) != nil
            default: break
            }
        }
        if let maximumAge { cookie.expiry = now.addingTimeInterval(maximumAge) }
        // Only a secure connection may set a cookie for secure connections (RFC 6265bis).
        guard !cookie.isSecure || url.scheme?.lowercased() == "https" else { return nil }
        // The prefixes promise these attributes to the server.
        let prefix = name.lowercased()
        if prefix.hasPrefix("__secure-") || prefix.hasPrefix("__host-") {
            guard cookie.isSecure else { return nil }
        }
        if prefix.hasPrefix("__host-") { guard !hasDomain, cookie.path == "/" else { return nil } }
        return cookie
    }

    /// The seconds of `Max-Age`: 0 if the number is negative; `nil` if it is none.
    private static func seconds(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return text.hasPrefix("-") ? 0 : Double(Int(digits) ?? .max)
    }

    /// True if a cookie that came without TLS would be sent in place of, or beside, a cookie for secure connections only (RFC
    /// 6265bis).
    private static func isCookie(_ new: Cookie, shadowing old: Cookie) -> Bool {
        old.isSecure && old.name == new.name && isPath(new.path, below: old.path)
            && (new.domain == old.domain || isHost(new.domain, below: old.domain)
                || isHost(old.domain, below: new.domain))
    }

    private static func isHost(_ host: String, below domain: String) -> Bool {
        IPAddress(host) == nil && (host == domain || host.hasSuffix("." + domain))
    }

    private static func path(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.isEmpty ? "/" : path
    }

    private static func defaultPath(of url: URL) -> String {
        let path = path(of: url)
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func isPath(_ path: String, below base: String) -> Bool {
        path == base || path.hasPrefix(base.hasSuffix("/") ? base : base + "/")
    }
}
