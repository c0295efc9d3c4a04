/// An error that occurred while loading, decoding, or storing an image.
///
/// ```swift
/// do {
///     show(try await manager.image(for: url))
/// } catch {
///     if error.code == .badStatus { print(error.statusCode ?? 0) }
/// }
/// ```
///
/// New codes may be added at any time: they are values of ``Code-swift.struct``, not cases, so no `switch` of yours breaks.
public struct ImageError: Error, Sendable {
    /// What went wrong. Stable: use it for decisions and for metric labels.
    public var code: Code
    /// Where on the way of an image it went wrong.
    public var stage: Stage
    /// The URL, path or key that the error concerns; `nil` only for bytes that have neither.
    public var source: String?
    /// One sentence for a person: what was seen, and where it helps, what to do. It does not repeat ``source``.
    public var reason: String
    /// The HTTP status, where a server answered.
    public var statusCode: Int?
    /// The error of a library or of the system that led to this one.
    public var underlying: (any Error)?

    public init(
        _ code: Code, stage: Stage, source: String? = nil, reason: String, statusCode: Int? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.stage = stage
        self.source = source
        self.reason = reason
        self.statusCode = statusCode
        self.underlying = underlying
    }

    /// Returns the error with a source, unless it has one.
    public func withSource(_ source: String) -> ImageError {
        guard self.source == nil else { return self }
        var error = self
        error.source = source
        return error
    }

    /// The stages of the way of an image.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        case request, cache, load, decode, transform, encode, store
    }
}

extension ImageError {
    /// Matches an error by its code in `catch` and `switch`.
    public static func ~= (code: Code, error: ImageError) -> Bool { error.code == code }

    /// True for a load that its caller gave up: nothing failed.
    public var isCancellation: Bool { code == .cancelled }
}

extension ImageError: CustomStringConvertible {
    /// `SOURCE: REASON`, in one line.
    public var description: String {
        guard let source else { return reason }
        return "\(source): \(reason)"
    }
}

extension ImageError: Equatable {
    /// Compares everything but ``underlying``, which need not be comparable.
    public static func == (left: ImageError, right: ImageError) -> Bool {
        left.code == right.code && left.stage == right.stage && left.source == right.source
            && left.reason == right.reason && left.statusCode == right.statusCode
    }
}
