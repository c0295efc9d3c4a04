internal import FoundationEssentials
internal import TintypeCore

/// Follows redirects, as far as that is safe.
///
/// - `https` never becomes `http`, and no other scheme than these is followed.
/// - `Authorization`, `Cookie` and `Proxy-Authorization` are not sent to another origin, nor from there back.
/// - Credentials that a server writes into a location are not used.
/// - 303, and 301 and 302 after POST, make a GET without a body; everything else stays what it was (RFC 9110, section 15.4).
struct RedirectPolicy: Sendable {
    /// How many redirects are followed.
    let maximum: Int
    /// Every URL that was asked, in order.
    private(set) var chain: [URL] = []

    init(maximum: Int) { self.maximum = max(0, maximum) }

    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// The request to send after a redirect.
    /// - Returns: `nil` if the response is no redirect: of another status, or without a location.
    /// - Throws: ``ImageError/Code/badRedirect``.
    mutating func next(
        after request: DownloadRequest, status: Int, location: String?
    ) throws(ImageError) -> DownloadRequest? {
        guard Self.isRedirect(status), let location else { return nil }
        if chain.isEmpty { chain = [request.url] }
        guard let target = Self.target(location, of: request.url) else {
            throw refused("the server redirected to “\(location.prefix(200))”, which is no URL that can be loaded")
        }
        if request.url.scheme?.lowercased() == "https", target.scheme?.lowercased() == "http" {
            throw refused(
                "the server redirected from https to http, where anybody could change the image: \(path(to: target))")
        }
        guard !chain.contains(target) else {
            throw refused("the server redirected in a circle: \(path(to: target))")
        }
        guard chain.count <= maximum else {
            throw refused("the server redirected more than \(maximum) times: \(path(to: target))")
        }
        chain.append(target)
        return Self.request(request, redirectedTo: target, status: status)
    }

    private static func target(_ location: String, of base: URL) -> URL? {
        guard let url = URL(string: location, relativeTo: base)?.absoluteURL.withoutCredentials,
            let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host(), !host.isEmpty
        else { return nil }
        return url
    }

    private static func request(_ old: DownloadRequest, redirectedTo url: URL, status: Int) -> DownloadRequest {
        var new = old
        new.url = url
        if status == 303 && old.method != "HEAD" || (status == 301 || status == 302) && old.method == "POST" {
            new.method = "GET"
            new.body = nil
            new.headers["Content-Type"] = nil
            new.headers["Content-Length"] = nil
        }
        if Origin(url) != Origin(old.url) {
            for name in ["Authorization", "Cookie", "Proxy-Authorization"] { new.headers[name] = nil }
        }
        return new
    }

    private func path(to target: URL) -> String {
        (chain + [target]).map(\.shortDescription).joined(separator: " → ")
    }

    private func refused(_ reason: String) -> ImageError { ImageError(.badRedirect, stage: .load, reason: reason) }
}

/// What must be the same for two URLs to share secrets (RFC 6454).
private struct Origin: Equatable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: URL) {
        scheme = url.scheme?.lowercased() ?? ""
        host = url.host(percentEncoded: false)?.lowercased() ?? ""
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}
