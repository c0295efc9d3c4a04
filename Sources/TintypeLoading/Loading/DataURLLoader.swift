public import FoundationEssentials

/// Loads the images in `data:` URLs (RFC 2397), in base64 or percent encoding.
public struct DataURLLoader: ImageLoading {
    private let maximumBytes: ByteCount

    /// Creates a loader.
    /// - Parameter maximumBytes: the largest size of decoded data.
    public init(maximumBytes: ByteCount = .megabytes(200)) { self.maximumBytes = maximumBytes }

    public var schemes: [String] { ["data"] }

    public func isLocal(_ url: URL) -> Bool { true }

    /// Decodes the bytes in the URL.
    /// - Parameter request: the URL, with the parameters of the call.
    /// - Throws: ``ImageError/Code/invalidURL`` if the URL breaks RFC 2397, ``ImageError/Code/bodyTooLarge``,
    ///   ``ImageError/Code/emptyBody``.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let limit = maximumBytes.bytes
        do throws(ImageError) {
            return try await WorkQueue.processing.perform(priority: request.priority) { _ throws(ImageError) in
                let content = try DataURL(Array(request.url.absoluteString.utf8), limit: limit)
                let count = content.data.count
                request.receive(LoadProgress(receivedBytes: 0, expectedBytes: count))
                request.receive(LoadProgress(chunk: content.data, receivedBytes: count, expectedBytes: count))
                return LoadedData(data: content.data, url: request.url, mimeType: content.mimeType)
            }
        } catch {
            throw error.withSource(request.url.shortDescription)
        }
    }
}
