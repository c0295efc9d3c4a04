#if HTTP
import Foundation
import InMemoryTracing
import Logging
import MetricsTestKit
import TestSupport
import Testing
import Tintype
import TintypeTesting
import Tracing

/// All that a program's log, meters, tracer, and observers are told.
private final class Ears: Sendable {
    let heard = Watched<[String]>([])
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()

    func hear(_ value: Any) { heard.update { $0 += [String(describing: value), String(reflecting: value)] } }

    var logger: Logger {
        Logger(label: "test") { [heard] _ in Handler { line in heard.update { $0.append(line) } } }
    }

    /// The texts of all meters and spans, too.
    var all: [String] {
        var texts = heard.value
        for span in tracer.finishedSpans {
            texts += [span.operationName, "\(span.attributes)", "\(span.events)", "\(span.links)"]
            texts += span.errors.map { "\($0)" }
            span.attributes.forEach { texts += ["\($0) \($1)"] }
        }
        for counter in metrics.counters { texts.append("\(counter.label) \(counter.dimensions)") }
        for timer in metrics.timers { texts.append("\(timer.label) \(timer.dimensions)") }
        for recorder in metrics.recorders { texts.append("\(recorder.label) \(recorder.dimensions)") }
        for meter in metrics.meters { texts.append("\(meter.label) \(meter.dimensions)") }
        return texts
    }

    private struct Handler: LogHandler {
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        let write: @Sendable (String) -> Void

        init(write: @escaping @Sendable (String) -> Void) { self.write = write }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            write("\(event.message) \(event.metadata ?? [:]) \(event.error.map { "\($0)" } ?? "")")
        }
    }
}

@Suite("Secrets in logs, errors, events, metrics, and traces", .timeLimited)
struct SecretTests {
    /// Every secret has this word in it.
    private static let word = "s3cr3t"

    private func server() async throws -> OriginServer {
        let image = try Gradients.data(.png)
        let word = Self.word
        return try await OriginServer.start { request in
            switch request.path {
            case "/good": OriginResponse(image, headers: ["Set-Cookie": "session=\(word)", "ETag": "\"\(word)\""])
            case "/moved": .redirect(to: "/good?X-Amz-Signature=\(word)")
            case "/missing": .redirect(to: "/none?X-Amz-Signature=\(word)#token=\(word)")
            case "/foreign": .redirect(to: "ftp://me:\(word)@127.0.0.1/?token=\(word)")
            case "/circle": .redirect(to: "/circle?token=\(word)")
            case "/refused": .redirect(to: "http://me:\(word)@127.0.0.1:1/?token=\(word)")
            case "/denied":
                OriginResponse(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"\(word)\""])
            case "/broken": OriginResponse(image, headers: ["Set-Cookie": "a=\(word)"]).close(after: 50)
            case "/corrupt": OriginResponse(Data(image.prefix(60)), headers: ["Set-Cookie": "a=\(word)"])
            case "/page": OriginResponse(Data("<html>".utf8), type: "text/html")
            case "/busy": .status(503)
            default: .status(404)
            }
        }
    }

    @Test("Neither passwords, tokens, cookies, nor signed queries are told, however a load ends", .capability("OBS-01"))
    func everyEnding() async throws {
        let server = try await server()
        let ears = Ears()
        let word = Self.word
        let downloader = ImageDownloader(
            .init(
                headers: ["X-Api-Key": word], requestModifier: { ears.hear($0) }, responseModifier: { ears.hear($0) },
                headerProvider: { _, fields in
                    var fields = fields
                    fields["X-Token"] = word
                    return fields
                }, retry: RetryPolicy(maximumAttempts: 2, baseDelay: .zero),
                circuitBreaker: CircuitBreakerPolicy(failureThreshold: 3), cookies: SessionCookies(),
                credentials: { challenge in
                    ears.hear(challenge)
                    return .basic(user: "me", password: word)
                }, observer: { ears.hear($0) }))
        var configuration = ImageManager.Configuration()
        configuration.logger = ears.logger
        configuration.metrics = ears.metrics
        configuration.tracer = ears.tracer
        let manager = ImageManager(
            cache: ImageCache(), loader: downloader, coders: ImageCoders.default, configuration: configuration)
        var failed = 0
        let paths = [
            "/good", "/moved", "/missing", "/foreign", "/circle", "/refused", "/denied", "/broken", "/corrupt", "/page",
            "/busy", "/busy", "/busy",
        ]
        for path in paths {
            let url = server.url(
                "\(path)?X-Amz-Signature=\(word)&token=\(word)#access_token=\(word)", user: "me:\(word)")
            var request = ImageRequest(
                url, headers: ["Authorization": "Bearer \(word)", "Cookie": word, "Referer": "http://a/?t=\(word)"])
            request.cache.key = path == "/page" ? "key?token=\(word)" : nil
            ears.hear(request)
            do throws(ImageError) {
                let result = try await manager.load(request)
                ears.hear(result)
                ears.hear(result.metrics)
            } catch {
                failed += 1
                ears.hear(error)
                if let underlying = error.underlying { ears.hear(underlying) }
                if let response = error.response { ears.hear(response) }
            }
        }
        // A remembered failure, a cancelled load, and URLs that can't be loaded.
        for text in [
            "nothing://me:\(word)@h/?token=\(word)", "http://me:\(word)@/?token=\(word)", "http://h:99999/?t=\(word)",
        ] {
            let url = try #require(URL(string: text))
            do { _ = try await manager.image(for: url) } catch { ears.hear(error) }
        }
        let cancelled = Task { try await manager.image(for: server.url("/none?token=\(word)", user: "me:\(word)")) }
        cancelled.cancel()
        do { _ = try await cancelled.value } catch { ears.hear(error) }
        ears.hear(HTTPCredential.basic(user: "me", password: word))
        ears.hear(HTTPCredential.bearer(token: word))
        ears.hear(ProxyOptions.server(ProxyServer(host: "h", port: 80, user: "me", password: word)))
        ears.hear(manager.statistics)
        ears.hear(downloader.statistics)

        #expect(failed == paths.count - 2)
        #expect(ears.heard.value.count > 100 && !ears.tracer.finishedSpans.isEmpty && !ears.metrics.counters.isEmpty)
        for text in ears.all { #expect(!text.contains(word), "\(text)") }
    }

    @Test("An event gives its URL without credentials")
    func eventURL() async throws {
        let server = try await server()
        let urls = Watched<[URL]>([])
        let downloader = ImageDownloader(
            .init(observer: { if case .started(_, let url) = $0 { urls.update { $0.append(url) } } }))
        _ = try await downloader.load(LoadRequest(url: server.url("/good?a=1", user: "me:\(Self.word)")))
        #expect(urls.value == [server.url("/good?a=1")])
    }
}
#endif
