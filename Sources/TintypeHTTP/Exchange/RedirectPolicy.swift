internal import FoundationEssentials
internal import TintypeLoading

/// Decides which redirects are followed, and the fields that are sent along.
///
/// - `https` never becomes `http`, and only these two schemes are followed.
/// - Another origin receives only ``LoadRequest/harmlessFields``, and no redirect brings the other fields back.
/// - No other URL receives ``fieldsOfOneURL``.
/// - Credentials that a server writes into a location are not used.
/// - 303, and 301 and 302 after POST, make a GET without a body. Otherwise the method and the body stay (RFC 9110, section 15.4).
struct RedirectPolicy: Sendable {
    /// The header fields about a representation of a single URL, in lowercase, which no redirect takes along (RFC 9110, section 15.4).
    static let fieldsOfOneURL: Set<String> = [
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range",
    ]

    /// The largest number of redirects.
    let maximum: Int
    /// The largest number of redirects of the same origin; `nil` for no limit of its own.
    let maximumPerOrigin: Int?
    /// The schemes that redirects may lead to, in lowercase, as far as they are `http` or `https`.
    let schemes: Set<String>
    /// Every requested URL, in order.
    private(set) var chain: [URL] = []
    /// The number of URLs at the start of ``chain`` that may be requested again.
    private var repeatable = 0

    init(maximum: Int, maximumPerOrigin: Int? = nil, schemes: Set<String> = ["http", "https"]) {
        self.maximum = max(0, maximum)
        self.maximumPerOrigin = maximumPerOrigin
        self.schemes = schemes
    }

    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// True if swift-nio has put another character in the place of bytes that aren't UTF-8.
    static func isRepaired(_ location: String) -> Bool { location.unicodeScalars.contains("\u{FFFD}") }

    /// Returns the request to send after a redirect.
    /// - Parameter mayRepeat: True if the URLs so far may be asked again, because the answers may differ now: the redirect has set a cookie.
    /// - Returns: `nil` if the response is not a redirect: its status is another, or it has no location.
    /// - Throws: ``ImageError/Code/badRedirect``.
    mutating func next(
        after request: DownloadRequest, status: Int, location: String?, mayRepeat: Bool = false
    ) throws(ImageError) -> DownloadRequest? {
        guard Self.isRedirect(status), let location else { return nil }
        if chain.isEmpty { chain = [request.url] }
        guard !Self.isRepaired(location) else {
            throw refused(
                "the server redirected to a location with bytes that aren't UTF-8, which aren't known over HTTP/2")
        }
        guard let target = target(location, of: request.url) else {
            throw refused("the server redirected to \(Self.shown(location)), which can't be loaded over HTTP")
        }
        if request.url.scheme?.lowercased() == "https", target.scheme?.lowercased() == "http" {
            throw refused(
                "the server redirected from https to http, where anybody could change the image: \(path(to: target))")
        }
        if mayRepeat { repeatable = chain.count }
        guard !chain.dropFirst(repeatable).contains(target) else {
            throw refused("the server's redirects form a loop: \(path(to: target))")
        }
        guard chain.count <= maximum else {
            throw refused("the server redirected more than \(maximum) times: \(path(to: target))")
        }
        if let maximumPerOrigin, chain.count(where: { Origin($0) == Origin(request.url) }) > maximumPerOrigin {
            throw refused("an origin redirected more than \(maximumPerOrigin) times: \(path(to: target))")
        }
        chain.append(target)
        return Self.request(request, redirectedTo: target, status: status)
    }

    /// Puts the URL that the program wants in the place of the last target.
    /// - Throws: ``ImageError/Code/badRedirect`` if it can't be loaded.
    mutating func replaceLast(with url: URL) throws(ImageError) {
        guard isPossible(url) else {
            throw refused("the program redirected to \(url.shortDescription), which can't be loaded over HTTP")
        }
        chain[chain.count - 1] = url
    }

    private func target(_ location: String, of base: URL) -> URL? {
        guard let url = URL(written: location, relativeTo: base)?.withoutCredentials, isPossible(url) else {
            return nil
        }
        return url
    }

    private func isPossible(_ url: URL) -> Bool {
        guard let scheme = url.scheme?.lowercased(), let host = url.host() else { return false }
        return ["http", "https"].contains(scheme) && schemes.contains(scheme) && !host.isEmpty && url.hasPossiblePort
            && url.withASCIIHost == url
    }

    /// A location for a message. Text that isn't a URL isn't shown, because it may hold anything.
    private static func shown(_ location: String) -> String {
        guard let url = URL(written: location) else { return "a location that isn't a URL" }
        return "“\(url.shortDescription.prefix(200))”"
    }

    private static func request(_ old: DownloadRequest, redirectedTo url: URL, status: Int) -> DownloadRequest {
        var new = old
        new.url = url
        if status == 303 && old.method != "HEAD" || (status == 301 || status == 302) && old.method == "POST" {
            new.method = "GET"
            new.body = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language"] {
                new.headers[name] = nil
            }
        }
        let isSameOrigin = Origin(url) == Origin(old.url)
        for (name, _) in old.headers.all {
            let name = name.lowercased()
            if fieldsOfOneURL.contains(name) || !isSameOrigin && !LoadRequest.harmlessFields.contains(name) {
                new.headers[name] = nil
            }
        }
        return new
    }

    private func path(to target: URL) -> String {
        (chain + [target]).map(\.shortDescription).joined(separator: " → ")
    }

    private func refused(_ reason: String) -> ImageError { ImageError(.badRedirect, stage: .load, reason: reason) }
}

extension URL {
    /// True if the port is from 0 to 65,535, or isn't given. The client library traps for others.
    var hasPossiblePort: Bool { port.map { (0...65_535).contains($0) } ?? true }
}

/// The parts of a URL that must be equal for two URLs to share secrets (RFC 6454).
private struct Origin: Equatable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: URL) {
        scheme = url.scheme?.lowercased() ?? ""
        host = url.host(percentEncoded: false)?.lowercased() ?? ""
        port = url.serverPort
    }
}
