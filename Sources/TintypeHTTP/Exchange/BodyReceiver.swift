#if HTTP
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import TintypeLoading

/// Receives the body of a response: within the limits, decompressed, and joined with the start of an interrupted transfer.
struct BodyReceiver: Sendable {
    let context: TransferContext

    /// The size at which the ratio of decompression starts to be limited. Small images of a single color compress very well.
    private static let ratioFloor = 1_000_000

    func body(
        of message: RequestSender.Response, _ response: ResponseHead, _ reporter: ProgressReporter,
        _ resumption: BodyResumption?, hasRange: Bool
    ) async throws(ImageError) -> Data {
        let limit = context.configuration.maximumBytes.bytes
        let encodings = message.head.headers["Content-Encoding"]
        guard let coding = ContentCoding(encodings) else {
            let name = encodings.joined(separator: ", ").prefix(100)
            throw ImageError(
                .badResponse, stage: .load,
                reason: "the response has the content encoding “\(name)”, which isn't supported")
        }
        try checkFraming(message.head.headers["Transfer-Encoding"])
        let announced = message.head.headers.first(name: "Content-Length").flatMap { Int($0) }
        if let announced, announced > limit { throw .announced(announced, limit: limit) }
        let plan: BodyResumption.Plan
        if let resumption {
            plan = try resumption.plan(
                for: response, announced: announced, isEncoded: coding != .identity, to: message.fields)
        } else {
            if response.statusCode == 206, !hasRange { throw .unaskedPart }
            // The announced length counts the encoded body.
            plan = .init(total: coding == .identity ? announced : nil)
        }
        if let total = plan.total, total > limit { throw .announced(total, limit: limit) }
        if let prefix = plan.prefix { context.record.update { $0.resumedBytes = prefix.count } }

        let start = plan.prefix ?? ArrivingBytes(expected: plan.total)
        var sink = Sink(limit: limit, body: start, reporter: reporter)
        do throws(ImageError) {
            try await receive(message, coding, plan, &sink)
        } catch {
            if coding == .identity, [.connectionLost, .incompleteBody, .timedOut, .cancelled].contains(error.code) {
                resumption?.keep(sink.body, plan)
            }
            throw error
        }
        guard sink.body.count > 0 else {
            throw ImageError(.emptyBody, stage: .load, reason: "the response has no body")
        }
        sink.reporter.finish(sink.body)
        return sink.body.takeData()
    }

    /// Checks the lines of `Transfer-Encoding`. The client library removes the coding `chunked` alone, and would deliver others as the
    /// body.
    private func checkFraming(_ lines: [String]) throws(ImageError) {
        let codings = lines.flatMap { $0.split(separator: ",") }.map { String($0).trimmed.lowercased() }
        let applied = codings.filter { !$0.isEmpty && $0 != "identity" }
        guard applied.isEmpty || applied == ["chunked"] else {
            throw ImageError(
                .badResponse, stage: .load,
                reason: "the response has the transfer coding “\(lines.joined(separator: ", ").prefix(100))”, which is "
                    + "not supported")
        }
    }

    private func receive(
        _ message: RequestSender.Response, _ coding: ContentCoding, _ plan: BodyResumption.Plan, _ sink: inout Sink
    ) async throws(ImageError) {
        sink.reporter.begin(sink.body, expected: plan.total)
        let wireLimit = coding == .identity ? Int.max : Self.wireLimit(sink.limit)
        let decoder = try coding.decoder(limit: wireLimit)
        var received = 0
        do {
            while let pieces = try await message.exchange.pieces() {
                let count = pieces.reduce(0) { $0 + $1.readableBytes }
                context.downloader.countBytes(count)
                context.record.update { $0.receivedBytes += count }
                for piece in pieces {
                    received += piece.readableBytes
                    guard received <= wireLimit else { throw ImageError.bodyTooLarge(sink.limit) }
                    let ratioLimit = decoder == nil ? Int.max : ratioLimit(received)
                    try piece.withUnsafeReadableBytes { bytes in
                        guard let decoder else { return try sink.take(bytes) }
                        try decoder.decode(bytes) { decoded throws(ImageError) in
                            guard decoded.count <= ratioLimit - sink.body.count else {
                                throw ImageError.expandedTooMuch
                            }
                            try sink.take(decoded)
                        }
                    }
                }
                sink.reporter.update(sink.body)
            }
        } catch {
            throw ImageError(
                transferError: error, at: .body(received: sink.body.count, expected: plan.total))
        }
        // A sequence may end rather than throw when its task is canceled.
        if Task.isCancelled { throw .cancelledTransfer }
        if let end = plan.partEnd, sink.body.count > end {
            throw ImageError(
                .badResponse, stage: .load,
                reason: "the rest of an interrupted transfer is longer than announced")
        }
        if let total = plan.total, sink.body.count < total { throw .incomplete(sink.body.count, of: total) }
        try decoder?.finish()
    }

    /// Returns the largest number of compressed bytes for a body within the limit. Compression never adds more than a little, but
    /// compressed data may expand to nothing, or continue after its end.
    private static func wireLimit(_ limit: Int) -> Int {
        let (sum, overflow) = limit.addingReportingOverflow(limit / 64 + 64 * 1_024)
        return overflow ? .max : sum
    }

    /// Returns the largest size of a body, given the number of its compressed bytes so far.
    private func ratioLimit(_ received: Int) -> Int {
        guard let ratio = context.configuration.maximumDecompressionRatio, ratio.isFinite else { return .max }
        let product = Double(received) * max(1, ratio)
        return product < 1e18 ? max(Self.ratioFloor, Int(product)) : .max
    }
}

/// The body that arrives, and its progress.
private struct Sink: ~Copyable {
    let limit: Int
    let body: ArrivingBytes
    var reporter: ProgressReporter

    func take(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        guard bytes.count <= limit - body.count else { throw .bodyTooLarge(limit) }
        guard body.append(bytes) else { throw Self.noMemory(body.count) }
    }

    private static func noMemory(_ count: Int) -> ImageError {
        ImageError(
            .outOfMemory, stage: .load, reason: "there isn't enough memory for a body of more than \(ByteCount(count))")
    }
}

extension ImageError {
    static let unaskedPart = ImageError(
        .badResponse, stage: .load, reason: "the server sent a part of the image, although all of it was requested",
        statusCode: 206)

    fileprivate static func announced(_ size: Int, limit: Int) -> ImageError {
        ImageError(
            .bodyTooLarge, stage: .load,
            // The largest number would be “unlimited”.
            reason: "the server announced \(ByteCount(min(size, .max - 1))), over the limit of \(ByteCount(limit))")
    }
}
#endif
