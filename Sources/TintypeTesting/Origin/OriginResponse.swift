#if HTTP
public import FoundationEssentials

/// An answer of an ``OriginServer``, with the faults that a test asks for.
///
/// ```swift
/// OriginResponse(png, type: "image/png")
/// OriginResponse(png).reset(after: 100)          // the connection breaks
/// OriginResponse(png).silence(after: 100)        // nothing more comes, and the connection stays
/// OriginResponse(png).announcing(contentLength: 1_000_000)
/// OriginResponse(chunks: [first, second], gate: gate)
/// ```
public struct OriginResponse: Sendable {
    /// How the end of the body is told (RFC 9112, section 6).
    public enum Framing: Sendable, Hashable {
        /// By a `Content-Length`; `nil` is the true length.
        case contentLength(Int?)
        case chunked
        /// By closing the connection.
        case untilClose
    }

    /// What is done after the head, in order.
    public enum Step: Sendable {
        case bytes(Data)
        case wait(OriginGate)
        /// Breaks the connection with a reset.
        case reset
        /// Closes the connection in an orderly way.
        case close
        /// Sends nothing more, until the client closes the connection.
        case silence
    }

    public var status = 200
    public var headers: [(name: String, value: String)] = []
    /// Whether a head is sent at all; without, the steps say every byte.
    public var sendsHead = true
    public var framing = Framing.contentLength(nil)
    public var steps: [Step]

    /// An answer of the given body.
    public init(_ body: Data = Data(), status: Int = 200, type: String? = nil, headers: [String: String] = [:]) {
        self.status = status
        self.headers = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        if let type { self.headers.append((name: "Content-Type", value: type)) }
        steps = body.isEmpty ? [] : [.bytes(body)]
    }

    /// An answer whose body comes in pieces, each written by itself; with a gate, each waits there before it is sent.
    public init(chunks: [Data], gate: OriginGate? = nil, type: String? = nil) {
        self.init(type: type)
        for chunk in chunks {
            if let gate { steps.append(.wait(gate)) }
            steps.append(.bytes(chunk))
        }
    }

    /// An answer that is only a status.
    public static func status(_ status: Int) -> OriginResponse { OriginResponse(status: status) }

    /// Sends the client elsewhere; `location` may be relative.
    public static func redirect(to location: String, status: Int = 302) -> OriginResponse {
        OriginResponse(status: status, headers: ["Location": location])
    }

    /// The body, as far as it is sent.
    public var body: Data {
        steps.reduce(into: Data()) { body, step in
            if case .bytes(let data) = step { body.append(data) }
        }
    }

    /// The same answer with transfer coding `chunked`, which announces no length.
    public func chunked() -> OriginResponse { with { $0.framing = .chunked } }

    /// The same answer, announcing a length that may be a lie.
    public func announcing(contentLength: Int) -> OriginResponse { with { $0.framing = .contentLength(contentLength) } }

    /// The same answer with one more header field.
    public func header(_ name: String, _ value: String) -> OriginResponse {
        with { $0.headers.append((name: name, value: value)) }
    }

    /// Breaks the connection with a reset after so many bytes of the body, and after the gate, if there is one.
    public func reset(after count: Int, gate: OriginGate? = nil) -> OriginResponse { cut(after: count, gate, .reset) }

    /// Closes the connection after so many bytes of the body, and after the gate, if there is one.
    public func close(after count: Int, gate: OriginGate? = nil) -> OriginResponse { cut(after: count, gate, .close) }

    /// Falls silent after so many bytes of the body; the connection stays open.
    public func silence(after count: Int) -> OriginResponse { cut(after: count, nil, .silence) }

    /// The announced length stays that of the whole body.
    private func cut(after count: Int, _ gate: OriginGate?, _ end: Step) -> OriginResponse {
        with { response in
            let whole = response.body
            if response.framing == .contentLength(nil) { response.framing = .contentLength(whole.count) }
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
