public import FoundationEssentials

/// Requests for images that are not at a URL, or whose URL is a string.
extension ImageRequest {
    /// Creates a request for the image at a URL, given as a string.
    ///
    /// Characters that a URL can't have, such as spaces and umlauts, are percent-encoded, and all others are left as they are.
    /// `URL(string:)` on Linux is different: if it has to encode a character, it also encodes existing escapes again. Use this initializer
    /// for a `data:` URL with unencoded SVG, or a URL such as `https://example.org/a%20b[1].jpg`.
    /// - Parameter string: the text of the URL.
    /// - Throws: ``ImageError/Code/invalidURL`` if the string isn't an absolute URL, such as `https://example.org/photo.jpg`.
    public init(string: String) throws(ImageError) {
        guard let url = URL(written: string), url.scheme?.isEmpty == false else {
            throw ImageError(
                .invalidURL, stage: .request, source: URLDescription.redacted(string),
                reason: "not a valid URL with a scheme, such as https:; for a file, use ImageRequest(path:)")
        }
        self.init(url)
    }

    /// Creates a request for the image in a file. A relative path starts at the working directory.
    /// - Parameter path: the path of the file.
    public init(path: String) { self.init(URL(filePath: path, directoryHint: .notDirectory).absoluteURL) }

    /// Creates a request for an image whose bytes the program has.
    ///
    /// The image is decoded, transformed, and cached in memory like any other. The disk stores neither the bytes nor images made from them;
    /// with ``init(identifier:mimeType:load:)``, it stores both.
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - identifier: The name of the bytes, which becomes their ``CacheOptions/key``, and must not be empty. Use equal identifiers only
    ///     for equal bytes.
    ///   - mimeType: The media type of the bytes, if it is known.
    public init(data: Data, identifier: String, mimeType: String? = nil) {
        self.init(identifier: identifier, loader: BytesLoader(source: .data(data), mimeType: mimeType))
    }

    /// Creates a request for an image whose bytes a closure returns.
    ///
    /// Everything else works as for a URL: the disk stores the bytes, requests with the same identifier share a call, and permanent
    /// failures are remembered. While ``ImageManager/Configuration-swift.struct/networkStatus`` is offline, the closure isn't called.
    /// - Parameters:
    ///   - identifier: The name of the bytes, which becomes their ``CacheOptions/key``, and must not be empty. Use equal identifiers only
    ///     for equal bytes.
    ///   - mimeType: The media type of the bytes, if it is known.
    ///   - load: Returns the encoded image. Its task is canceled when no caller waits for the image any longer. An error that isn't an
    ///     ``ImageError`` becomes the ``ImageError/underlying`` error of ``ImageError/Code/connectionFailed``.
    public init(identifier: String, mimeType: String? = nil, load: @escaping @Sendable () async throws -> Data) {
        self.init(identifier: identifier, loader: BytesLoader(source: .closure(load), mimeType: mimeType))
    }

    private init(identifier: String, loader: BytesLoader) {
        self.init(BytesLoader.url(for: identifier))
        cache.key = identifier
        parts.bytes = loader
    }
}
