internal import FoundationEssentials

/// The parts of a request that few requests have.
///
/// They are behind one reference, so that requests without them are as small, and as fast to copy, as if there were none.
struct RequestParts: Sendable {
    var method = "GET"
    var body: Data?
    /// The bytes of the image, if the program has them.
    var bytes: BytesLoader?
    var loadsTargetSize = false
    var hooks: DownloadHooks?

    /// True if the message to the server is the usual one.
    var isPlainGet: Bool { method == "GET" && body == nil }

    /// The parts of one request, shared by its copies.
    final class Box: Sendable {
        let parts: RequestParts
        init(_ parts: RequestParts) { self.parts = parts }
    }
}
