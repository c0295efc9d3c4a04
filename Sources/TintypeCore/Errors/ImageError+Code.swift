extension ImageError {
    /// A stable name for what went wrong. The raw value is the name that logs and `--json` output use.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// Matches any error in a `catch` clause. Disfavoured, so that `case .cancelled` in a `switch` over another library's
        /// error means that library's.
        @_disfavoredOverload
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? ImageError)?.code == code }
    }
}

extension ImageError.Code {
    // Request
    /// The URL is empty, relative, or of a scheme that no loader takes.
    public static let invalidURL = Self(rawValue: "invalidURL")
    /// A policy of the program refused the load (`shouldDownload`).
    public static let loadingDisallowed = Self(rawValue: "loadingDisallowed")
    /// The request lacks something or contradicts itself, such as a transformer with an empty key.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The URL failed recently and is not loaded again yet.
    public static let recentlyFailed = Self(rawValue: "recentlyFailed")
    /// The caller, or everybody who waited, gave up.
    public static let cancelled = Self(rawValue: "cancelled")

    // Cache
    /// Only the caches were to be asked, and none has the image.
    public static let notCached = Self(rawValue: "notCached")
    /// The cache's directory cannot be used: it is a file, is read-only, or is gone.
    public static let cacheUnavailable = Self(rawValue: "cacheUnavailable")
    /// An entry could not be written.
    public static let cacheWriteFailed = Self(rawValue: "cacheWriteFailed")

    // Load
    /// No connection: refused, unknown host, TLS failure.
    public static let connectionFailed = Self(rawValue: "connectionFailed")
    /// The connection broke after the request was sent.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// Nothing came for as long as the time limit allows, or the whole transfer took too long.
    public static let timedOut = Self(rawValue: "timedOut")
    /// Redirected in a circle, too often, or to a URL that is not allowed.
    public static let badRedirect = Self(rawValue: "badRedirect")
    /// The server answered with a status other than success.
    public static let badStatus = Self(rawValue: "badStatus")
    /// The server's answer is of a type that is not accepted.
    public static let badContentType = Self(rawValue: "badContentType")
    /// The answer breaks the protocol, or a modifier refused it.
    public static let badResponse = Self(rawValue: "badResponse")
    /// A request modifier refused to make the request.
    public static let badRequest = Self(rawValue: "badRequest")
    /// The answer has no bytes.
    public static let emptyBody = Self(rawValue: "emptyBody")
    /// Fewer bytes came than were announced.
    public static let incompleteBody = Self(rawValue: "incompleteBody")
    /// More bytes than the limit were announced, or came.
    public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
    /// A local file is missing or cannot be read.
    public static let fileUnreadable = Self(rawValue: "fileUnreadable")

    // Decode
    /// The bytes are of no known image format.
    public static let unknownFormat = Self(rawValue: "unknownFormat")
    /// The format is known, but this build has no coder for it; the reason names the package trait.
    public static let formatNotEnabled = Self(rawValue: "formatNotEnabled")
    /// The bytes break the rules of their format.
    public static let corruptImage = Self(rawValue: "corruptImage")
    /// The bytes end before the image does.
    public static let truncatedImage = Self(rawValue: "truncatedImage")
    /// The image, or what it would take to decode it, is over a limit.
    public static let limitExceeded = Self(rawValue: "limitExceeded")
    /// Other images that are decoded now leave no room in the ``DecodeBudget``. A load waits instead, so that it never ends with
    /// this; coders pass it on.
    public static let overBudget = Self(rawValue: "overBudget")
    /// The system gave no memory.
    public static let outOfMemory = Self(rawValue: "outOfMemory")

    /// The image does not move, and only one that does was to be had.
    public static let notAnimated = Self(rawValue: "notAnimated")

    // Transform, encode
    /// A transformer could not do its work.
    public static let transformFailed = Self(rawValue: "transformFailed")
    /// The image could not be written in the format.
    public static let encodeFailed = Self(rawValue: "encodeFailed")
    /// No coder writes the format.
    public static let formatNotEncodable = Self(rawValue: "formatNotEncodable")
}
