internal import FoundationEssentials

/// The parts of a request that few requests have.
///
/// They are behind a single reference, so that requests without them are as small, and as fast to copy, as a URL alone.
struct RequestParts: Sendable {
    var method = "GET"
    var body: Data?
    /// The bytes of the image, if the program has them.
    var bytes: BytesLoader?
    var loadsTargetSize = false
    var hooks: DownloadHooks?

    /// True if the message to the server is the default.
    var isPlainGet: Bool { method == "GET" && body == nil }

    /// The parts of a request, shared by its copies.
    final class Box: Sendable {
        let parts: RequestParts
        init(_ parts: RequestParts) { self.parts = parts }
    }
}
