internal import FoundationEssentials
internal import Logging

/// The use of cached images as their responses allow it.
extension LoadEnvironment {
    /// The header fields of a request that can select a response, as they are now.
    func selectingFields(of request: ImageRequest) -> SelectingFields {
        let isPlain = request.headers.isEmpty && !loaders.addsRequestHeaders && !request.url.hasCredentials
        return SelectingFields(
            isPlain ? [:] : loaders.requestHeaders(request.headers, for: request.url),
            cookies: loaders.cookies(for: request.url), ignoring: configuration.insignificantHeaders,
            credentials: configuration.credentialHeaders)
    }

    /// Returns true if a cached image fits the request: its credentials, and its values of the fields in `Vary`.
    func accepts(_ response: StoredResponse?, for request: ImageRequest) -> Bool {
        guard let response,
            !response.isForPlainRequests || !request.headers.isEmpty || request.url.hasCredentials
                || loaders.addsRequestHeaders
        else { return true }
        return response.isSelected(by: selectingFields(of: request))
    }

    /// Decides how a load uses a cached image.
    func decision(for response: StoredResponse?, of request: ImageRequest) -> CacheDecision {
        let isFile = isFile(request.url)
        return request.cachePolicy.decision(
            for: response, isFile: isFile, headers: request.headers, now: configuration.date(),
            network: isFile ? { .online } : configuration.networkStatus)
    }

    /// Returns true if a load that starts after a fetch has ended can't use what it found.
    func asksSource(about fetched: FetchedBytes, for request: ImageRequest) -> Bool {
        if case .use = decision(for: fetched.bytes.entry.answer, of: request) { false } else { true }
    }

    /// Returns true if the caches may keep an image: if the same request finds it now, and HTTP allows that.
    func mayStore(_ response: StoredResponse?, for request: ImageRequest) -> Bool {
        accepts(response, for: request) && response?.statusCode != 206 && mayReuse(response, for: request)
    }

    /// Returns true if HTTP allows another use of an image, where the request obeys HTTP in this.
    func mayReuse(_ response: StoredResponse?, for request: ImageRequest) -> Bool {
        guard request.cachePolicy.obeysStorageRules || request.renewsByHTTP, let response, response.statusCode != nil
        else { return true }
        return request.method == "GET" && HTTPFreshness.mayStore(response, for: request.headers)
    }

    /// Returns true if a cached image may be the result of a load whose source failed.
    func mayUse(_ response: StoredResponse?, after error: ImageError, of request: ImageRequest) -> Bool {
        guard !error.isCancellation else { return false }
        guard request.cachePolicy == .http, let response, response.statusCode != nil else { return true }
        // The rules of HTTP have been asked already.
        guard error.code != .notCached else { return false }
        // An answer of the source replaces the cached one, unless the server reports an error of its own.
        if let status = error.statusCode, !(500..<600).contains(status) { return false }
        return HTTPFreshness(response, now: configuration.date()).mayBeUsedWithoutSource
    }

    /// The response of a transfer, as the caches keep it; `nil` if it says nothing that matters.
    func storedResponse(
        _ loaded: LoadedData, of request: ImageRequest, with fields: SelectingFields,
        renewing old: StoredResponse? = nil, requestTime: Date, now: Date
    ) -> StoredResponse? {
        let renewed = loaded.isNotModified ? old : nil
        // Loaders without HTTP say nothing.
        guard renewed != nil || !loaded.headers.isEmpty || loaded.statusCode != nil || !fields.credentials.isEmpty
        else { return nil }
        var fields = fields
        fields.sent = loaded.sentFields.filter { !configuration.insignificantHeaders.contains($0.key) }
        var headers = loaded.headers.byLowercaseName
        headers["last-modified"] = loaded.validators?.lastModified ?? headers["last-modified"]
        var control = headers["cache-control"] ?? renewed?.headers["cache-control"]
        // A redirect is a separate response, which isn't stored: the freshness of the target says nothing about the redirect.
        if loaded.isRedirected { control = Self.directives(StoredResponse.redirectDirectives, control) }
        // The loader has signed in, for which the caches know no user.
        if configuration.credentialHeaders.contains(where: { loaded.sentFields[$0]?.isEmpty == false }) {
            control = Self.directives("private, ", control)
        }
        headers["cache-control"] = control
        if let renewed {
            return renewed.renewed(by: headers, request: fields, requestTime: requestTime, responseTime: now)
        }
        let status = loaded.isNotModified ? 200 : loaded.statusCode ?? (loaded.headers.isEmpty ? nil : 200)
        return StoredResponse(
            statusCode: status, headers: headers, request: fields, requestTime: requestTime, responseTime: now)
    }

    /// A `Cache-Control` field with directives in front of its own.
    private static func directives(_ directives: String, _ control: String?) -> String {
        control?.contains(directives) == true ? control ?? "" : directives + (control ?? "")
    }

    /// Removes the images of a URL after a request that may have changed it (RFC 9111, section 4.4), whatever came of it: the answer to a
    /// change that was made may be empty, lost, or a redirect to an error.
    func invalidate(after request: ImageRequest) async {
        guard request.cachePolicy == .http, !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method)
        else { return }
        let source = request.cache.key ?? source(of: request.url)
        do throws(ImageError) {
            try await removeAll(ofSource: source)
        } catch {
            configuration.logger.warning(
                "couldn't remove the cached images of \(URLDescription.redacted(source)): \(error.reason)")
        }
    }

    /// Asks the source in the background whether a cached image is current, unless it is being asked. The caches get its answer.
    /// - Parameter load: Makes the load of what is to be renewed.
    func revalidateInBackground(_ request: ImageRequest, _ load: (ImageRequest, LoadTrace) -> (Revalidation, LoadJob)) {
        var request = request
        request.renewsByHTTP = request.cachePolicy.obeysStorageRules
        request.cachePolicy = .revalidate
        request.priority = .low
        request.isProgressive = false
        let (revalidation, job) = load(request, LoadTrace())
        guard shared.revalidating.withLock({ $0.insert(revalidation).inserted }) else { return }
        shared.revalidations.run { [shared] in
            _ = try? await shared.work.value(.image(revalidation.key), revalidation.wishes, job)
            shared.revalidating.withLock { _ = $0.remove(revalidation) }
        }
    }

    /// Asks the source of an image in the background whether it is current.
    func revalidateInBackground(_ request: ImageRequest) {
        revalidateInBackground(request) { request, trace in
            let load = ImageLoad(request, key: key(for: request), environment: self, trace: trace)
            return (Revalidation(key: load.key, wishes: load.wishes), .image(load))
        }
    }
}

/// The identity of a revalidation in the background.
struct Revalidation: Hashable, Sendable {
    var key: ImageLoadKey
    var wishes: LoadWishes
}
