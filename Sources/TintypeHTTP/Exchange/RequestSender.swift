#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import TintypeLoading

/// Sends single requests: checks the server, chooses the connection, and adds the fields for the server.
struct RequestSender: Sendable {
    let context: TransferContext

    /// The most addresses of a host that are tried.
    private static let maximumAddresses = 4
    /// The most connections that are tried for a request. A server can break every connection.
    private static let maximumConnections = 30

    /// A response that has started, and has to be closed.
    struct Response: Sendable {
        let head: HTTPResponseHead
        /// The fields that were sent, except those that the client library adds.
        let fields: HTTPFields
        let exchange: HTTPExchange
        fileprivate let wait: Int
    }

    /// Closes a response, and its connection unless all of it has arrived.
    func close(_ response: Response) {
        context.running.endWait(response.wait)
        response.exchange.close()
    }

    /// Sends the request, and sends it again while it goes to kept connections that turn out to be closed, or if the server wants HTTP/1.1.
    func send(_ request: DownloadRequest, isRedirected: Bool) async throws(ImageError) -> Response {
        // A request modifier may have changed the URL.
        guard request.url.hasPossiblePort else { throw .impossiblePort }
        let server = try context.visits.enter(request.url)
        let addresses = try await addresses(for: request.url, isRedirected: isRedirected)
        let mayRepeat = ["GET", "HEAD"].contains(request.method) && request.body == nil
        var connections = 1
        var isHTTP1Only = false
        while true {
            do throws(ImageError) {
                return try await send(request, to: server, at: addresses, isHTTP1Only: isHTTP1Only)
            } catch  where mayRepeat && connections < Self.maximumConnections && error.underlying is BrokenConnection {
                connections += 1
            } catch  where mayRepeat && !isHTTP1Only && error.underlying is HTTP1Required {
                isHTTP1Only = true
            }
        }
    }

    /// Returns the addresses that the guard allows; `nil` if the client library may resolve the host.
    private func addresses(for url: URL, isRedirected: Bool) async throws(ImageError) -> [IPAddress]? {
        guard let networkGuard = context.configuration.networkGuard else { return nil }
        do throws(ImageError) {
            guard context.configuration.unixSocketPath == nil else {
                throw ImageError(
                    .loadingDisallowed, stage: .load, reason: "the network guard disallows Unix domain sockets")
            }
            return try await context.running.run { () throws(ImageError) in
                let addresses = try await networkGuard.addresses(of: url)
                // A canceled lookup may look like an empty answer.
                if Task.isCancelled { throw .cancelledTransfer }
                return addresses
            }
        } catch  where isRedirected && error.code == .loadingDisallowed {
            throw ImageError(
                .badRedirect, stage: .load,
                reason: "the server redirected to \(url.shortDescription), but \(error.reason)")
        }
    }

    private func send(
        _ request: DownloadRequest, to server: String, at addresses: [IPAddress]?, isHTTP1Only: Bool
    ) async throws(ImageError) -> Response {
        let proxy = try context.configuration.proxy.server(for: request.url)
        guard let addresses else {
            return try await send(request, to: server, HTTPClientRoute(proxy: proxy, isHTTP1Only: isHTTP1Only))
        }
        var failure: ImageError?
        let candidates = addresses.prefix(Self.maximumAddresses)
        for (index, address) in candidates.enumerated() {
            let route = HTTPClientRoute(
                proxy: proxy, host: request.url.connectionHost, address: address,
                isLastAddress: index == candidates.count - 1, isHTTP1Only: isHTTP1Only)
            do throws(ImageError) {
                return try await send(request, to: server, route)
            } catch  where error.code == .connectionFailed || error.isConnectTimeout && !route.isLastAddress {
                failure = error
            }
        }
        throw failure ?? ImageError(.connectionFailed, stage: .load, reason: "the host has no address")
    }

    /// The fields of a request with those of the provider and of the cookie store. The request itself stays without them, so that no redirect
    /// takes them elsewhere.
    func fields(of request: DownloadRequest) -> HTTPFields {
        var fields = context.configuration.headerProvider?(request.url, request.headers) ?? request.headers
        if let store = context.configuration.cookies, let cookies = store.cookies(for: request.url) {
            fields["Cookie"] = fields["Cookie"].map { "\($0); \(cookies)" } ?? cookies
        }
        if context.configuration.unixSocketPath != nil, fields["Host"] == nil {
            fields["Host"] = (request.url.host() ?? "") + (request.url.port.map { ":\($0)" } ?? "")
        }
        return fields
    }

    private func send(
        _ request: DownloadRequest, to server: String, _ route: HTTPClientRoute
    ) async throws(ImageError) -> Response {
        let fields = fields(of: request)
        let message = try message(request, route, fields)
        let now = context.limits.now
        let limits = context.limits.recordRequest(at: now)
        context.record.recordRequest(at: now)
        let exchange = HTTPExchange(client: context.downloader.clients.client(for: server, route), limits: limits)
        let wait = context.running.beginWait { exchange.close() }
        do {
            let head = try await exchange.head(of: message)
            return Response(head: head, fields: fields, exchange: exchange, wait: wait)
        } catch {
            context.running.endWait(wait)
            throw ImageError(transferError: error, at: .request(hasProxy: route.proxy != nil))
        }
    }

    /// The request for the client library.
    private func message(
        _ request: DownloadRequest, _ route: HTTPClientRoute, _ fields: HTTPFields
    ) throws(ImageError) -> HTTPClient.Request {
        // The client library checks no method, and only the characters of names.
        guard HTTPFields.isToken(request.method) else {
            throw ImageError(
                .badRequest, stage: .load,
                reason: "the method of the request isn't an HTTP method: “\(request.method.prefix(20))”")
        }
        guard !fields.all.contains(where: { $0.name.isEmpty }) else {
            throw ImageError(.badRequest, stage: .load, reason: "a header field of the request has an empty name")
        }
        let isSecure = request.url.scheme?.lowercased() == "https"
        var headers = HTTPHeaders(fields.all)
        RequestTarget.correct(&headers, for: request.url)
        headers.remove(name: PeerIdentity.field)
        if isSecure {
            let host = request.url.connectionHost
            let expected = context.configuration.tls.isInsecure(host) ? PeerIdentity.unchecked : host
            headers.add(name: PeerIdentity.field, value: expected ?? "")
        }
        do {
            return try HTTPClient.Request(
                url: try address(of: request.url, route), method: HTTPMethod(rawValue: request.method),
                headers: headers, body: request.body.map { .bytes($0) },
                tlsConfiguration: isSecure ? try context.downloader.tls.exception(for: request.url.connectionHost) : nil
            )
        } catch {
            throw ImageError(transferError: error, at: .request())
        }
    }

    /// The URL for the client library.
    private func address(of url: URL, _ route: HTTPClientRoute) throws(ImageError) -> URL {
        if let path = context.configuration.unixSocketPath {
            guard url.scheme?.lowercased() == "http" else {
                throw ImageError(
                    .invalidURL, stage: .load, reason: "only http URLs can be loaded through a Unix domain socket")
            }
            let host = path.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let target = url.path(percentEncoded: true)
            let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
            guard let address = URL(string: "http+unix://\(host)\(target.isEmpty ? "/" : target)\(query)") else {
                throw ImageError(
                    .invalidURL, stage: .load, reason: "the path of the Unix domain socket can't be part of a URL")
            }
            return address
        }
        guard let host = route.host, IPAddress(host) == nil else { return url }
        // The library replaces the host by the checked address only if it is spelled in the same way.
        guard let seen = URL(string: url.absoluteString)?.host, seen == host else {
            throw ImageError(
                .loadingDisallowed, stage: .load,
                reason: "the network guard disallows a host name with an unusual spelling")
        }
        return url
    }
}
#endif
