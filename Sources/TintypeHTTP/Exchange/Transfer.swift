#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import TintypeLoading

/// An attempt to load a URL: the request, its redirects, and the body of the last response.
struct Transfer: Sendable {
    let context: TransferContext

    private var sender: RequestSender { RequestSender(context: context) }

    /// The longest wait for the body of a redirect or an error.
    private static let drainPatience = Duration.milliseconds(250)

    private var load: ImageDownloader.Load { context.load }

    func run() async throws(ImageError) -> LoadedData {
        context.record.recordRequest(at: context.limits.now)
        let plain = try await firstRequest()
        context.record.recordAttempt(plain)
        guard let partials = context.configuration.partialDownloads, let key = PartialBodyKey(plain, for: load.request)
        else {
            var none: BodyResumption?
            return try await run(plain, &none)
        }
        let partial = partials.take(key)
        var resumption: BodyResumption? = BodyResumption(partials: partials, key: key, partial: partial)
        if let partial {
            do throws(ImageError) {
                return try await run(plain, &resumption)
            } catch  where context.record.head == nil || error.code == .badStatus && !error.refusesRange {
                // Nothing was said about the bytes, so they are still of use.
                partials.put(partial, for: key)
                throw error
            } catch  where error.refusesRange && resumption?.partial != nil {
                // The body is shorter now, or the server refuses requests for parts. Only a request for all of it helps.
                partials.discard(key)
                resumption?.partial = nil
            }
        }
        return try await run(plain, &resumption)
    }

    /// Sends a request, and follows redirects.
    /// - Parameter resumption: The interrupted transfer to continue, which loses its start if the body turns out to be at another URL, or another
    ///   user's.
    private func run(
        _ first: DownloadRequest, _ resumption: inout BodyResumption?
    ) async throws(ImageError) -> LoadedData {
        var request = first
        var redirects = RedirectPolicy(
            maximum: context.configuration.maximumRedirects,
            maximumPerOrigin: context.configuration.maximumRedirectsPerOrigin,
            schemes: context.configuration.schemes)
        var challenges = 0
        /// The fields that were sent to any URL otherwise than the caches know: what follows may belong to the user who signed in there.
        var sent: [String: String]?
        while true {
            // The request itself stays without the fields that belong to a single URL, so that no redirect takes them elsewhere.
            let response = try await sender.send(
                ownFields(of: request, continuing: resumption?.partial), isRedirected: !redirects.chain.isEmpty)
            defer { sender.close(response) }
            context.visits.noteAnswer()
            let unknown = unknownFields(response.fields)
            // What is left out of the request to the first URL is not what redirects leave out.
            sent = sent?.merging(unknown.filter { !$0.value.isEmpty }) { $1 } ?? unknown
            let head = response.head
            let newCookies = context.configuration.cookies == nil ? [] : head.headers["Set-Cookie"]
            if !newCookies.isEmpty { context.configuration.cookies?.store(newCookies, from: request.url) }
            if head.status == .unauthorized, let answer = try await answer(head, to: request, &challenges) {
                await drain(response)
                request = answer
                continue
            }
            let redirected = request.url
            let next = try redirects.next(
                after: request, status: Int(head.status.code), location: head.headers.first(name: "Location"),
                mayRepeat: !newCookies.isEmpty)
            guard let next else {
                if resumption?.partial?.belongs(to: request.url, asked: response.fields) == false {
                    resumption?.partial = nil
                    // The rest was requested with other fields than were compared.
                    if head.status == .partialContent, response.fields["Range"] != nil {
                        await drain(response)
                        continue
                    }
                }
                var loaded = try await receive(response, to: request, resumption)
                loaded.isRedirected = !redirects.chain.isEmpty
                loaded.sentFields = sent ?? [:]
                return loaded
            }
            await drain(response)
            context.record.update { $0.redirects += 1 }
            request = next
            if let modify = load.request.hooks?.modifyRedirect ?? context.configuration.redirectModifier {
                request = try await modified(next, by: modify, after: head, of: redirected)
                try redirects.replaceLast(with: request.url)
            }
            challenges = 0
        }
    }

    // MARK: - Request

    private func firstRequest() async throws(ImageError) -> DownloadRequest {
        var headers = ImageDownloader.Configuration.defaultFields
        headers["Priority"] = load.request.priority.value.httpPriority
        headers.merge(context.headers)
        headers.merge(load.request.headers)
        var request = DownloadRequest(
            url: load.request.url, method: load.request.method, headers: headers, body: load.request.body)
        request.targetSize = load.request.targetSize
        try request.completeURL()
        if let modify = load.request.hooks?.modifyRequest ?? context.configuration.requestModifier {
            request = try await context.changed(request, by: "the request modifier", failingWith: .badRequest, modify)
            try request.completeURL()
        }
        return request
    }

    /// Returns the request with the fields that belong to its URL alone: the validators that this URL gave, and the range that continues
    /// its body.
    private func ownFields(of request: DownloadRequest, continuing partial: PartialBody?) -> DownloadRequest {
        var request = request
        if let validators = validators(for: request.url) {
            // The request's own fields, also those that it wants left out, count more.
            let isSet = { (name: String) in
                request.headers[name] != nil || load.request.headers.contains { $0.key.lowercased() == name }
            }
            if !isSet("if-none-match") { request.headers["If-None-Match"] = validators.entityTag }
            if !isSet("if-modified-since") { request.headers["If-Modified-Since"] = validators.lastModified }
        }
        guard let partial, partial.belongs(to: request.url, asked: sender.fields(of: request)) else { return request }
        return request.continuing(partial)
    }

    /// The validators of the cached image that may be sent to a URL; `nil` if there are none, or another URL gave them.
    private func validators(for url: URL) -> CacheValidators? {
        guard let validators = load.request.validators, !validators.isEmpty else { return nil }
        return validators.belong(to: url, of: load.request.url) ? validators : nil
    }

    /// The request that follows a redirect, as the program wants it.
    private func modified(
        _ next: DownloadRequest,
        by modify: @escaping @Sendable (inout DownloadRequest, ResponseHead) async throws -> Void,
        after head: HTTPResponseHead, of url: URL
    ) async throws(ImageError) -> DownloadRequest {
        let response = head.response(from: url)
        let name = "the redirect to \(next.url.shortDescription)"
        var request = try await context.changed(next, by: name, failingWith: .badRedirect) { request in
            try await modify(&request, response)
        }
        try request.completeURL()
        return request
    }

    /// Returns the request with a credential for a challenge; `nil` if there is none.
    private func answer(
        _ head: HTTPResponseHead, to request: DownloadRequest, _ challenges: inout Int
    ) async throws(ImageError) -> DownloadRequest? {
        // A third challenge would only repeat the second.
        let fields = head.headers["WWW-Authenticate"]
        guard let provide = context.configuration.credentials, challenges < 2, !fields.isEmpty else { return nil }
        challenges += 1
        let challenge = AuthenticationChallenge(
            url: request.url, field: fields.joined(separator: ", "), attempt: challenges)
        let credential = try await context.runClosure("the closure for credentials", failingWith: .badRequest) {
            try await provide(challenge)
        }
        guard let credential else { return nil }
        var request = request
        request.headers["Authorization"] = credential.field
        return request
    }

    /// Reads the short body of a redirect or an error, because only then can the connection be used again.
    ///
    /// The result is known already, so a body that stalls delays it only briefly. The connection is then closed.
    private func drain(_ response: RequestSender.Response) async {
        let limit = 16 * 1_024
        let announced = response.head.headers.first(name: "Content-Length").flatMap { Int($0) }
        guard let announced, announced <= limit else { return }
        await context.limits.run(for: Self.drainPatience) { [exchange = response.exchange] in
            var count = 0
            while count <= limit, let pieces = try? await exchange.pieces() {
                count += pieces.reduce(0) { $0 + $1.readableBytes }
            }
        }
        context.limits.recordActivity()
    }

    // MARK: - Response

    private func receive(
        _ message: RequestSender.Response, to request: DownloadRequest, _ resumption: BodyResumption?
    ) async throws(ImageError) -> LoadedData {
        let url = request.url
        var response = message.head.response(from: url)
        if let modify = load.request.hooks?.modifyResponse ?? context.configuration.responseModifier {
            response = try await context.changed(
                response, by: "the response modifier", failingWith: .badResponse, modify)
        }
        let statusCode = response.statusCode ?? Int(message.head.status.code)
        response.statusCode = statusCode
        context.record.recordHead(response, at: context.limits.now)
        context.configuration.observer?(.responded(id: load.id, response))
        var validators = CacheValidators(
            entityTag: response.headers["ETag"], lastModified: response.headers["Last-Modified"])
        if statusCode == 304, self.validators(for: url) != nil {
            await drain(message)
            var answer = LoadedData.notModified(
                url: url, validators: validators.isEmpty ? nil : validators, statusCode: statusCode)
            answer.headers = response.headers
            return answer
        }
        // The rest of an interrupted transfer stands for all of it.
        let isRest = statusCode == 206 && resumption?.partial != nil
        // The answer to `If-Range` need not repeat the fields of the image (RFC 9110, section 15.3.7).
        if isRest, validators.isEmpty, let partial = resumption?.partial { validators = partial.validators }
        do throws(ImageError) {
            try check(response, statusCode, isRest: isRest, isContinuing: resumption?.partial != nil)
        } catch {
            await drain(message)
            if context.running.isCancelled || Task.isCancelled { throw .cancelledTransfer }
            throw error
        }
        let data = try await body(of: message, response, resumption, hasRange: request.headers["Range"] != nil)
        var loaded = LoadedData(
            data: data, url: url, statusCode: isRest ? 200 : statusCode, mimeType: response.mimeType,
            validators: validators.isEmpty ? nil : validators.owned(by: url, of: load.request.url),
            networkProtocol: response.networkProtocol)
        loaded.headers = response.headers
        if isRest {
            loaded.headers["Content-Range"] = nil
            loaded.headers["Content-Length"] = String(data.count)
        }
        return loaded
    }

    /// The bytes of a body, decrypted.
    private func body(
        of message: RequestSender.Response, _ response: ResponseHead, _ resumption: BodyResumption?, hasRange: Bool
    ) async throws(ImageError) -> Data {
        let decryptor = load.request.hooks?.decrypt ?? context.configuration.decryptor
        let reporter = ProgressReporter(
            interval: context.configuration.minimumProgressInterval, showsBytes: decryptor == nil, load: load)
        let data = try await BodyReceiver(context: context).body(
            of: message, response, reporter, resumption, hasRange: hasRange)
        context.record.recordEnd(at: context.limits.now)
        guard let decryptor else { return data }
        let decrypted = try await context.runClosure("the decryptor", failingWith: .badResponse) {
            try await decryptor(data, response)
        }
        guard !decrypted.isEmpty else {
            throw ImageError(.emptyBody, stage: .load, reason: "the decrypted body is empty")
        }
        return decrypted
    }

    /// The fields that were sent with other values than the caches know (``ImageDownloader/requestHeaders(_:for:)``): cookies, and what
    /// closures add; empty for a field that wasn't sent.
    private func unknownFields(_ sent: HTTPFields) -> [String: String] {
        var known = ImageDownloader.Configuration.defaultFields
        known.merge(context.downloader.requestHeaders(load.request.headers, for: load.request.url))
        let names = Set((sent.all + known.all).map { $0.name.lowercased() }).subtracting(RedirectPolicy.fieldsOfOneURL)
        var unknown: [String: String] = [:]
        for name in names where name != "priority" && sent[name] != known[name] { unknown[name] = sent[name] ?? "" }
        // The answer itself may have changed them.
        if context.configuration.cookies != nil { unknown["cookie"] = sent["Cookie"] ?? "" }
        return unknown
    }

    private func check(
        _ response: ResponseHead, _ status: Int, isRest: Bool, isContinuing: Bool
    ) throws(ImageError) {
        if status == 416, isContinuing {
            throw ImageError(.badStatus, stage: .load, reason: "HTTP 416 Range Not Satisfiable", statusCode: 416)
        }
        // A 304 to a request without validators confirms nothing, whatever statuses are accepted.
        let isAcceptable = status != 304 && context.configuration.acceptableStatusCodes?.contains(status) ?? true
        if !isRest, !isAcceptable {
            let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
            let name = phrase.isEmpty ? "HTTP \(status)" : "HTTP \(status) \(phrase)"
            let place =
                response.url == load.request.url.withoutCredentials ? "" : " at \(response.url.shortDescription)"
            throw ImageError(
                .badStatus, stage: .load, reason: "\(name)\(place)", statusCode: status)
        }
        // It may never end.
        if response.mimeType == "multipart/x-mixed-replace" {
            throw ImageError(
                .badContentType, stage: .load,
                reason: "the response is a stream of images (multipart/x-mixed-replace), not an image")
        }
        if let acceptable = context.configuration.acceptableContentTypes {
            guard let type = response.mimeType else {
                // The type of the first part was accepted.
                if isRest { return }
                throw ImageError(
                    .badContentType, stage: .load, reason: "the response states no media type (Content-Type)")
            }
            guard acceptable.contains(type) else {
                throw ImageError(
                    .badContentType, stage: .load,
                    reason:
                        "the response has the media type \(type.prefix(100)), which the configuration doesn't accept")
            }
        }
    }
}

extension HTTPResponseHead {
    /// The head as programs see it.
    fileprivate func response(from url: URL) -> ResponseHead {
        ResponseHead(
            url: url, statusCode: Int(status.code), networkProtocol: version.description,
            headers: HTTPFields(joining: Array(headers)))
    }
}

extension ImageError {
    /// True for a status that a server may send only in answer to `Range`.
    fileprivate var refusesRange: Bool {
        guard code == .badStatus, let statusCode else { return false }
        return [400, 403, 405, 406, 412, 416, 417, 431, 501].contains(statusCode)
    }
}

extension DownloadRequest {
    /// Moves the credentials of the URL to a field, and writes its host in ASCII and in lowercase.
    /// - Throws: ``ImageError/Code/invalidURL``.
    fileprivate mutating func completeURL() throws(ImageError) {
        moveCredentialsToHeader()
        guard let encoded = url.withCanonicalHost else { throw .impossibleHost }
        url = encoded
    }

    /// The request for the rest of a body.
    fileprivate func continuing(_ partial: PartialBody) -> DownloadRequest {
        var request = self
        request.headers["Range"] = partial.range
        request.headers["If-Range"] = partial.validator
        // A part of a compressed body could not be joined.
        request.headers["Accept-Encoding"] = "identity"
        return request
    }
}
#endif
