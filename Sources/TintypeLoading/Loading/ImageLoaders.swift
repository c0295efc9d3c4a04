public import FoundationEssentials

/// A loader that combines several loaders. Each URL is loaded by the most recently added loader that accepts it.
///
/// ```swift
/// let manager = ImageManager(cache: cache, loader: ImageLoaders([DataURLLoader()]))  // no `file:` URLs
/// manager.loaders.add(FileLoader())  // asked before the others
/// ```
public struct ImageLoaders: ImageLoading {
    /// The loaders, oldest first. They are asked from the last to the first.
    public var loaders: [any ImageLoading]

    /// Creates a list.
    /// - Parameter loaders: The loaders; the last is asked first.
    public init(_ loaders: [any ImageLoading] = []) { self.loaders = loaders }

    /// Adds a loader, which is asked before the existing loaders.
    /// - Parameter loader: the loader.
    public mutating func add(_ loader: any ImageLoading) { loaders.append(loader) }

    /// Removes the loaders of a type.
    /// - Parameter type: the type of the loaders.
    public mutating func removeAll<Loader: ImageLoading>(of type: Loader.Type) { loaders.removeAll { $0 is Loader } }

    public var schemes: [String] {
        var seen: Set<String> = []
        return loaders.flatMap(\.schemes).filter { seen.insert($0).inserted }
    }

    public func canLoad(_ url: URL) -> Bool { loader(for: url) != nil }

    public func isLocal(_ url: URL) -> Bool { loader(for: url)?.isLocal(url) ?? false }

    public func currentValidators(of url: URL) async -> CacheValidators? {
        await loader(for: url)?.currentValidators(of: url)
    }

    /// Loads the bytes with the last loader that accepts the URL.
    /// - Parameter request: the URL, with the parameters of the call.
    /// - Throws: ``ImageError/Code/invalidURL`` if no loader accepts such a URL, and the errors of the loader.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard let loader = loader(for: request.url) else {
            let known = schemes.isEmpty ? "" : "; there are loaders for \(schemes.joined(separator: ", "))"
            let scheme = request.url.scheme
            let seen = scheme.map { "no loader accepts URLs of the scheme “\($0)”" } ?? "the URL has no scheme"
            throw ImageError(.invalidURL, stage: .load, source: request.url.shortDescription, reason: seen + known)
        }
        return try await loader.load(request)
    }

    /// Returns the answer of the loader that loads the URL.
    /// - Parameters:
    ///   - error: the error.
    ///   - url: the URL.
    public func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool {
        loader(for: url)?.shouldRememberFailure(error, of: url) ?? error.isPermanent
    }

    /// True if one of the loaders adds header fields.
    public var addsRequestHeaders: Bool { loaders.contains { $0.addsRequestHeaders } }

    public func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String] {
        loader(for: url)?.requestHeaders(headers, for: url) ?? headers
    }

    public func cookies(for url: URL) -> String? { loader(for: url)?.cookies(for: url) }

    private func loader(for url: URL) -> (any ImageLoading)? { loaders.last { $0.canLoad(url) } }
}
