internal import FoundationEssentials

/// The identity of a transfer. Requests with different keys share none.
struct DownloadKey: Hashable, Sendable {
    let url: String
    let message: Message
    /// The generation of the manager's loaders.
    private let loaders: Int

    /// Everything besides the URL that affects the source's answer.
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

    /// The transfer of a request: a load doesn't join a transfer of loaders that were replaced before.
    init(_ request: ImageRequest, _ environment: LoadEnvironment) {
        (url, loaders) = (request.url.absoluteString, environment.loaderGeneration)
        var message = Message()
        for (name, value) in environment.loaders.requestHeaders(request.headers, for: request.url) {
            let name = name.lowercased()
            if !environment.configuration.insignificantHeaders.contains(name) { message.headers[name] = value }
        }
        if let parts = request.box?.parts {
            (message.method, message.body) = (parts.method, parts.body)
            (message.targetSize, message.hooks) = (request.targetSize, parts.hooks?.identifier)
        }
        self.message = message
    }
}
