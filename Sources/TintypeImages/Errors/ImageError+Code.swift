extension ImageError {
    /// A stable name for the kind of an error. The raw value is the name in logs and in `--json` output.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The stable name of the code.
        public let rawValue: String
        /// Creates a custom code.
        /// - Parameter rawValue: the stable name of the code.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The stable name of the code.
        public var description: String { rawValue }

        /// Matches any error in a `catch` clause. Disfavored, so that `case .cancelled` in a `switch` over another library's
        /// error refers to that library's case.
        @_disfavoredOverload
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? ImageError)?.code == code }
    }
}

extension ImageError.Code {
    // Request
    /// The URL is empty, relative, or has a scheme that no loader accepts.
    public static let invalidURL = Self(rawValue: "invalidURL")
    /// The program's policy disallowed the load (`shouldDownload`).
    public static let loadingDisallowed = Self(rawValue: "loadingDisallowed")
    /// The request is incomplete or contradictory, for example because its transformer has an empty key.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The URL failed recently and is not loaded again yet.
    public static let recentlyFailed = Self(rawValue: "recentlyFailed")
    /// The caller, or every caller that waited, canceled the work.
    public static let cancelled = Self(rawValue: "cancelled")

    // Cache
    /// The request allowed only the caches, and none of them has the image.
    public static let notCached = Self(rawValue: "notCached")
    /// The cache's directory cannot be used: it is a file, is read-only, or is gone.
    public static let cacheUnavailable = Self(rawValue: "cacheUnavailable")
    /// An entry could not be written.
    public static let cacheWriteFailed = Self(rawValue: "cacheWriteFailed")

    // Load
    /// No connection was possible: it was refused, the host is unknown, or TLS failed.
    public static let connectionFailed = Self(rawValue: "connectionFailed")
    /// The server failed several times in a row, and gets no requests for some time.
    public static let hostUnavailable = Self(rawValue: "hostUnavailable")
    /// The connection broke after the request was sent.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// No data arrived within the time limit, or the whole transfer took too long.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The redirects form a loop, are too many, or lead to a disallowed URL.
    public static let badRedirect = Self(rawValue: "badRedirect")
    /// The server's response has a status other than success.
    public static let badStatus = Self(rawValue: "badStatus")
    /// The server's response has a content type that isn't accepted.
    public static let badContentType = Self(rawValue: "badContentType")
    /// The response violates the protocol, or a modifier rejected it.
    public static let badResponse = Self(rawValue: "badResponse")
    /// A request modifier rejected the request.
    public static let badRequest = Self(rawValue: "badRequest")
    /// The response has no bytes.
    public static let emptyBody = Self(rawValue: "emptyBody")
    /// Fewer bytes arrived than were announced.
    public static let incompleteBody = Self(rawValue: "incompleteBody")
    /// More bytes than the limit were announced, or arrived.
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// A local file is missing or cannot be read.
    public static let fileUnreadable = Self(rawValue: "fileUnreadable")

    // Decode
    /// The bytes are not in a known image format.
    public static let unknownFormat = Self(rawValue: "unknownFormat")
    /// The format is known, but no coder reads it: this build has none, or the program's own coders reject the data. The reason names the
    /// package trait of the format, if any.
    public static let formatNotEnabled = Self(rawValue: "formatNotEnabled")
    /// The bytes violate the rules of their format.
    public static let corruptImage = Self(rawValue: "corruptImage")
    /// The data ends before the image is complete.
    public static let truncatedImage = Self(rawValue: "truncatedImage")
    /// The image, or the memory to decode it, exceeds a limit.
    public static let limitExceeded = Self(rawValue: "limitExceeded")
    /// The document doesn't have the requested page. The reason states the number of its pages.
    public static let pageOutOfRange = Self(rawValue: "pageOutOfRange")
    /// Other decodes in progress leave no room in the ``DecodeBudget``. Coders pass this error on to the load, which waits. No
    /// load ends with it.
    package static let overBudget = Self(rawValue: "overBudget")
    /// The system couldn't provide enough memory.
    public static let outOfMemory = Self(rawValue: "outOfMemory")
    /// The process that decoded the image crashed, or sent an invalid answer.
    public static let decoderCrashed = Self(rawValue: "decoderCrashed")
    /// The process that decoded the image took too long, and was terminated.
    public static let decodeTimedOut = Self(rawValue: "decodeTimedOut")
    /// The image must be decoded in a separate process, which can't be started.
    public static let decoderUnavailable = Self(rawValue: "decoderUnavailable")

    /// The image isn't animated, but the request requires an animated image.
    public static let notAnimated = Self(rawValue: "notAnimated")

    // Transform, encode
    /// A transformer failed.
    public static let transformFailed = Self(rawValue: "transformFailed")
    /// The image could not be encoded in the format.
    public static let encodeFailed = Self(rawValue: "encodeFailed")
    /// No coder can write the format.
    public static let formatNotEncodable = Self(rawValue: "formatNotEncodable")
}
