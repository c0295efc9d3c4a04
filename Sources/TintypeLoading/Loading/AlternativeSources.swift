public import FoundationEssentials

extension ImageLoading {
    /// Returns a loader that tries other URLs when a URL fails: copies of the same image, such as mirrors.
    ///
    /// ```swift
    /// let loader = downloader.withAlternatives { url in
    ///     [mirror.appending(path: url.path)]
    /// }
    /// ```
    ///
    /// The sources are tried in order until the image is found. The image keeps the URL of the request as its identity; ``LoadedData/url``
    /// is the source that was used. Header fields, method, and body are the same for all sources. A field that is only for the host of the
    /// URL, such as `Authorization`, isn't sent to another host. If all sources fail, the load throws the error of the request's URL, whose
    /// reason lists the errors of the first alternatives. Alternatives aren't tried if a source sends bytes that aren't an image. The
    /// closures are called on any thread, several at once.
    /// - Parameters:
    ///   - shouldContinue: Returns true to try the next source after an error. It isn't called for cancellations, which end the load. By
    ///     default, it always returns true.
    ///   - alternatives: Returns the URLs to try, in order, after the URL of the request has failed.
    public func withAlternatives(
        when shouldContinue: @escaping @Sendable (ImageError) -> Bool = { _ in true },
        _ alternatives: @escaping @Sendable (URL) -> [URL]
    ) -> some ImageLoading {
        AlternativeSources(loader: self, alternatives: alternatives, shouldContinue: shouldContinue)
    }
}

/// A loader that tries other URLs when a URL fails.
private struct AlternativeSources: ImageLoading {
    let loader: any ImageLoading
    let alternatives: @Sendable (URL) -> [URL]
    let shouldContinue: @Sendable (ImageError) -> Bool

    var schemes: [String] { loader.schemes }

    func canLoad(_ url: URL) -> Bool { loader.canLoad(url) }

    func isLocal(_ url: URL) -> Bool { loader.isLocal(url) }

    func currentValidators(of url: URL) async -> CacheValidators? { await loader.currentValidators(of: url) }

    func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool {
        (error.underlying as? ImageError)?.isPermanent != false && loader.shouldRememberFailure(error, of: url)
    }

    var addsRequestHeaders: Bool { loader.addsRequestHeaders }

    func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String] {
        loader.requestHeaders(headers, for: url)
    }

    func cookies(for url: URL) -> String? { loader.cookies(for: url) }

    /// Loads the bytes of the URL, or of the first alternative that has them.
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        var first: ImageError
        do throws(ImageError) {
            return try await loader.load(request)
        } catch {
            if error.isCancellation || !shouldContinue(error) { throw error }
            first = error
        }
        var (others, count) = ([String](), 0)
        for url in alternatives(request.url) where url != request.url {
            do throws(ImageError) {
                let alternative = request.toAlternative(url)
                var loaded = try await loader.load(alternative)
                // Later, the first source is asked whether they are current.
                loaded.validators = nil
                // The caches know the fields of the request's URL alone, and not with whose credentials a mirror was asked.
                let known = HTTPFields(loader.requestHeaders(request.headers, for: request.url))
                let added = HTTPFields(loader.requestHeaders(alternative.headers, for: url)).byLowercaseName
                for (name, value) in added where known[name] != value && !LoadRequest.harmlessFields.contains(name) {
                    loaded.sentFields[name] = loaded.sentFields[name] ?? value
                }
                return loaded
            } catch {
                if error.isCancellation { throw error }
                count += 1
                // Its failure isn't remembered, since the next attempt may succeed.
                if first.isPermanent, !error.isPermanent { first.underlying = error }
                // The failure memory keeps the reason.
                if count <= 5 { others.append(error.withSource(url.shortDescription).description) }
                if !shouldContinue(error) { break }
            }
        }
        if !others.isEmpty {
            if count > others.count { others.append("and \(count - others.count) more") }
            first.reason += "; the alternatives failed too: " + others.joined(separator: "; ")
        }
        throw first
    }
}

extension LoadRequest {
    /// The request for an alternative, without the parts that belong to the URL alone: validators, and fields that may be secrets.
    fileprivate func toAlternative(_ url: URL) -> LoadRequest {
        var request = self
        request.url = url
        // Entity tags of different servers have nothing to do with each other.
        request.validators = nil
        let isSameOrigin = url.scheme == self.url.scheme && url.host() == self.url.host() && url.port == self.url.port
        if !isSameOrigin { request.headers = headers.filter { Self.harmlessFields.contains($0.key.lowercased()) } }
        return request
    }
}
