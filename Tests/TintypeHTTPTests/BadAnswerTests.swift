#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

/// An answer that must end in a certain error.
struct BadAnswer: Sendable, CustomTestStringConvertible {
    let name: String
    let code: ImageError.Code
    var configuration = ImageDownloader.Configuration()
    let answer: @Sendable (OriginRequest) throws -> OriginResponse

    var testDescription: String { name }

    /// The bytes of the answer, after which the connection closes, or falls silent.
    static func raw(_ text: String, then end: OriginResponse.Step = .close) -> OriginResponse {
        var response = OriginResponse()
        response.sendsHead = false
        response.steps = [.bytes(Data(text.utf8)), end]
        return response
    }

    /// A configuration that gives up soon. The server is silent until then.
    private static let impatient = ImageDownloader.Configuration(timeout: .milliseconds(200))

    static let all = [
        BadAnswer(name: "a length that is no number", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nabc")
        },
        BadAnswer(name: "a negative length", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc")
        },
        BadAnswer(name: "a length beyond 64 bits", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nabc")
        },
        BadAnswer(name: "two different lengths", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc")
        },
        BadAnswer(name: "a length and chunks", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        },
        BadAnswer(name: "a body that is compressed for the transfer", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc")
        },
        BadAnswer(name: "two codings for the transfer", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        },
        BadAnswer(name: "a body that is as it is for the transfer", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc")
        },
        BadAnswer(name: "a field on two lines", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 3\r\n\r\nabc")
        },
        BadAnswer(name: "lines without carriage returns", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\nContent-Length: 3\n\nabc")
        },
        BadAnswer(name: "the protocol in lower case", code: .badResponse) { _ in
            raw("http/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
        },
        BadAnswer(name: "two equal lengths", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc")
        },
        BadAnswer(name: "white space behind the size of a chunk", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n")
        },
        BadAnswer(name: "the largest length that there is", code: .bodyTooLarge) { _ in
            raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc")
        },
        BadAnswer(name: "a chunk whose size is no number", code: .badResponse) { _ in
            raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n")
        },
        BadAnswer(name: "a flood of header fields", code: .badResponse) { _ in
            raw(
                "HTTP/1.1 200 OK\r\n"
                    + (0..<20_000).map { "X-\($0): \(String(repeating: "y", count: 40))\r\n" }.joined())
        },
        BadAnswer(name: "a flood of informational responses", code: .badResponse) { _ in
            raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20_000))
        },
        BadAnswer(name: "endless redirects", code: .badRedirect) { .redirect(to: $0.path + "a?token=s3cret") },
        BadAnswer(name: "a redirect in a circle", code: .badRedirect) { .redirect(to: $0.target) },
        BadAnswer(name: "a redirect to a file", code: .badRedirect) { _ in .redirect(to: "file:///etc/passwd") },
        BadAnswer(name: "a redirect to a script", code: .badRedirect) { _ in .redirect(to: "javascript:alert(1)") },
        BadAnswer(
            name: "a chunked body that never ends", code: .bodyTooLarge,
            configuration: .init(maximumBytes: .kilobytes(10))
        ) { _ in
            var response = OriginResponse(Data(count: 100_000)).chunked()
            response.steps.append(.silence)
            return response
        },
        BadAnswer(name: "a head that never ends", code: .timedOut, configuration: impatient) { _ in
            raw("HTTP/1.1 200 OK\r\nX-A: ", then: .silence)
        },
        BadAnswer(name: "no head", code: .timedOut, configuration: impatient) { _ in raw("", then: .silence) },
        BadAnswer(name: "a body that stops", code: .timedOut, configuration: impatient) { _ in
            OriginResponse(bytes).silence(after: 10)
        },
        BadAnswer(
            name: "a compressed bomb", code: .bodyTooLarge, configuration: .init(maximumBytes: .megabytes(1))
        ) { _ in OriginResponse(try gzip(Data(count: 20_000_000)), headers: ["Content-Encoding": "gzip"]) },
        BadAnswer(
            name: "a bomb within the limit of bytes", code: .bodyTooLarge,
            configuration: .init(maximumDecompressionRatio: 50)
        ) { _ in OriginResponse(try gzip(Data(count: 20_000_000)), headers: ["Content-Encoding": "gzip"]) },
        BadAnswer(name: "a coding within a coding", code: .badResponse) { _ in
            OriginResponse(bytes, headers: ["Content-Encoding": "gzip, gzip"])
        },
        BadAnswer(
            name: "a name of this computer", code: .loadingDisallowed,
            configuration: .init(networkGuard: NetworkGuard(ports: nil))
        ) { _ in OriginResponse(bytes) },
        BadAnswer(name: "a wait of a year", code: .badStatus, configuration: .init(retry: RetryPolicy())) { _ in
            OriginResponse(status: 503, headers: ["Retry-After": "31536000"])
        },
        BadAnswer(name: "a part that was not asked for", code: .badResponse) { _ in
            OriginResponse(bytes, status: 206).header("Content-Range", "bytes 0-4999/5000")
        },
        BadAnswer(name: "an end without a response", code: .connectionLost) { _ in raw("") },
        BadAnswer(name: "no body", code: .emptyBody) { _ in OriginResponse() },
    ]
}

@Suite("Bad answers", .timeLimited)
struct BadAnswerTests {
    @Test(
        "Every bad answer ends in one typed error, without the secrets of the URL", .capability("3.8"),
        arguments: BadAnswer.all)
    func answer(_ bad: BadAnswer) async throws {
        let server = try await OriginServer.start { request in
            (try? bad.answer(request)) ?? .status(599)
        }
        let downloader = ImageDownloader(bad.configuration)
        let url = server.url("/a?token=s3cret", host: "localhost", user: "u:s3cret")
        let error = try await failure(downloader, LoadRequest(url: url))
        #expect(error.code == bad.code, "\(error)")
        #expect(error.stage == .load && error.source == "http://localhost:\(server.port)/a?token=…")
        #expect(error.recoverySuggestion != nil)
        #expect(!error.reason.contains("s3cret") && !error.reason.isEmpty && !error.reason.contains("unlimited"))
        #expect(downloader.statistics.failed == 1 && downloader.statistics.active == 0)
    }
}
#endif
