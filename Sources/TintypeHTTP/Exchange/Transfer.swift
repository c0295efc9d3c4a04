#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import TintypeCore

/// One transfer: the request, its redirects, and the body of the last response.
struct Transfer: Sendable {
    let clients: HTTPClients
    let configuration: ImageDownloader.Configuration
    let limits: TimeLimits
    /// Called with the size of each piece of the body.
    let countBytes: @Sendable (Int) -> Void

    /// The longest wait for the body of a redirect or an error.
    private static let drainPatience = Duration.milliseconds(250)

    func run(_ load: LoadRequest) async throws(ImageError) -> LoadedData {
        var request = try await firstRequest(load)
        var redirects = RedirectPolicy(maximum: configuration.maximumRedirects)
        while true {
            let shared = clients.client(for: request.url)
            // Retained until the response has been received.
            defer { withExtendedLifetime(shared) {} }
            let response = try await send(request, with: shared.client)
            let next = try redirects.next(
                after: request, status: Int(response.status.code), location: response.headers.first(name: "Location"))
            guard let next else { return try await receive(response, from: request.url, for: load) }
            await drain(response)
            request = next
        }
    }

    // MARK: - Request

    private func firstRequest(_ load: LoadRequest) async throws(ImageError) -> DownloadRequest {
        var headers = HTTPFields(ImageDownloader.Configuration.defaultHeaders)
        headers.merge(configuration.headers)
        if let validators = load.validators {
            headers["If-None-Match"] = validators.entityTag
            headers["If-Modified-Since"] = validators.lastModified
        }
        headers.merge(load.headers)
        var request = DownloadRequest(url: load.url, method: load.method, headers: headers, body: load.body)
        request.targetSize = load.targetSize
        request = request.withCredentialsInHeader
        if let modify = configuration.requestModifier {
            do {
                try await modify(&request)
            } catch {
                throw .refused(.badRequest, by: "the request modifier", error)
            }
            request = request.withCredentialsInHeader
        }
        if Task.isCancelled { throw .cancelledTransfer }
        return request
    }

    /// Sends the request, and sends it once more if a kept connection turns out to be closed.
    private func send(
        _ request: DownloadRequest, with client: HTTPClient
    ) async throws(ImageError) -> HTTPClientResponse {
        do throws(ImageError) {
            return try await sendOnce(request, with: client)
        } catch  where error.code == .connectionLost && request.method == "GET" && request.body == nil {
            return try await sendOnce(request, with: client)
        }
    }

    private func sendOnce(
        _ request: DownloadRequest, with client: HTTPClient
    ) async throws(ImageError) -> HTTPClientResponse {
        // A request modifier may have changed the URL.
        guard request.url.hasPossiblePort else { throw .impossiblePort }
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        // The request itself stays without the provider's fields, so that no redirect takes them elsewhere.
        let fields = configuration.headerProvider?(request.url, request.headers) ?? request.headers
        for (name, value) in fields.all { message.headers.add(name: name, value: value) }
        message.body = request.body.map { .bytes(ByteBuffer(bytes: $0)) }
        do {
            let response = try await client.execute(message, deadline: .distantFuture)
            limits.recordActivity()
            return response
        } catch {
            throw ImageError(transferError: error, at: .request)
        }
    }

    /// Reads the short body of a redirect or an error, because only then can the connection be used again.
    ///
    /// The result is known already, so a body that stalls delays it only briefly. The connection is then closed.
    private func drain(_ response: HTTPClientResponse) async {
        let limit = 16 * 1_024
        guard let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }), length <= limit else {
            return
        }
        await limits.run(for: Self.drainPatience) { _ = try? await response.body.collect(upTo: limit) }
        limits.recordActivity()
    }

    // MARK: - Response

    private func receive(
        _ message: HTTPClientResponse, from url: URL, for load: LoadRequest
    ) async throws(ImageError) -> LoadedData {
        var fields = HTTPFields()
        for (name, value) in message.headers { fields.add(name, value) }
        var response = DownloadResponse(url: url, statusCode: Int(message.status.code), headers: fields)
        if let modify = configuration.responseModifier {
            do { try await modify(&response) } catch {
                throw .refused(.badResponse, by: "the response modifier", error)
            }
        }
        let validators = CacheValidators(
            entityTag: response.headers["ETag"], lastModified: response.headers["Last-Modified"])
        if response.statusCode == 304, load.validators?.isEmpty == false {
            await drain(message)
            var loaded = LoadedData.notModified(
                url: url, validators: validators.isEmpty ? nil : validators, statusCode: response.statusCode)
            loaded.headers = response.headers.byLowercaseName
            return loaded
        }
        do throws(ImageError) {
            try check(response, for: load)
        } catch {
            await drain(message)
            throw error
        }
        let data = try await receiveBody(message, reporting: load.receive)
        var loaded = LoadedData(
            data: data, url: url, statusCode: response.statusCode, mimeType: response.mimeType,
            validators: validators.isEmpty ? nil : validators, networkProtocol: message.version.description)
        loaded.headers = response.headers.byLowercaseName
        return loaded
    }

    private func check(_ response: DownloadResponse, for load: LoadRequest) throws(ImageError) {
        let status = response.statusCode
        if let acceptable = configuration.acceptableStatusCodes, !acceptable.contains(status) {
            let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
            let name = phrase.isEmpty ? "HTTP \(status)" : "HTTP \(status) \(phrase)"
            let place = response.url == load.url.withoutCredentials ? "" : " at \(response.url.shortDescription)"
            throw ImageError(
                .badStatus, stage: .load, reason: "\(name)\(place)", statusCode: status)
        }
        if let acceptable = configuration.acceptableContentTypes {
            guard let type = response.mimeType else {
                throw ImageError(.badContentType, stage: .load, reason: "the response has no Content-Type")
            }
            guard acceptable.contains(type) else {
                throw ImageError(
                    .badContentType, stage: .load,
                    reason: "the response has the type \(type.prefix(100)), which is not accepted")
            }
        }
    }

    private func receiveBody(
        _ message: HTTPClientResponse, reporting receive: @Sendable (LoadProgress) -> Void
    ) async throws(ImageError) -> Data {
        let limit = configuration.maximumBytes.bytes
        let encoding = message.headers.first(name: "Content-Encoding")
        guard let coding = ContentCoding(encoding) else {
            let name = (encoding ?? "").prefix(100)
            throw ImageError(
                .badResponse, stage: .load,
                reason: "the response has the content encoding “\(name)”, which is not supported")
        }
        let announced = message.headers.first(name: "Content-Length").flatMap { Int($0) }
        if let announced, announced > limit {
            throw ImageError(
                .bodyTooLarge, stage: .load,
                reason: "the server announced \(ByteCount(announced)); the limit is \(ByteCount(limit))")
        }
        // The announced length is that of the encoded body.
        let expected = coding == .identity ? announced : nil
        receive(LoadProgress(receivedBytes: 0, expectedBytes: expected))

        let decoder = coding == .identity ? nil : try ContentDecoder(coding)
        let wireLimit = coding == .identity ? Int.max : Self.wireLimit(limit)
        var received = 0
        var body = BodyBuffer(expected: expected)
        do {
            for try await buffer in message.body {
                limits.recordActivity()
                countBytes(buffer.readableBytes)
                received += buffer.readableBytes
                guard received <= wireLimit else { throw ImageError.bodyTooLarge(limit) }
                try buffer.withUnsafeReadableBytes { bytes in
                    guard let decoder else {
                        return try Self.take(bytes, into: &body, limit: limit, expected: expected, receive)
                    }
                    try decoder.decode(bytes) { decoded throws(ImageError) in
                        try Self.take(decoded, into: &body, limit: limit, expected: expected, receive)
                    }
                }
            }
        } catch {
            throw ImageError(transferError: error, at: .body(received: body.count, expected: expected))
        }
        // A sequence may end rather than throw when its task is cancelled.
        if Task.isCancelled { throw .cancelledTransfer }
        if let expected, body.count < expected { throw .incomplete(body.count, of: expected) }
        try decoder?.finish()
        guard !body.isEmpty else { throw ImageError(.emptyBody, stage: .load, reason: "the response has no body") }
        return body.takeData()
    }

    /// Returns the largest number of compressed bytes for a body within the limit. Compression never adds more than a little, but
    /// compressed data may expand to nothing, or continue after its end.
    private static func wireLimit(_ limit: Int) -> Int {
        let (sum, overflow) = limit.addingReportingOverflow(limit / 64 + 64 * 1_024)
        return overflow ? .max : sum
    }

    /// Appends bytes to the body and reports them.
    private static func take(
        _ bytes: UnsafeRawBufferPointer, into body: inout BodyBuffer, limit: Int, expected: Int?,
        _ receive: (LoadProgress) -> Void
    ) throws(ImageError) {
        guard bytes.count <= limit - body.count else { throw .bodyTooLarge(limit) }
        guard body.append(bytes) else {
            throw ImageError(
                .outOfMemory, stage: .load, reason: "there is no memory for a body of over \(ByteCount(body.count))")
        }
        // The body moves while it grows, so the receiver gets bytes of its own.
        receive(LoadProgress(chunk: Data(bytes), receivedBytes: body.count, expectedBytes: expected))
    }
}
#endif
