#if HTTP
public import FoundationEssentials

/// A response of an ``OriginServer``, with faults on demand.
///
/// ```swift
/// let responses = [
///     "/image.png": OriginResponse(png, type: "image/png"),
///     "/broken.png": OriginResponse(png).reset(after: 100),  // The connection breaks.
///     "/stalled.png": OriginResponse(png).silence(after: 100),  // No more bytes arrive.
///     "/short.png": OriginResponse(png).announcing(contentLength: 1_000_000),
///     "/slow.png": OriginResponse(chunks: [first, second], gate: gate),
/// ]
/// ```
public struct OriginResponse: Sendable {
    /// The way to mark the end of the body (RFC 9112, section 6).
    public enum Framing: Sendable, Hashable {
        /// A `Content-Length`; `nil` for the true length, unless the header fields have one or the status allows none.
        case contentLength(Int?)
        /// The transfer coding `chunked`.
        case chunked
        /// The end of the connection.
        case untilClose
    }

    /// A step after the head.
    public enum Step: Sendable {
        /// Sends bytes of the body.
        case bytes(Data)
        /// Waits at a gate.
        case wait(OriginGate)
        /// Breaks the connection with a reset, without a TLS closure alert. All HTTP/2 streams of the connection break, too.
        case reset
        /// Closes the connection in an orderly way, with a TLS closure alert. All HTTP/2 streams of the connection close, too.
        case close
        /// Sends nothing more, until the client closes the connection.
        case silence
        /// Resets the HTTP/2 stream with an error code (RFC 9113, section 7). With HTTP/1.1, breaks the connection.
        case resetStream(code: Int)
        /// Announces the end of the HTTP/2 connection with an error code (GOAWAY), and continues. With HTTP/1.1, does nothing.
        ///
        /// If `isAnswered` is false, the client must not expect a response to this request.
        case goAway(code: Int, isAnswered: Bool)
        /// Sends HTTP/2 frames on the connection as they are, even if they are invalid. With HTTP/1.1, does nothing.
        case frames(Data)
    }

    /// The status code.
    public var status = 200
    /// The header fields, in sending order.
    public var headers: [(name: String, value: String)] = []
    /// The statuses of the informational responses (1xx) that are sent before the head.
    public var informational: [Int] = []
    /// False to send no head, because the steps contain every byte of the response.
    public var sendsHead = true
    /// The way to mark the end of the body.
    public var framing = Framing.contentLength(nil)
    /// The steps after the head, in order.
    public var steps: [Step]

    /// Creates a response with a body.
    /// - Parameters:
    ///   - body: the body.
    ///   - status: the status code.
    ///   - type: the media type; `nil` for none.
    ///   - headers: further header fields.
    public init(_ body: Data = Data(), status: Int = 200, type: String? = nil, headers: [String: String] = [:]) {
        self.status = status
        self.headers = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        if let type { self.headers.append((name: "Content-Type", value: type)) }
        steps = body.isEmpty ? [] : [.bytes(body)]
    }

    /// Creates a response whose body is sent in chunks.
    /// - Parameters:
    ///   - chunks: the chunks, each written separately.
    ///   - gate: a gate where each chunk waits; `nil` for none.
    ///   - type: the media type; `nil` for none.
    public init(chunks: [Data], gate: OriginGate? = nil, type: String? = nil) {
        self.init(type: type)
        for chunk in chunks {
            if let gate { steps.append(.wait(gate)) }
            steps.append(.bytes(chunk))
        }
    }

    /// Returns a response without a body.
    /// - Parameter status: the HTTP status.
    public static func status(_ status: Int) -> OriginResponse { OriginResponse(status: status) }

    /// Returns a response that redirects the client.
    /// - Parameters:
    ///   - location: the target, which may be relative.
    ///   - status: the status code.
    public static func redirect(to location: String, status: Int = 302) -> OriginResponse {
        OriginResponse(status: status, headers: ["Location": location])
    }

    /// The number of bytes that are sent of the body.
    var bodyBytes: Int {
        steps.reduce(0) { count, step in
            if case .bytes(let data) = step { count + data.count } else { count }
        }
    }

    /// The length that is added to the header fields; `nil` for none.
    var addedLength: Int? {
        guard case .contentLength(let announced) = framing else { return nil }
        // A 204 may not have a length (RFC 9110, section 8.6), and a 304 needs none.
        let hasNone = [204, 304].contains(status) || headers.contains { $0.name.lowercased() == "content-length" }
        return announced ?? (hasNone ? nil : bodyBytes)
    }

    /// The bytes of the body that are sent.
    public var body: Data {
        steps.reduce(into: Data()) { body, step in
            if case .bytes(let data) = step { body.append(data) }
        }
    }

    /// Returns the same response with the transfer coding `chunked`, which announces no length.
    public func chunked() -> OriginResponse { with { $0.framing = .chunked } }

    /// Returns the same response with another announced length, which may be wrong.
    /// - Parameter contentLength: the announced length, in bytes.
    public func announcing(contentLength: Int) -> OriginResponse {
        with { response in
            response.headers.removeAll { $0.name.lowercased() == "content-length" }
            response.framing = .contentLength(contentLength)
        }
    }

    /// Returns the same response with another header field.
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - value: the value of the field.
    public func header(_ name: String, _ value: String) -> OriginResponse {
        with { $0.headers.append((name: name, value: value)) }
    }

    /// Returns a response that resets the connection after a number of bytes of the body, and after the gate, if any.
    ///
    /// A reset discards bytes that haven't arrived yet. To make sure that they arrive, open the gate afterwards.
    /// - Parameters:
    ///   - count: the largest number of bytes of the body that the client receives.
    ///   - gate: a gate to wait at first; `nil` not to wait.
    public func reset(after count: Int, gate: OriginGate? = nil) -> OriginResponse { cut(after: count, gate, .reset) }

    /// Returns a response that closes the connection after a number of bytes of the body, and after the gate, if any.
    /// - Parameters:
    ///   - count: the number of bytes of the body that are sent.
    ///   - gate: a gate to wait at first; `nil` not to wait.
    public func close(after count: Int, gate: OriginGate? = nil) -> OriginResponse { cut(after: count, gate, .close) }

    /// Returns a response that stops after a number of bytes of the body. The connection stays open.
    /// - Parameter count: the number of bytes of the body that are sent.
    public func silence(after count: Int) -> OriginResponse { cut(after: count, nil, .silence) }

    /// Cuts the body. The announced length stays the length of the whole body.
    private func cut(after count: Int, _ gate: OriginGate?, _ end: Step) -> OriginResponse {
        with { response in
            let whole = response.body
            if let length = response.addedLength { response.framing = .contentLength(length) }
            response.steps = count > 0 ? [.bytes(whole.prefix(count))] : []
            if let gate { response.steps.append(.wait(gate)) }
            response.steps.append(end)
        }
    }

    private func with(_ change: (inout OriginResponse) -> Void) -> OriginResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
#endif
