/// An error that occurred while loading, decoding, or storing an image.
///
/// ```swift
/// do throws(ImageError) {
///     show(try await manager.image(for: url))
/// } catch {
///     if error.code == .badStatus { print(error.statusCode ?? 0) }
/// }
/// ```
///
/// New codes may be added at any time. They are values of ``Code-swift.struct``, not cases, so they don't break your `switch` statements.
public struct ImageError: Error, Sendable {
    /// The kind of the error. Codes are stable: use them for decisions and for metric labels.
    public var code: Code {
        get { contents.code }
        set { contents.code = newValue }
    }
    /// The stage of loading where the error occurred.
    public var stage: Stage {
        get { contents.stage }
        set { contents.stage = newValue }
    }
    /// The URL, path or key that the error is about; `nil` only for data that has none.
    public var source: String? {
        get { contents.source }
        set { contents.source = newValue }
    }
    /// A human-readable description of the problem, possibly with a solution. It doesn't repeat ``source``.
    public var reason: String {
        get { contents.reason }
        set { contents.reason = newValue }
    }
    /// The HTTP status, if a server answered.
    public var statusCode: Int? {
        get { contents.statusCode }
        set { contents.statusCode = newValue }
    }
    /// The head of the server's response, if it is related to the error. Its header fields may contain secrets, such as cookies.
    public var response: ResponseHead? {
        get { contents.response }
        set { contents.response = newValue }
    }
    /// The underlying error of a library or of the system.
    public var underlying: (any Error)? {
        get { contents.underlying }
        set { contents.underlying = newValue }
    }

    private struct Contents: Sendable {
        var code: Code
        var stage: Stage
        var source: String?
        var reason: String
        var statusCode: Int?
        var response: ResponseHead?
        var underlying: (any Error)?
    }

    /// A reference: each function that throws has room for an error, and so does each of its calls.
    private indirect enum Box: Sendable { case contents(Contents) }

    private var box: Box
    private var contents: Contents {
        get {
            switch box {
            case .contents(let contents): contents
            }
        }
        set { box = .contents(newValue) }
    }

    /// Creates an error. Each parameter sets the property of the same name.
    public init(
        _ code: Code, stage: Stage, source: String? = nil, reason: String, statusCode: Int? = nil,
        underlying: (any Error)? = nil
    ) {
        box = .contents(
            Contents(
                code: code, stage: stage, source: source, reason: reason, statusCode: statusCode, underlying: underlying
            ))
    }

    /// Returns the error with a source, unless it already has a source.
    /// - Parameter source: the URL, path or key.
    package func withSource(_ source: String) -> ImageError {
        guard self.source == nil else { return self }
        var error = self
        error.source = source
        return error
    }

    /// The stages of loading an image.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// The check of the request, before anything is looked up.
        case request
        /// The lookup in the caches, and the write to them.
        case cache
        /// The transfer from the source.
        case load
        /// The decoding of the bytes.
        case decode
        /// The work of a transformer.
        case transform
        /// The encoding of an image to a file.
        case encode
        /// The write of a file, by the command-line tool. Errors of caches have the stage ``cache``.
        case store
    }
}

extension ImageError {
    /// True if the caller canceled the load: nothing failed.
    public var isCancellation: Bool { code == .cancelled }
}

extension ImageError: CustomStringConvertible {
    /// The source and the reason on a single line: `SOURCE: REASON`.
    public var description: String {
        guard let source else { return reason }
        return "\(source): \(reason)"
    }
}

extension ImageError: Equatable {
    /// Compares everything except ``underlying``, which isn't always comparable, and ``response``.
    public static func == (left: ImageError, right: ImageError) -> Bool {
        left.code == right.code && left.stage == right.stage && left.source == right.source
            && left.reason == right.reason && left.statusCode == right.statusCode
    }
}
