public import FoundationEssentials

/// A loader whose bytes arrive in chunks.
///
/// The chunks are collected in a growing buffer, which progressive decoders read as it grows, so that a load takes little more memory than
/// its bytes.
///
/// ```swift
/// struct ArchiveLoader: ImageStreaming {
///     let archive: Archive
///     let schemes = ["archive"]
///
///     func stream(_ request: LoadRequest) async throws -> ImageStream {
///         let file = try await archive.open(request.url.path)
///         return ImageStream(url: request.url, expectedBytes: file.size, chunks: file.chunks)
///     }
/// }
/// ```
public protocol ImageStreaming: ImageLoading {
    /// Starts a load. It is called when there is room for another body (``LoadRequest/waitForRoom()``). A stream that waits in a queue of
    /// its own calls that again before its first chunk.
    ///
    /// - Parameter request: The URL, and the conditions of the load.
    /// - Returns: the head of the answer, and the sequence of its chunks. The sequence ends soon after the calling task is canceled.
    /// - Throws: any error, even while the chunks arrive. An error that isn't an ``ImageError`` becomes the ``ImageError/underlying`` error
    ///   of ``ImageError/Code/connectionFailed``. ``ImageError/Code/cancelled`` is only for a canceled task.
    func stream(_ request: LoadRequest) async throws -> ImageStream

    /// The largest number of bytes that are accepted. The default is 200 MB.
    var maximumBytes: ByteCount { get }
}

/// The answer of a loader whose bytes arrive in chunks.
public struct ImageStream: Sendable {
    /// The description of the answer, whose ``LoadedData/data`` is empty.
    public var head: LoadedData
    /// The announced number of bytes; `nil` if it is unknown. If fewer or more arrive, the load fails with
    /// ``ImageError/Code/incompleteBody``.
    var expectedBytes: Int?
    /// Calls a closure with each chunk.
    let forEach: @Sendable ((Data) throws -> Void) async throws -> Void

    /// Creates an answer.
    /// - Parameters:
    ///   - url: The final URL of the bytes.
    ///   - mimeType: The media type; `nil` if it is unknown.
    ///   - validators: The validators for later requests.
    ///   - expectedBytes: The number of bytes; `nil` if it is unknown.
    ///   - chunks: The bytes, such as an `AsyncStream`. A chunk is requested only after the previous chunk has been processed.
    public init<Chunks: AsyncSequence & Sendable>(
        url: URL, mimeType: String? = nil, validators: CacheValidators? = nil, expectedBytes: Int? = nil, chunks: Chunks
    ) where Chunks.Element == Data {
        head = LoadedData(data: Data(), url: url, mimeType: mimeType, validators: validators)
        self.expectedBytes = expectedBytes
        forEach = { take in for try await chunk in chunks { try take(chunk) } }
    }

    /// Creates an answer that confirms that the cached image with the ``LoadRequest/validators`` is still current.
    /// - Parameters:
    ///   - url: the URL.
    ///   - validators: the new validators, if the source sent any.
    public static func notModified(url: URL, validators: CacheValidators? = nil) -> ImageStream {
        var stream = ImageStream(url: url, chunks: AsyncStream<Data> { $0.finish() })
        stream.head = .notModified(url: url, validators: validators)
        return stream
    }
}

extension ImageStreaming {
    public var maximumBytes: ByteCount { .megabytes(200) }

    /// Collects the chunks of ``stream(_:)``.
    /// - Parameter request: the URL, with the parameters of the call.
    /// - Throws: the error of the stream, ``ImageError/Code/bodyTooLarge``, ``ImageError/Code/incompleteBody``,
    ///   ``ImageError/Code/emptyBody``, or ``ImageError/Code/outOfMemory``.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        // Chunks may all be there, and a load starts on the thread that asks for it.
        await Task.yield()
        do {
            try await request.waitForRoom()
            let stream = try await stream(request)
            if stream.head.isNotModified { return stream.head }
            var loaded = stream.head
            loaded.data = try await stream.collect(for: request, limit: maximumBytes.bytes)
            return loaded
        } catch {
            throw ImageError(loaderError: error, of: request.url, while: "the loader's stream")
        }
    }
}

extension ImageStream {
    fileprivate func collect(for request: LoadRequest, limit: Int) async throws -> Data {
        let expected = expectedBytes.flatMap { $0 >= 0 ? $0 : nil }
        if let expected, expected > limit { throw tooLarge(limit) }
        let bytes = ArrivingBytes(expected: expected)
        request.reportBeginning(expected: expected)
        try await forEach { chunk in
            guard !chunk.isEmpty else { return }
            try Task.checkCancellation()
            let start = bytes.count
            guard chunk.count <= limit - start else { throw tooLarge(limit) }
            guard bytes.append(chunk) else {
                throw ImageError(
                    .outOfMemory, stage: .load, reason: "there isn't enough memory for more than \(ByteCount(start))")
            }
            request.report(bytes, from: start, expected: expected)
        }
        // A sequence may end rather than throw when its task is canceled.
        try Task.checkCancellation()
        let count = bytes.count
        if let expected, count != expected {
            throw ImageError(
                .incompleteBody, stage: .load, reason: "the loader announced \(expected) bytes, but sent \(count)")
        }
        guard count > 0 else { throw ImageError(.emptyBody, stage: .load, reason: "the loader sent no bytes") }
        return bytes.takeData()
    }

    private func tooLarge(_ limit: Int) -> ImageError {
        ImageError(.bodyTooLarge, stage: .load, reason: "the loader sent more than the limit of \(ByteCount(limit))")
    }
}

extension ImageError {
    /// The error of a program's closure or sequence that brings the bytes of a URL.
    init(loaderError error: any Error, of url: URL, while activity: String) {
        if let error = error as? ImageError {
            self = error.withSource(url.shortDescription)
        } else if Task.isCancelled {
            self = ImageError.cancelled(stage: .load, while: "\(activity) ran")
        } else {
            self = ImageError(
                .connectionFailed, stage: .load, source: url.shortDescription, reason: "\(activity) failed: \(error)",
                underlying: error)
        }
    }
}
