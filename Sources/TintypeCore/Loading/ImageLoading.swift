public import FoundationEssentials

/// Gets the bytes of an image: over HTTP, from a file, from wherever a program keeps them.
public protocol ImageLoading: Sendable {
    /// True if the loader takes such a URL; usually a question of its scheme.
    func canLoad(_ url: URL) -> Bool

    /// The schemes that the loader takes, for messages that say what could have been loaded; empty if there is no such list.
    var schemes: [String] { get }

    /// Gets all the bytes.
    ///
    /// Follows the cancellation of the task it is called from, and ends soon after it. Reports what comes through
    /// ``LoadRequest/receive``, and never after it has returned.
    /// - Throws: ``ImageError`` of the stage ``ImageError/Stage/load``, saying which URL failed and why.
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData

    /// True if the bytes of a URL are at hand without a network. Such bytes are not copied to the disk cache, and their
    /// failures are not remembered: the source itself is asked each time.
    func isLocal(_ url: URL) -> Bool

    /// True if a URL that failed with an error should not be loaded again for a while. Asked for every failure of a URL that the loader
    /// takes, whichever stage failed.
    func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool
}

extension ImageLoading {
    public func isLocal(_ url: URL) -> Bool { false }

    public var schemes: [String] { [] }

    /// ``ImageError/isPermanent``.
    public func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool { error.isPermanent }
}

extension ImageError {
    /// True for failures that another attempt would only repeat: a missing page, an invalid URL, bytes that are no image.
    public var isPermanent: Bool {
        switch code {
        case .badStatus: statusCode.map { (400..<500).contains($0) && ![408, 425, 429].contains($0) } ?? false
        case .invalidURL, .unknownFormat, .corruptImage, .truncatedImage, .emptyBody, .badRedirect, .bodyTooLarge,
            .badContentType:
            true
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
    /// The validators of the cached image. If it is still current, the loader may answer ``LoadedData/notModified(url:validators:statusCode:)``.
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

/// The answer of a loader: all bytes of an image and their description, or the word that the cached image is still current.
public struct LoadedData: Sendable {
    /// The bytes; empty if ``isNotModified``.
    public var data: Data
    /// The URL that the bytes came from in the end, after redirects.
    public var url: URL
    public var statusCode: Int?
    public var mimeType: String?
    public var validators: CacheValidators?
    /// The protocol of the transfer, such as `HTTP/1.1`.
    public var networkProtocol: String?
    /// True if the image that ``LoadRequest/validators`` stand for is still current.
    public var isNotModified = false

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

    /// Returns the answer that the cached image is still current.
    /// - Parameter validators: New validators, if the source sent any.
    public static func notModified(url: URL, validators: CacheValidators? = nil, statusCode: Int? = nil) -> LoadedData {
        var loaded = LoadedData(data: Data(), url: url, statusCode: statusCode, validators: validators)
        loaded.isNotModified = true
        return loaded
    }

    /// The answer without its bytes.
    var response: SourceResponse {
        SourceResponse(url: url, statusCode: statusCode, mimeType: mimeType, networkProtocol: networkProtocol)
    }
}

/// The description of a loader's answer.
public struct SourceResponse: Sendable, Hashable {
    /// The URL that answered in the end, after redirects.
    public var url: URL
    /// The HTTP status.
    public var statusCode: Int?
    /// The media type that the source stated.
    public var mimeType: String?
    /// The protocol of the transfer, such as `HTTP/1.1`.
    public var networkProtocol: String?

    public init(url: URL, statusCode: Int? = nil, mimeType: String? = nil, networkProtocol: String? = nil) {
        self.url = url
        self.statusCode = statusCode
        self.mimeType = mimeType
        self.networkProtocol = networkProtocol
    }
}

// Descriptions without user info, query values, and header fields, which may have credentials.

extension LoadRequest: CustomStringConvertible {
    public var description: String { url.shortDescription }
}

extension LoadedData: CustomStringConvertible {
    public var description: String { "\(ByteCount(data.count)) from \(url.shortDescription)" }
}

extension SourceResponse: CustomStringConvertible {
    public var description: String { (statusCode.map { "\($0) " } ?? "") + url.shortDescription }
}
