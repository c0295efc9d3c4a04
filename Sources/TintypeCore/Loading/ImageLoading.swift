public import FoundationEssentials

/// Gets the bytes of an image: over HTTP, from a file, from wherever a program keeps them.
public protocol ImageLoading: Sendable {
    /// Whether the loader takes such a URL; usually a question of its scheme.
    func canLoad(_ url: URL) -> Bool

    /// The schemes that the loader takes, for messages that say what could have been loaded; empty if there is no such list.
    var schemes: [String] { get }

    /// Gets all the bytes.
    ///
    /// Follows the cancellation of the task it is called from, and ends soon after it. Reports what comes through
    /// ``LoadRequest/receive``, and never after it has returned.
    /// - Throws: ``ImageError`` of the stage ``ImageError/Stage/load``, saying which URL failed and why.
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData

    /// Whether the bytes of a URL are at hand without a network. Such bytes are not copied to the disk cache, and their
    /// failures are not remembered: the source itself is asked each time.
    func isLocal(_ url: URL) -> Bool

    /// Whether a URL that failed like this should not be tried again for a while.
    func shouldRememberFailure(_ error: ImageError) -> Bool
}

extension ImageLoading {
    public func isLocal(_ url: URL) -> Bool { false }

    public var schemes: [String] { [] }

    /// ``ImageError/wouldRepeat``.
    public func shouldRememberFailure(_ error: ImageError) -> Bool { error.wouldRepeat }
}

extension ImageError {
    /// True for failures to load that another try would only repeat: a missing file or page, a URL that cannot be, no image.
    public var wouldRepeat: Bool {
        switch code {
        case .badStatus: statusCode.map { (400..<500).contains($0) && ![408, 425, 429].contains($0) } ?? false
        case .invalidURL, .unknownFormat, .emptyBody, .badRedirect, .bodyTooLarge, .badContentType: true
        default: false
        }
    }
}

/// What a loader is asked for.
public struct LoadRequest: Sendable {
    public var url: URL
    /// Header fields for this request alone.
    public var headers: [String: String]
    /// How urgent it is; watched while the load waits for its turn.
    public var priority: WorkPriority
    /// What a cache holds already: the loader may answer ``ImageError/Code/notModified`` if that is still current.
    public var validators: CacheValidators?
    /// Called as bytes come, in order, by one thread at a time.
    public var receive: @Sendable (LoadProgress) -> Void

    public init(
        url: URL, headers: [String: String] = [:], priority: WorkPriority = WorkPriority(),
        validators: CacheValidators? = nil, receive: @escaping @Sendable (LoadProgress) -> Void = { _ in }
    ) {
        self.url = url
        self.headers = headers
        self.priority = priority
        self.validators = validators
        self.receive = receive
    }
}

/// How far a load has come.
public struct LoadProgress: Sendable {
    /// The bytes that came since the last report; empty in the first one.
    public var chunk: Data
    /// How many bytes have come.
    public var receivedBytes: Int
    /// How many are expected; `nil` if the source did not say.
    public var expectedBytes: Int?

    public init(chunk: Data = Data(), receivedBytes: Int, expectedBytes: Int?) {
        self.chunk = chunk
        self.receivedBytes = receivedBytes
        self.expectedBytes = expectedBytes
    }

    /// From 0 to 1; `nil` if it is not known how much is to come.
    public var fraction: Double? {
        guard let expectedBytes, expectedBytes > 0 else { return nil }
        return min(1, Double(receivedBytes) / Double(expectedBytes))
    }
}

/// What an HTTP server gives to ask it later whether anything is new (RFC 9110, section 8.8).
public struct CacheValidators: Sendable, Hashable, Codable {
    public var entityTag: String?
    public var lastModified: String?

    public init(entityTag: String? = nil, lastModified: String? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    public var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

/// All the bytes of an image, and what came with them.
public struct LoadedData: Sendable {
    public var data: Data
    /// Where the bytes came from in the end, after redirects.
    public var url: URL
    public var statusCode: Int?
    public var mimeType: String?
    public var validators: CacheValidators?
    /// The protocol that was spoken, such as `HTTP/1.1`.
    public var networkProtocol: String?

    public init(
        data: Data, url: URL, statusCode: Int? = nil, mimeType: String? = nil, validators: CacheValidators? = nil,
        networkProtocol: String? = nil
    ) {
        self.data = data
        self.url = url
        self.statusCode = statusCode
        self.mimeType = mimeType
        self.validators = validators
        self.networkProtocol = networkProtocol
    }
}
