#if HTTP
internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import TintypeLoading

/// The phase of a transfer's failure.
enum TransferPhase: Sendable {
    case request(hasProxy: Bool = false)
    case body(received: Int, expected: Int?)
}

extension ImageError {
    /// Creates an error from an error of the client library.
    init(transferError error: any Error, at phase: TransferPhase) {
        if let error = error as? ImageError {
            self = error
            return
        }
        if Task.isCancelled || error is CancellationError {
            self = .cancelledTransfer
            return
        }
        switch error {
        case let error as BrokenConnection: self = .closed(phase, error)
        case is WrongCertificate:
            self = .load(
                .connectionFailed, "the secure connection failed: the server's certificate is for a different host",
                error)
        case let error as HTTPClientError: self = .client(error, phase)
        case let error as HTTPParserError where error == .invalidEOFState: self = .closed(phase, error)
        case let error as HTTPParserError:
            self = .load(.badResponse, "the response isn't valid HTTP: \(error)", error)
        case let error as HTTP2Violation:
            self = .load(
                .connectionLost,
                "the downloader closed the connection, because the server violated HTTP/2 (\(error.code))", error)
        case is HTTP1Required: self = .load(.badResponse, "the server requires HTTP/1.1 instead of HTTP/2", error)
        case is EarlyResponse: self = .load(.badResponse, "the server sent a response before the request", error)
        case let error as NIOHTTP2Errors.StreamClosed:
            self = .closed(
                phase, error, "the HTTP/2 stream was closed with the error code \(error.errorCode.networkCode)")
        case let error as any NIOHTTP2Error:
            self = .closed(phase, error, "the HTTP/2 connection failed with \(type(of: error))")
        case ChannelError.connectTimeout: self = .load(.timedOut, "connecting took too long", error)
        // A kept connection that closed at the moment when it was reused.
        case is ChannelError: self = .closed(phase, error)
        case let error as IOError: self = .system(error, phase)
        default: self = .other(error, phase)
        }
    }

    /// True if a server didn't answer the attempt to connect.
    var isConnectTimeout: Bool {
        guard code == .timedOut else { return false }
        if case HTTPClientError.connectTimeout? = underlying as? HTTPClientError { return true }
        if case ChannelError.connectTimeout? = underlying as? ChannelError { return true }
        return false
    }

    static let cancelledTransfer = ImageError(.cancelled, stage: .load, reason: "the load was canceled")

    /// The reason where the resolver has no address, or can't be asked.
    static let noAddress = "no address was found for the host name"

    static let impossiblePort = ImageError(
        .invalidURL, stage: .load, reason: "the port of the URL isn't between 0 and 65535")

    static let impossibleHost = ImageError(
        .invalidURL, stage: .load,
        reason:
            "no host can have the name or address in the URL; check it, and for a name in other letters than ASCII, that libidn2 is installed"
    )

    static func bodyTooLarge(_ limit: Int) -> ImageError {
        load(.bodyTooLarge, "the body is larger than the limit of \(ByteCount(limit))", nil)
    }

    static func incomplete(_ received: Int, of expected: Int, _ error: (any Error)? = nil) -> ImageError {
        load(.incompleteBody, "only \(received) of \(expected) bytes arrived", error)
    }

    /// Creates an error from an error thrown by a closure of the program, in its task: a `CancellationError` of something else that the
    /// closure waited for cancels nothing here.
    static func refused(_ code: Code, by what: String, _ error: any Error) -> ImageError {
        if Task.isCancelled { return .cancelledTransfer }
        return load(code, "\(what) failed: \(error)", error)
    }

    /// Creates an error from an error whose module cannot be imported here, by the name of its type and its text.
    private static func other(_ error: any Error, _ phase: TransferPhase) -> ImageError {
        let kind = String(describing: type(of: error))
        let text = String(describing: error)
        let code = phase.isRequest ? Code.connectionFailed : .connectionLost
        if kind.contains("SSL") || kind.contains("TLS") {
            return load(code, "the secure connection failed: \(secureMessage(in: text))", error)
        }
        // The client library has no other name for the end of a connection that isn't ready.
        if kind == "NoResult" {
            return load(code, "the server, or its proxy, closed the connection before it was ready", error)
        }
        if String(reflecting: type(of: error)).hasPrefix("NIOSOCKS.") {
            return load(code, "the SOCKS proxy refused the connection: \(text)", error)
        }
        if kind == "NIOConnectionError" {
            if text.hasPrefix("DNS error") {
                return load(code, noAddress + (phase.hasProxy ? " of the proxy" : ""), error)
            }
            // The host has several addresses. The text has the error of each.
            return load(code, "\(phase.attempt) failed: \(lastSystemMessage(in: text) ?? "no address answered")", error)
        }
        return load(code, text, error)
    }

    /// Returns the messages of BoringSSL in a text that also has paths of the machine on which the library was built; or else the text.
    private static func secureMessage(in text: String) -> String {
        let mark = "OPENSSL_internal:"
        let messages = text.ranges(of: mark).map { range in
            let name = text[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            return String(name.map { $0 == "_" ? " " : $0 }).lowercased()
        }
        return messages.isEmpty ? text : messages.joined(separator: ", ")
    }

    /// Returns the system's message for the last `errno: 111` in a text.
    private static func lastSystemMessage(in text: String) -> String? {
        guard let mark = text.ranges(of: "errno: ").last else { return nil }
        return Int32(text[mark.upperBound...].prefix { $0.isNumber }).map { String(cString: strerror($0)) }
    }

    private static func client(_ error: HTTPClientError, _ phase: TransferPhase) -> ImageError {
        // The type is spelled out, because `ImageError.Code` has cases of the same names that match any error.
        switch error {
        case HTTPClientError.cancelled, HTTPClientError.requestStreamCancelled: return .cancelledTransfer
        case HTTPClientError.alreadyShutdown: return load(.loadingDisallowed, "the downloader is shut down", error)
        case HTTPClientError.remoteConnectionClosed: return closed(phase, error)
        case HTTPClientError.readTimeout, HTTPClientError.writeTimeout, HTTPClientError.deadlineExceeded:
            return load(.timedOut, "no data arrived within the time limit", error)
        case HTTPClientError.connectTimeout, HTTPClientError.tlsHandshakeTimeout,
            HTTPClientError.getConnectionFromPoolTimeout, HTTPClientError.socksHandshakeTimeout,
            HTTPClientError.httpProxyHandshakeTimeout:
            return load(.timedOut, "connecting took too long", error)
        case HTTPClientError.invalidProxyResponse:
            return load(.connectionFailed, "the proxy refused the connection", error)
        case HTTPClientError.proxyAuthenticationRequired:
            return load(.connectionFailed, "the proxy requires a user name and a password", error)
        case HTTPClientError.invalidURL, HTTPClientError.emptyHost, HTTPClientError.emptyScheme:
            return load(.invalidURL, "the URL can't be requested: \(error.shortDescription)", error)
        default: break
        }
        // The others concern the request, such as invalid header fields, or the proxy. They may have the values of fields, which may be
        // secret.
        return load(phase.isRequest ? .badRequest : .badResponse, error.shortDescription, nil)
    }

    private static func system(_ error: IOError, _ phase: TransferPhase) -> ImageError {
        let reason = String(cString: strerror(error.errnoCode))
        switch error.errnoCode {
        case ECONNRESET, EPIPE, ECONNABORTED:
            return load(.connectionLost, "the connection was lost\(phase.progress): \(reason)", error)
        case ETIMEDOUT: return load(.timedOut, "connecting took too long: \(reason)", error)
        default:
            return phase.isRequest
                ? load(.connectionFailed, "\(phase.attempt) failed: \(reason)", error)
                : load(.connectionLost, "the connection was lost\(phase.progress): \(reason)", error)
        }
    }

    /// The server closed the connection before the end.
    private static func closed(
        _ phase: TransferPhase, _ error: any Error, _ event: String = "the server closed the connection"
    ) -> ImageError {
        if case .body(let received, let expected?) = phase, received < expected {
            return incomplete(received, of: expected, error)
        }
        return load(.connectionLost, "\(event)\(phase.progress)", error)
    }

    private static func load(_ code: Code, _ reason: String, _ error: (any Error)?) -> ImageError {
        ImageError(code, stage: .load, reason: reason, underlying: error)
    }
}

extension TransferPhase {
    fileprivate var isRequest: Bool {
        if case .request = self { true } else { false }
    }

    fileprivate var hasProxy: Bool {
        if case .request(hasProxy: true) = self { true } else { false }
    }

    fileprivate var attempt: String { hasProxy ? "the connection to the proxy" : "the connection" }

    fileprivate var progress: String {
        switch self {
        case .request: " before the response"
        case .body(let received, let expected?): " after \(received) of \(expected) bytes"
        case .body(let received, nil): " after \(received) bytes"
        }
    }
}
#endif
