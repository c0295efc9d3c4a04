internal import FoundationEssentials

/// The sources that failed a short while ago, so that a list of broken images doesn't ask for each of them again and again.
///
/// Failures are remembered by source and message: the answer to a token says nothing about another. Failures of decoding are
/// remembered by the way of decoding too: a file that a coder can't read may suit another. Failures are remembered for a time and up to a
/// count; the oldest are dropped first.
struct FailureMemory {
    /// The identity of a failure.
    struct Key: Hashable {
        let source: String
        /// With a digest in place of the body, which may be large.
        private let message: DownloadKey.Message
        /// The way of decoding that failed; `nil` for a failed transfer.
        private let decoding: Decoding?

        init(source: String, message: DownloadKey.Message, decoding: Decoding? = nil) {
            var message = message
            message.body = message.body.map { Data(MD5.hexadecimal($0).utf8) }
            (self.source, self.message, self.decoding) = (source, message, decoding)
        }
    }

    /// The parts of a request that decide whether bytes can be decoded.
    struct Decoding: Hashable {
        var coder: OwnCoder?
        var formatHint: ImageFormat?
        var allowsPartialImage: Bool
        /// True if only the header is read.
        var isHeader: Bool

        init(_ request: ImageRequest, by coder: OwnCoder?, isHeader: Bool = false) {
            self.coder = coder
            formatHint = request.decode.formatHint
            allowsPartialImage = request.decode.allowsPartialImage
            self.isHeader = isHeader
        }
    }

    private struct Failure {
        var error: ImageError
        var end: ContinuousClock.Instant
    }

    private var failures: [Key: Failure] = [:]
    private var order: [Key] = []

    var count: Int { failures.count }

    /// The error of a source, if it is still remembered.
    mutating func failure(of key: Key, at now: ContinuousClock.Instant) -> ImageError? {
        guard !failures.isEmpty, let failure = failures[key] else { return nil }
        guard now < failure.end else {
            remove(key)
            return nil
        }
        return failure.error
    }

    /// - Parameter limit: The number of failures that are remembered.
    mutating func insert(
        _ key: Key, _ error: ImageError, for lifetime: Duration, limit: Int, at now: ContinuousClock.Instant
    ) {
        guard limit > 0, lifetime > .zero else { return }
        let failure = Failure(error: error, end: now + lifetime.boundedLimit)
        while let oldest = order.first, let end = failures[oldest]?.end, end <= now { remove(oldest) }
        if failures.updateValue(failure, forKey: key) == nil { order.append(key) }
        while failures.count > limit, let oldest = order.first { remove(oldest) }
    }

    mutating func remove(_ key: Key) {
        guard !failures.isEmpty, failures.removeValue(forKey: key) != nil else { return }
        if let index = order.firstIndex(of: key) { order.remove(at: index) }
    }

    /// Drops the failures of a source, for all messages.
    mutating func removeAll(source: String) { for key in order where key.source == source { remove(key) } }

    mutating func removeAll() { self = FailureMemory() }
}
