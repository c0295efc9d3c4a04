#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import TintypeCore

/// One transfer: from the request, over redirects, to the last byte of the body.
struct Transfer: Sendable {
    let client: HTTPClient
    let configuration: ImageDownloader.Configuration
    let limits: TimeLimits
    /// Called with the size of each piece of the body.
    let countBytes: @Sendable (Int) -> Void

    /// At most so much memory is taken because a server announces it; more only as it comes.
    private static let maximumReservedBytes = 16 * 1_024 * 1_024

    func run(_ load: LoadRequest) async throws(ImageError) -> LoadedData {
        var request = try await firstRequest(load)
        var redirects = RedirectPolicy(maximum: configuration.maximumRedirects)
        while true {
            let response = try await send(request)
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
        var request = DownloadRequest(url: load.url, headers: headers).withCredentialsInHeader
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

    /// Sends the request; once more if a connection that was kept turns out to be closed.
    private func send(_ request: DownloadRequest) async throws(ImageError) -> HTTPClientResponse {
        do throws(ImageError) {
            return try await sendOnce(request)
        } catch  where error.code == .connectionLost && request.method == "GET" && request.body == nil {
            return try await sendOnce(request)
        }
    }

    private func sendOnce(_ request: DownloadRequest) async throws(ImageError) -> HTTPClientResponse {
        var message = HTTPClientRequest(url: request.url.absoluteString)
        message.method = HTTPMethod(rawValue: request.method)
        // The request itself stays without them, so that a redirect takes none of them elsewhere.
        let fields = configuration.headersFilter?(request.url, request.headers) ?? request.headers
        for (name, value) in fields.all { message.headers.add(name: name, value: value) }
        message.body = request.body.map { .bytes(ByteBuffer(bytes: $0)) }
        do {
            let response = try await client.execute(message, deadline: .distantFuture)
            limits.sign()
            return response
        } catch {
            throw ImageError(transferError: error, at: .request)
        }
    }

    /// Reads what little text comes with a redirect or an error, because only then can the connection be used again.
    private func drain(_ response: HTTPClientResponse) async {
        let limit = 16 * 1_024
        guard let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) }), length <= limit else {
            return
        }
        // What goes wrong here does not matter: the connection is then closed.
        _ = try? await response.body.collect(upTo: limit)
        limits.sign()
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
            return .notModified(
                url: url, validators: validators.isEmpty ? nil : validators, statusCode: response.statusCode)
        }
        do throws(ImageError) {
            try check(response, for: load)
        } catch {
            await drain(message)
            throw error
        }
        let data = try await receiveBody(message, reporting: load.receive)
        return LoadedData(
            data: data, url: url, statusCode: response.statusCode, mimeType: response.mimeType,
            validators: validators.isEmpty ? nil : validators, networkProtocol: message.version.description)
    }

    private func check(_ response: DownloadResponse, for load: LoadRequest) throws(ImageError) {
        let status = response.statusCode
        if let acceptable = configuration.acceptableStatusCodes, !acceptable.contains(status) {
            let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
            let place = response.url == load.url.withoutCredentials ? "" : " at \(response.url.shortDescription)"
            throw ImageError(
                .badStatus, stage: .load, reason: "the server answered \(status) \(phrase)\(place)", statusCode: status)
        }
        if let acceptable = configuration.acceptableContentTypes {
            guard let type = response.mimeType else {
                throw ImageError(
                    .badContentType, stage: .load, reason: "the server did not say what type the answer is of")
            }
            guard acceptable.contains(type) else {
                throw ImageError(
                    .badContentType, stage: .load, reason: "the answer is of the type \(type), which is not accepted")
            }
        }
        let encodings = (response.headers["Content-Encoding"] ?? "identity").lowercased()
        guard ["identity", "gzip", "x-gzip", "deflate"].contains(encodings) else {
            throw ImageError(
                .badResponse, stage: .load,
                reason: "the answer has the content encoding “\(encodings)”, which was not asked for and is not known")
        }
    }

    private func receiveBody(
        _ message: HTTPClientResponse, reporting receive: @Sendable (LoadProgress) -> Void
    ) async throws(ImageError) -> Data {
        let limit = configuration.maximumBytes.bytes
        let isEncoded = (message.headers.first(name: "Content-Encoding") ?? "identity").lowercased() != "identity"
        let announced = message.headers.first(name: "Content-Length").flatMap { Int($0) }
        if let announced, announced > limit {
            throw ImageError(
                .bodyTooLarge, stage: .load,
                reason: "the server announced \(ByteCount(announced)), the limit is \(ByteCount(limit))")
        }
        // The announced length is that of the encoded body.
        let expected = isEncoded ? nil : announced
        receive(LoadProgress(receivedBytes: 0, expectedBytes: expected))

        var data = Data()
        data.reserveCapacity(min(expected ?? 0, Self.maximumReservedBytes))
        do {
            for try await buffer in message.body {
                limits.sign()
                countBytes(buffer.readableBytes)
                guard data.count + buffer.readableBytes <= limit else {
                    throw ImageError(
                        .bodyTooLarge, stage: .load, reason: "more came than the limit of \(ByteCount(limit))")
                }
                // The receiver's copy is its own: what it keeps of it must not make the growing data be copied.
                let chunk = Data(buffer.readableBytesView)
                data.append(chunk)
                receive(LoadProgress(chunk: chunk, receivedBytes: data.count, expectedBytes: expected))
            }
        } catch {
            throw ImageError(transferError: error, at: .body(received: data.count, expected: expected))
        }
        // A sequence may end rather than throw when its task is cancelled.
        if Task.isCancelled { throw .cancelledTransfer }
        if let expected, data.count < expected { throw .incomplete(data.count, of: expected) }
        guard !data.isEmpty else { throw ImageError(.emptyBody, stage: .load, reason: "the answer has no bytes") }
        return data
    }
}
#endif
