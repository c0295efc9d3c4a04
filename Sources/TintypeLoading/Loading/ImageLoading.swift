public import FoundationEssentials

/// Provides the bytes of an image: over HTTP, from a file, or from any other place.
///
/// A loader names its schemes, and returns the bytes of a URL:
///
/// ```swift
/// struct BlobLoader: ImageLoading {
///     let database: Database
///     let schemes = ["blob"]
///
///     func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
///         guard let data = await database.blob(request.url.lastPathComponent) else {
///             throw ImageError(.init(rawValue: "blobMissing"), stage: .load, reason: "the database has no such image")
///         }
///         return LoadedData(data: data, url: request.url)
///     }
/// }
/// ```
///
/// Everything else has a default. A loader whose bytes arrive in chunks adopts ``ImageStreaming`` instead. Any number of loads may call a
/// loader at once: it limits its concurrent transfers itself, and each first waits for memory (``LoadRequest/waitForRoom()``).
public protocol ImageLoading: Sendable {
    /// Returns true if the loader accepts the URL. By default, it accepts the URLs whose scheme is in ``schemes``.
    /// - Parameter url: the URL.
    func canLoad(_ url: URL) -> Bool

    /// The schemes that the loader accepts, in lowercase. Error messages list them, too. The default is empty.
    var schemes: [String] { get }

    /// Loads all bytes.
    ///
    /// Until its first suspension, it may run on the thread that requests the image, such as the main thread: do long work elsewhere, such
    /// as on a ``WorkQueue``.
    ///
    /// Responds to the cancellation of the calling task, and ends soon after it. Reports bytes as they arrive through
    /// ``LoadRequest/receive``, but never after it has returned.
    ///
    /// A loader may request other images from its manager. A request for the image that it is loading fails with
    /// ``ImageError/Code/invalidRequest``, even in tasks that it doesn't wait for. A cycle through another manager never ends.
    ///
    /// Throw ``ImageError/Code/cancelled`` only in a canceled task. It would be taken for a cancellation by the caller: no other source is
    /// tried, and a display keeps its placeholder. If something else is canceled, such as the loader's session, throw another error, such
    /// as ``ImageError/Code/connectionFailed``.
    /// - Parameter request: the URL, and the conditions of the load.
    /// - Returns: the bytes with their description.
    /// - Throws: ``ImageError`` of the stage ``ImageError/Stage/load``, with the URL and the reason.
    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData

    /// Returns true if the bytes of a URL are available without a network. Such bytes are not copied to the disk cache, and
    /// their failures are not remembered, because the source can be asked each time.
    /// - Parameter url: the URL.
    func isLocal(_ url: URL) -> Bool

    /// Returns the validators of the present contents of a local URL, as ``LoadedData/validators`` would after a load; `nil`, the default,
    /// if only a load can determine them.
    ///
    /// Thumbnails and transformed images of such a URL are stored on disk if the request has ``ImageRequest/CacheOptions/storesVariant``,
    /// and used while the validators stay the same.
    /// - Parameter url: the URL.
    func currentValidators(of url: URL) async -> CacheValidators?

    /// Returns true if a URL that failed with an error should not be loaded again for some time. Called for every failure of a URL that the
    /// loader accepts, in any stage.
    /// - Parameters:
    ///   - error: the error of the load.
    ///   - url: the URL that failed.
    func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool

    /// Returns the header fields of a request, with the fields that the loader would add to it now.
    ///
    /// A loader that adds fields returns true from ``addsRequestHeaders``. The caches use the fields to distinguish responses for different
    /// users (``ImageManager/Configuration-swift.struct/credentialHeaders``), and responses that vary on a field. By default, returns the
    /// fields of the request.
    /// - Parameters:
    ///   - headers: the fields of the request, which the loader doesn't replace.
    ///   - url: the URL of the request.
    func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String]

    /// Returns the cookies that the loader would add to a request for a URL now, as the value of a `Cookie` field. By default, returns
    /// `nil`.
    ///
    /// The caches use them to distinguish responses that vary on cookies (`Vary: Cookie`). They don't count as credentials, because any
    /// response may change them.
    /// - Parameter url: the URL of the request.
    func cookies(for url: URL) -> String?

    /// True if ``requestHeaders(_:for:)`` may now add fields to a request, even for a URL without `user:password@`. The default is false.
    var addsRequestHeaders: Bool { get }
}

extension ImageLoading {
    public func canLoad(_ url: URL) -> Bool { url.scheme.map { schemes.contains($0.lowercased()) } ?? false }

    public func isLocal(_ url: URL) -> Bool { false }

    public func currentValidators(of url: URL) async -> CacheValidators? { nil }

    public var schemes: [String] { [] }

    public var addsRequestHeaders: Bool { false }

    public func cookies(for url: URL) -> String? { nil }

    /// The default for loaders without a rule of their own: returns true if the failure would repeat, such as a missing page, an invalid
    /// URL, or data that isn't an image or crashes its decoder.
    /// - Parameters:
    ///   - error: the error.
    ///   - url: the URL.
    public func shouldRememberFailure(_ error: ImageError, of url: URL) -> Bool { error.isPermanent }

    public func requestHeaders(_ headers: [String: String], for url: URL) -> [String: String] { headers }
}

extension ImageError {
    /// True for failures that would only repeat: a missing page, an invalid URL, data that isn't an image or crashes its decoder.
    var isPermanent: Bool {
        switch code {
        case .badStatus: statusCode.map { (400..<500).contains($0) && ![408, 425, 429].contains($0) } ?? false
        case .invalidURL, .unknownFormat, .corruptImage, .truncatedImage, .emptyBody, .badRedirect, .bodyTooLarge,
            .badContentType, .decoderCrashed, .decodeTimedOut:
            true
        default: false
        }
    }

    /// The time until a URL is loaded again whose loader wants this failure to be remembered.
    var usualLifetime: Duration {
        switch code {
        case .badStatus where statusCode == 404 || statusCode == 410: .minutes(5)
        case .unknownFormat, .corruptImage, .truncatedImage, .decoderCrashed, .decodeTimedOut: .minutes(5)
        default: .seconds(30)
        }
    }
}

/// The parameters of a call to a loader.
public struct LoadRequest: Sendable {
    /// The URL to load.
    public var url: URL
    /// Header fields for this request alone.
    public var headers: [String: String]
    /// The HTTP method. Loaders that don't speak HTTP ignore it.
    public var method: String
    /// The body of the HTTP request; `nil` for none.
    public var body: Data?
    /// The priority of the load, which may change. A ``WorkQueue`` follows it; other loaders read ``WorkPriority/value`` when a turn is free.
    public var priority: WorkPriority
    /// The validators of the cached image. If it is still current, the loader may answer
    /// ``LoadedData/notModified(url:validators:statusCode:)``. A loader that follows redirects sends them only to the URL that they
    /// belong to (``CacheValidators/belong(to:of:)``).
    public var validators: CacheValidators?
    /// The box that the image will fill, in pixels, if the request has ``ImageRequest/loadsTargetSize``. The loader may return a smaller
    /// image than the original, if it still fills the box.
    public var targetSize: PixelSize?
    /// The closures of the request that change its messages: ``ImageRequest/downloadHooks``. Loaders that send no messages ignore them.
    public var hooks: DownloadHooks?
    /// A closure that reports bytes as they arrive, in order. Never call it on two threads at once.
    public var receive: @Sendable (LoadProgress) -> Void {
        get { { [observer] progress in observer?(progress, nil) } }
        set { (observer, takesBuffers) = ({ progress, _ in newValue(progress) }, false) }
    }
    /// Receives the reports; `nil` if nobody does.
    private var observer: (@Sendable (LoadProgress, ArrivingBytes?) -> Void)?
    /// True if the observer reads the buffers of loaders that collect their bytes in an ``ArrivingBytes``, instead of chunks.
    private var takesBuffers = false
    /// The budget that must have room for the body; `nil` if there always is room.
    package var budget: DecodeBudget?
    /// True if a caller receives reports.
    package var isReported: Bool { observer != nil }

    /// Creates a request. Each parameter sets the property of the same name.
    public init(
        url: URL, headers: [String: String] = [:], method: String = "GET", body: Data? = nil,
        priority: WorkPriority = WorkPriority(), validators: CacheValidators? = nil,
        targetSize: PixelSize? = nil, receive: (@Sendable (LoadProgress) -> Void)? = nil
    ) {
        (self.url, self.headers, self.method, self.body) = (url, headers, method, body)
        (self.priority, self.validators, self.targetSize) = (priority, validators, targetSize)
        if let receive { self.receive = receive }
    }

    /// Sets the receiver of reports: their chunks, or the buffers of loaders that collect their bytes in an ``ArrivingBytes``, which already
    /// has the bytes of the report; `nil` if there is none, or its bytes are of no use.
    mutating func report(to observer: @escaping @Sendable (LoadProgress, ArrivingBytes?) -> Void) {
        (self.observer, takesBuffers) = (observer, true)
    }

    /// Waits until the ``DecodeBudget`` has room for more bodies: those that wait to be decoded count. Returns at once for a request that
    /// no manager made.
    ///
    /// ``ImageDownloader``, ``FileLoader``, and each ``ImageStreaming`` wait for it. Other loaders limit their concurrent transfers, and
    /// call this when it is a transfer's turn, before it starts.
    /// - Throws: ``ImageError/Code/cancelled`` if the calling task is canceled.
    public func waitForRoom() async throws(ImageError) { try await budget?.waitForRoom(priority: priority) }

    /// Reports that bytes are going to arrive.
    package func reportBeginning(expected: Int?) {
        observer?(LoadProgress(receivedBytes: 0, expectedBytes: expected), nil)
    }

    /// Reports the bytes from an index on.
    /// - Parameter showsBytes: False if they are of no use.
    package func report(_ bytes: ArrivingBytes, from start: Int, expected: Int?, showsBytes: Bool = true) {
        guard let observer else { return }
        var progress = LoadProgress(receivedBytes: bytes.count, expectedBytes: expected)
        if takesBuffers { return observer(progress, showsBytes ? bytes : nil) }
        if showsBytes { progress.chunk = bytes.copy(start..<progress.receivedBytes) }
        observer(progress, nil)
    }
}

/// The progress of a load.
public struct LoadProgress: Sendable {
    /// The bytes that arrived since the last report; empty in the first report.
    public var chunk: Data
    /// The number of bytes that have arrived.
    public var receivedBytes: Int
    /// The expected number of bytes; `nil` if the source did not announce it.
    public var expectedBytes: Int?

    /// Creates a report. Each parameter sets the property of the same name.
    public init(chunk: Data = Data(), receivedBytes: Int, expectedBytes: Int?) {
        (self.chunk, self.receivedBytes, self.expectedBytes) = (chunk, receivedBytes, expectedBytes)
    }
}

/// A loader's answer: all bytes of an image with their description, or the confirmation that the cached image is still current.
public struct LoadedData: Sendable {
    /// The bytes; empty if ``isNotModified``.
    public var data: Data
    /// The final URL of the bytes, after redirects.
    public var url: URL
    /// The HTTP status; `nil` for sources without HTTP.
    public var statusCode: Int?
    /// The media type that the source stated, such as `image/jpeg`.
    public var mimeType: String?
    /// The values that the source needs later to tell whether the bytes are still current.
    public var validators: CacheValidators?
    /// The protocol of the transfer, such as `HTTP/1.1`.
    public var networkProtocol: String?
    /// The header fields of the response. ``CachePolicy/http`` reads `Age`, `Cache-Control`, `Date`, `Expires`, and `Vary`. A loader that
    /// followed a redirect adds `max-age=0` to `Cache-Control`, because the freshness belongs to the target only.
    public var headers: HTTPFields = [:]
    /// The measurements of the transfer, if any.
    public var transfer: TransferMetrics?
    /// True if the source referred to another URL, so that ``CachePolicy/http`` asks it again each time.
    package var isRedirected = false
    /// The header fields that were sent to any URL of the transfer with other values than the loader tells, by lowercase names: empty for
    /// those that weren't sent to the first.
    package var sentFields: [String: String] = [:]
    /// True if the image with the ``LoadRequest/validators`` is still current.
    public var isNotModified = false
    /// The image itself, if the loader has no bytes.
    public var image: Image?

    /// Creates an answer. Each parameter sets the property of the same name.
    public init(
        data: Data, url: URL, statusCode: Int? = nil, mimeType: String? = nil, validators: CacheValidators? = nil,
        networkProtocol: String? = nil
    ) {
        (self.data, self.url, self.statusCode) = (data, url, statusCode)
        (self.mimeType, self.validators, self.networkProtocol) = (mimeType, validators, networkProtocol)
    }

    /// Creates the answer of a loader that produces images instead of bytes.
    ///
    /// For a request for a thumbnail, the image is resized. The disk stores the image as encoded by a coder.
    /// - Parameters:
    ///   - image: the image.
    ///   - url: the URL.
    public init(image: Image, url: URL) {
        self.init(data: Data(), url: url)
        self.image = image
    }

    /// Returns an answer that confirms that the cached image is still current.
    /// - Parameters:
    ///   - url: the final URL, after redirects.
    ///   - validators: the new validators, if the source sent any.
    ///   - statusCode: the HTTP status.
    public static func notModified(url: URL, validators: CacheValidators? = nil, statusCode: Int? = nil) -> LoadedData {
        var loaded = LoadedData(data: Data(), url: url, statusCode: statusCode, validators: validators)
        loaded.isNotModified = true
        return loaded
    }

    /// The answer without its bytes.
    var response: ResponseHead {
        ResponseHead(url: url, statusCode: statusCode, networkProtocol: networkProtocol, headers: headers)
    }
}

// Descriptions without user info, query values, and header fields, which may have credentials.

extension LoadRequest: CustomStringConvertible {
    /// The URL without user info and query values.
    public var description: String { url.shortDescription }
}

extension LoadedData: CustomStringConvertible {
    /// The number of bytes, and the URL without user info and query values.
    public var description: String { "\(ByteCount(data.count)) from \(url.shortDescription)" }
}
