public import FoundationEssentials

extension ImageError: LocalizedError {
    /// The ``description``. Foundation's `localizedDescription` returns it, and ArgumentParser prints it.
    public var errorDescription: String? { description }

    /// A human-readable sentence about possible remedies; `nil` if there is none.
    ///
    /// It depends only on the kind of the error. ``reason`` has the details.
    public var recoverySuggestion: String? {
        switch code {
        case .badStatus: statusCode.flatMap(Self.suggestion(forStatus:)) ?? Self.suggestions[code]
        default: Self.suggestions[code]
        }
    }

    private static let suggestions: [Code: String] = [
        .invalidURL: "Check the scheme and the host of the URL.",
        .loadingDisallowed: "Change the policy or the network guard of the program to load this URL.",
        .invalidRequest: "Correct the request in the program.",
        .recentlyFailed: "Try again later, or load with `retriesFailed`.",
        .notCached: "Load the image once with a connection, or allow the request to ask the source.",
        .cacheUnavailable: "Use a directory on a local disk that you own, and that only you can write to.",
        .cacheWriteFailed: "Free space on the disk, or change the limits of the cache.",
        .connectionFailed: "Check the host name, the network, the proxy, and the server's certificate, and try again.",
        .hostUnavailable: "Try again later: the server has failed several times.",
        .connectionLost: "Try again; a retry policy does so by itself.",
        .timedOut: "Try again later, or raise the time limits of the downloader.",
        .badRedirect: "Use the final URL, or raise the redirect limits.",
        .badStatus: "Check the URL, and what the server expects.",
        .badContentType: "Check that the URL leads to an image, or accept its media type.",
        .badResponse: "Report the response to the operator of the server: it can't be used.",
        .badRequest: "Check the header fields and the closures that change requests.",
        .emptyBody: "Check that the URL leads to an image.",
        .incompleteBody: "Try again; a retry policy does so by itself, and continues the transfer.",
        .bodyTooLarge: "Raise `maximumBytes` to accept larger images.",
        .fileUnreadable: "Check the path and the permissions of the file.",
        .unknownFormat: "Check that the data is an image, or add a coder for its format.",
        .formatNotEnabled: "Build with the package trait of the format, or add a coder that reads it.",
        .corruptImage: "Get the image from its source again: its data is damaged.",
        .truncatedImage: "Get the image from its source again: its data is incomplete.",
        .limitExceeded: "Load a thumbnail, or raise the limits for decoding if the source is trusted.",
        .pageOutOfRange: "Request a page that the document has.",
        .outOfMemory: "Load a thumbnail, or fewer images at once.",
        .decoderCrashed: "Don't use the image: it may be hostile.",
        .decodeTimedOut: "Load a thumbnail, or raise the time limit of isolated decoding.",
        .decoderUnavailable:
            "Let the program start processes, or, if the source is trusted, allow decoding in the program itself.",
        .notAnimated: "Load the image without requiring an animation.",
        .transformFailed: "Correct the transformer, or its parameters.",
        .encodeFailed: "Choose another format, size, or limit.",
        .formatNotEncodable: "Choose a format that can be written, such as PNG.",
    ]

    private static func suggestion(forStatus status: Int) -> String? {
        switch status {
        case 401, 407: "Give the downloader credentials for the server."
        case 403: "Check whether the server asks for credentials or certain header fields."
        case 404, 410: "Check the URL: the server has no such image."
        case 408, 425, 500...599: "Try again later: the server has a problem."
        case 429: "Send fewer requests, and try again later."
        default: nil
        }
    }
}
