public import FoundationEssentials

/// Several loaders as one: the loader that was added last and can load the URL is the one that does.
///
/// ```swift
/// let loaders = ImageLoaders([DataURLLoader(), FileLoader(), downloader])
/// loaders.add(MyAssetLoader())  // asked before the others
/// let manager = ImageManager(cache: cache, loader: loaders)
/// ```
///
/// Loaders may be added and removed at any time; a load that has begun keeps the loader it began with.
public final class ImageLoaders: ImageLoading, Sendable {
    private let list: Lock<[any ImageLoading]>

    /// - Parameter loaders: the last one is asked first.
    public init(_ loaders: [any ImageLoading] = []) { list = Lock(loaders) }

    /// The loaders in the order in which they were added. They are asked from the last to the first.
    public var loaders: [any ImageLoading] {
        get { list.withLock { $0 } }
        set { list.withLock { $0 = newValue } }
    }

    /// Adds a loader that is asked before those that are there already.
    public func add(_ loader: any ImageLoading) {
        list.withLock { $0.append(loader) }
    }

    /// Removes the loaders of a type.
    public func removeAll<Loader: ImageLoading>(of type: Loader.Type) {
        list.withLock { $0.removeAll { $0 is Loader } }
    }

    public var schemes: [String] {
        var seen: Set<String> = []
        return loaders.flatMap(\.schemes).filter { seen.insert($0).inserted }
    }

    public func canLoad(_ url: URL) -> Bool { loader(for: url) != nil }

    public func isLocal(_ url: URL) -> Bool { loader(for: url)?.isLocal(url) ?? false }

    /// - Throws: ``ImageError/Code/invalidURL`` if no loader takes such a URL, and what the loader throws.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        guard let loader = loader(for: request.url) else { throw noLoader(for: request.url) }
        return try await loader.load(request)
    }

    /// Decided by the loader that would load the URL; true if there is none.
    public func shouldRememberFailure(_ error: ImageError) -> Bool {
        guard let source = error.source, let url = URL(string: source), let loader = loader(for: url) else {
            return error.wouldRepeat
        }
        return loader.shouldRememberFailure(error)
    }

    private func loader(for url: URL) -> (any ImageLoading)? {
        loaders.last { $0.canLoad(url) }
    }

    private func noLoader(for url: URL) -> ImageError {
        let schemes = self.schemes
        let known = schemes.isEmpty ? "" : "; there are loaders for \(schemes.joined(separator: ", "))"
        let seen = url.scheme.map { "no loader takes URLs of the scheme “\($0)”" } ?? "the URL has no scheme"
        return ImageError(.invalidURL, stage: .load, source: url.shortDescription, reason: seen + known)
    }
}
