internal import FoundationEssentials

/// The identity of a transfer: requests with equal keys share a transfer, even if they use the caches differently.
struct DownloadKey: Hashable, Sendable {
    let url: String
    let message: Message
    /// The generation of the manager's loaders.
    private let loaders: Int

    /// The part of a transfer's identity that decides the answer of its URL.
    struct Message: Hashable, Sendable {
        /// The significant header fields, by lowercase names.
        var headers: [String: String] = [:]
        var method = "GET"
        var body: Data?
        /// The size that the loader is told.
        var targetSize: PixelSize?
        /// The identifier of the request's hooks.
        var hooks: String?
    }

    /// - Parameters:
    ///   - insignificant: The lowercase names of header fields that don't change the answer.
    ///   - request: The parts of the request that few have.
    ///   - targetSize: The size that the loader is told.
    ///   - loaders: The generation of the manager's loaders: a load doesn't join a transfer of loaders that were replaced before.
    init(
        url: URL, headers: [String: String], ignoring insignificant: Set<String> = [], parts: RequestParts? = nil,
        targetSize: PixelSize? = nil, loaders: Int = 0
    ) {
        self.loaders = loaders
        self.url = url.absoluteString
        var message = Message()
        for (name, value) in headers {
            let name = name.lowercased()
            if !insignificant.contains(name) { message.headers[name] = value }
        }
        if let parts {
            message.method = parts.method
            message.body = parts.body
            message.targetSize = targetSize
            message.hooks = parts.hooks?.identifier
        }
        self.message = message
    }
}
