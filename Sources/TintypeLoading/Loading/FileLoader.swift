public import FoundationEssentials
internal import Glibc

/// Loads the images of `file:` URLs.
///
/// Only regular files are read. A directory, a pipe or a device is rejected, so that a URL from an untrusted source cannot block a program.
/// The ``LoadedData/validators`` of a file identify its contents by modification time and size, so that an unchanged file is answered with
/// ``LoadedData/notModified(url:validators:statusCode:)``.
public struct FileLoader: ImageLoading {
    private let maximumBytes: ByteCount

    /// The number of bytes that are read between two checks for cancellation.
    private static let chunkBytes = 256 * 1_024

    /// Creates a loader.
    /// - Parameter maximumBytes: the largest size of a file.
    public init(maximumBytes: ByteCount = .megabytes(200)) { self.maximumBytes = maximumBytes }

    public var schemes: [String] { ["file"] }

    public func isLocal(_ url: URL) -> Bool { true }

    /// Returns the modification time and the size of the file as validators.
    /// - Parameter url: the URL of the file.
    public func currentValidators(of url: URL) async -> CacheValidators? {
        guard let path = try? Self.path(of: url) else { return nil }
        return try? await WorkQueue.files.perform { _ in
            var status = stat()
            return stat(path, &status) == 0 ? CacheValidators(status) : nil
        }
    }

    /// Reads the file.
    /// - Parameter request: the URL, with the parameters of the call.
    /// - Throws: ``ImageError/Code/fileUnreadable``, ``ImageError/Code/bodyTooLarge``, ``ImageError/Code/emptyBody``, or
    ///   ``ImageError/Code/incompleteBody`` if the file shrinks while it is read.
    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        do throws(ImageError) {
            let path = try Self.path(of: request.url)
            let limit = maximumBytes.bytes
            let read = { () async throws(ImageError) -> LoadedData in
                try await WorkQueue.files.perform(priority: request.priority) { isCancelled throws(ImageError) in
                    try Self.read(path, for: request, limit: limit, isCancelled: isCancelled)
                }
            }
            guard let budget = request.budget else { return try await read() }
            return try await budget.whenRoom(priority: request.priority, on: .files, read)
        } catch {
            throw error.withSource(request.url.shortDescription)
        }
    }

    /// Reads a file on the calling thread, which honors the cancellation of its task, and makes something of its bytes. The errors name the file.
    package static func withContents<Result>(
        of url: URL, _ body: (Data) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        guard url.isFileURL else {
            throw ImageError(
                .invalidURL, stage: .load, source: url.shortDescription,
                reason: "the URL doesn't name a local file; load it with an ImageManager")
        }
        do throws(ImageError) {
            let limit = FileLoader().maximumBytes.bytes
            return try body(read(path(of: url), for: LoadRequest(url: url), limit: limit) { Task.isCancelled }.data)
        } catch {
            throw error.withSource(url.path)
        }
    }

    private static func path(of url: URL) throws(ImageError) -> String {
        let host = url.host(percentEncoded: false) ?? ""
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw ImageError(.invalidURL, stage: .load, reason: "the URL names a file on another computer, “\(host)”")
        }
        let path = url.path(percentEncoded: false)
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ImageError(.invalidURL, stage: .load, reason: "the URL has no usable path")
        }
        return path
    }

    private static func read(
        _ path: String, for request: LoadRequest, limit: Int, isCancelled: () -> Bool
    ) throws(ImageError) -> LoadedData {
        // O_NONBLOCK avoids waiting for a writer of a pipe. It has no effect on regular files.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        defer { close(descriptor) }

        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
        try checkKind(status.st_mode)
        let size = Int(status.st_size)
        guard size <= limit else {
            throw ImageError(
                .bodyTooLarge, stage: .load,
                reason: "the file is \(ByteCount(size)), over the limit of \(ByteCount(limit))"
            )
        }
        let validators = CacheValidators(status)
        if let known = request.validators?.entityTag, known == validators.entityTag {
            return .notModified(url: request.url, validators: validators)
        }
        let data = try readAll(descriptor, size: size, limit: limit, isCancelled: isCancelled, for: request)
        return LoadedData(data: data, url: request.url, validators: validators)
    }

    private static func checkKind(_ mode: mode_t) throws(ImageError) {
        let kind: String
        switch mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: kind = "a directory"
        case S_IFIFO: kind = "a pipe"
        case S_IFSOCK: kind = "a socket"
        default: kind = "a device"
        }
        throw ImageError(.fileUnreadable, stage: .load, reason: "it is \(kind), not a file")
    }

    private static func readAll(
        _ descriptor: Int32, size: Int, limit: Int, isCancelled: () -> Bool, for request: LoadRequest
    ) throws(ImageError) -> Data {
        let bytes = ArrivingBytes(expected: size)
        request.reportBeginning(expected: size)
        var chunk = Data(count: min(max(size, 1), chunkBytes))
        while true {
            if isCancelled() { throw ImageError(.cancelled, stage: .load, reason: "canceled while the file was read") }
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            guard count > 0 else { break }
            let start = bytes.count
            guard count <= limit - start else {
                throw ImageError(
                    .bodyTooLarge, stage: .load, reason: "the file grew beyond the limit of \(ByteCount(limit))")
            }
            guard chunk.withUnsafeBytes({ bytes.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }) else {
                throw ImageError(
                    .outOfMemory, stage: .load, reason: "there isn't enough memory for a file of \(ByteCount(size))")
            }
            request.report(bytes, from: start, expected: max(size, bytes.count))
        }
        let data = bytes.takeData()
        guard data.count >= size else {
            throw ImageError(
                .incompleteBody, stage: .load,
                reason:
                    "the file had \(size) bytes, but only \(data.count) could be read; another program may be writing it"
            )
        }
        guard !data.isEmpty else { throw ImageError(.emptyBody, stage: .load, reason: "the file is empty") }
        return data
    }
}

extension CacheValidators {
    /// Validators of a file.
    fileprivate init(_ file: stat) {
        self.init(
            entityTag:
                "\(Self.filePrefix)\(file.st_ino)-\(file.st_size)-\(file.st_mtim.tv_sec).\(file.st_mtim.tv_nsec)")
    }
}

extension ImageError {
    fileprivate static func unreadable(_ number: Int32) -> ImageError {
        ImageError(.fileUnreadable, stage: .load, reason: String(cString: strerror(number)))
    }
}
