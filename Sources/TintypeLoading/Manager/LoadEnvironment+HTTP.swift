internal import FoundationEssentials
internal import Logging

/// The use of cached images as their responses allow it.
extension LoadEnvironment {
    /// The header fields of a request that can select a response.
    func selectingFields(of request: ImageRequest) -> SelectingFields {
        SelectingFields(
            loaders.requestHeaders(request.headers, for: request.url), ignoring: configuration.insignificantHeaders,
            credentials: configuration.credentialHeaders)
    }

    /// Returns true if a cached image is one for the request: with its credentials, and its values of the fields in `Vary`.
    func accepts(_ response: StoredResponse?, for request: ImageRequest) -> Bool {
        guard let response,
            !response.isForPlainRequests || !request.headers.isEmpty || loaders.addsRequestHeaders
        else { return true }
        return response.isSelected(by: selectingFields(of: request))
    }

    /// Decides what a load does with a cached image.
    func decision(
        for response: StoredResponse?, hasValidators: Bool = false, of request: ImageRequest
    ) -> CacheDecision {
        let isFile = response == nil && isFile(request.url)
        return request.cachePolicy.decision(
            for: response, hasValidators: hasValidators || isFile, headers: request.headers, now: configuration.date(),
            network: isFile ? { .online } : configuration.networkStatus)
    }

    /// Returns true if the caches may keep an image: always, unless the request obeys HTTP.
    func mayStore(_ response: StoredResponse?, for request: ImageRequest) -> Bool {
        guard request.cachePolicy == .http || request.renewsByHTTP, let response, response.statusCode != nil else {
            return true
        }
        return request.method == "GET" && HTTPFreshness.mayStore(response, for: request.headers)
    }

    /// Returns true if a cached image may be the result of a load whose source failed.
    func mayUse(_ response: StoredResponse?, after error: ImageError, of request: ImageRequest) -> Bool {
        guard !error.isCancellation else { return false }
        guard request.cachePolicy == .http, let response, response.statusCode != nil else { return true }
        // The rules of HTTP have been asked already.
        guard error.code != .notCached else { return false }
        // An answer of the source replaces the cached one, except that of a server in trouble.
        if let status = error.statusCode, !(500..<600).contains(status) { return false }
        return HTTPFreshness(response, now: configuration.date()).mayBeUsedWithoutSource
    }

    /// The original of a request on disk; `nil` if it isn't one for the request.
    func original(of request: ImageRequest, key: ImageKey) async -> DiskCacheEntry? {
        guard let entry = await originals.entry(forKey: key.original), accepts(entry.response, for: request) else {
            return nil
        }
        return entry
    }

    /// The response of a transfer, as the caches keep it; `nil` if it says nothing that matters.
    func storedResponse(
        _ loaded: LoadedData, of request: ImageRequest, with fields: SelectingFields,
        renewing old: StoredResponse? = nil, requestTime: Date, now: Date
    ) -> StoredResponse? {
        var headers = loaded.headers.byLowercaseName
        headers["last-modified"] = loaded.validators?.lastModified ?? headers["last-modified"]
        // A redirect is a response of its own, which isn't stored: how long the other URL's is fresh says nothing of this one.
        if loaded.isRedirected {
            headers["cache-control"] = StoredResponse.redirectDirectives + (headers["cache-control"] ?? "")
        }
        if let old, loaded.isNotModified {
            return old.renewed(by: headers, request: fields, requestTime: requestTime, responseTime: now)
        }
        guard !loaded.headers.isEmpty || loaded.statusCode != nil || !fields.credentials.isEmpty else { return nil }
        let status = loaded.isNotModified ? 200 : loaded.statusCode ?? (loaded.headers.isEmpty ? nil : 200)
        return StoredResponse(
            statusCode: status, headers: headers, request: fields,
            requestTime: requestTime, responseTime: now)
    }

    /// Removes the images of a URL after a request that may have changed it (RFC 9111, section 4.4).
    func invalidate(after request: ImageRequest, _ loaded: LoadedData) async {
        guard request.cachePolicy == .http, !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method),
            (200..<400).contains(loaded.statusCode ?? 200)
        else { return }
        let source = request.cache.key ?? source(of: request.url)
        do throws(ImageError) {
            try await removeAll(ofSource: source)
        } catch {
            configuration.logger.warning(
                "cached images couldn’t be removed: \(URLDescription.redacted(source)): \(error.reason)")
        }
    }

    /// Asks the source in the background whether a cached image is current. The caches get its answer. A second call joins the first.
    /// - Parameter decodes: False for a load of bytes, which need not be an image that the coders know.
    func revalidateInBackground(_ request: ImageRequest, decodes: Bool = true) {
        var request = request
        request.renewsByHTTP = request.cachePolicy == .http
        request.cachePolicy = .revalidate
        request.priority = .low
        request.isProgressive = false
        request.cache.waitsForStore = false
        shared.revalidations.run { [self, request] in
            let trace = LoadTrace()
            guard decodes else {
                _ = try? await DataLoad(request, environment: self, trace: trace).image()
                return
            }
            let load = ImageLoad(request, key: key(for: request), environment: self, trace: trace)
            _ = try? await load.output(load.wishes, priority: LoadPriority(.low))
        }
    }
}
