#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// The public suite of cases for HTTP caches, through a manager and a server on this computer: `scripts/http-cache-tests FOLDER`.
@Suite("The public cases of HTTP caching", .timeLimited, .enabled(if: HTTPCacheSuite.folder != nil))
struct HTTPCacheSuiteTests {
    @Test("Every case that concerns a private cache of images", .capability("HTC-06"))
    func all() async throws {
        let cases = try HTTPCacheSuite.cases()
        #expect(cases.count > 200)
        var lines: [String] = []
        for one in cases {
            let outcome: String
            if let reason = one.reasonToSkip {
                outcome = "n/a\t\(reason)"
            } else {
                outcome = try await HTTPCacheCaseRun(one).outcome()
            }
            lines.append("\(one.suite)\t\(one.id)\t\(one.kind)\t\(outcome)")
        }
        let report = lines.joined(separator: "\n") + "\n"
        if let path = ProcessInfo.processInfo.environment["TINTYPE_HTTP_CACHE_REPORT"] {
            try report.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }
}

enum HTTPCacheSuite {
    static var folder: String? { ProcessInfo.processInfo.environment["TINTYPE_HTTP_CACHE_TESTS"] }

    static func cases() throws -> [HTTPCacheCase] {
        let data = try Data(contentsOf: URL(filePath: (folder ?? "") + "/cache-tests.json"))
        let suites = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        return suites.flatMap { suite in
            (suite["tests"] as? [[String: Any]] ?? []).map { HTTPCacheCase($0, suite: suite["id"] as? String ?? "") }
        }
    }
}

/// One case: the requests of a client, and the answers of the origin.
struct HTTPCacheCase {
    let suite: String
    let id: String
    let kind: String
    let steps: [Step]
    private let isForSharedCaches: Bool

    /// A request, its answer, and what is expected.
    struct Step: Sendable {
        var method = "GET"
        var body: Data?
        var requestHeaders: [(String, Value)] = []
        var responseHeaders: [(String, Value)] = []
        var expectedRequestHeaders: [(String, Value)] = []
        var status: Int?
        var hasEmptyBody = false
        var expectedType: String?
        var wantsStatus = false
        var expectedStatus: Int?
        var filename = ""
        var (isSetup, pauses, disconnects, usesOldDates) = (false, false, false, false)
    }

    enum Value: Sendable {
        case text(String)
        /// Seconds from now.
        case time(Double)

        init(_ value: Any) {
            if let text = value as? String {
                self = .text(text)
            } else {
                self = .time((value as? NSNumber)?.doubleValue ?? 0)
            }
        }
    }

    init(_ test: [String: Any], suite: String) {
        self.suite = suite
        id = test["id"] as? String ?? ""
        kind = test["kind"] as? String ?? "required"
        isForSharedCaches =
            test["cdn_only"] as? Bool == true || test["browser_skip"] as? Bool == true
            || ["cdn-cache-control", "auth"].contains(suite)
        steps = (test["requests"] as? [[String: Any]] ?? []).map { Step($0) }
    }

    /// The reason why the case says nothing of a private cache of images.
    var reasonToSkip: String? {
        if isForSharedCaches || id.contains("s-maxage") || id.contains("smaxage") || id.contains("proxy-revalidate") {
            return "for shared caches"
        }
        if id == "cc-resp-immutable-stale" { return "a mode of a browser's fetch()" }
        if suite == "interim" { return "interim responses aren't passed on" }
        if suite == "headers" || id.hasPrefix("other-age") || id.hasPrefix("other-date")
            || id.hasPrefix("stale-warning") || id == "partial-use-headers"
        {
            return "an image has no header fields"
        }
        if suite == "partial" { return "an image is loaded as a whole" }
        if suite == "conditional-inm" || suite == "conditional-lm" || suite == "conditional-ims",
            steps.contains(where: { $0.requestHeaders.contains { $0.0.lowercased().hasPrefix("if-") } })
        {
            return "the cache answers its manager, not clients with conditions of their own"
        }
        if steps.contains(where: { $0.method == "HEAD" }) { return "images aren't loaded with HEAD" }
        if steps.contains(where: { $0.hasEmptyBody || $0.status == 204 || $0.status == 304 }) {
            return "an image isn't empty"
        }
        if steps.contains(where: { (300..<400).contains($0.status ?? 200) }) { return "redirects are followed" }
        return nil
    }
}

extension HTTPCacheCase.Step {
    init(_ step: [String: Any]) {
        func fields(_ name: String) -> [(String, HTTPCacheCase.Value)] {
            (step[name] as? [Any] ?? []).compactMap { field in
                guard let pair = field as? [Any], pair.count >= 2, let name = pair[0] as? String else { return nil }
                return (name, HTTPCacheCase.Value(pair[1]))
            }
        }
        method = step["request_method"] as? String ?? "GET"
        body = (step["request_body"] as? String).map { Data($0.utf8) }
        requestHeaders = fields("request_headers")
        responseHeaders = fields("response_headers")
        expectedRequestHeaders = fields("expected_request_headers")
        status = (step["response_status"] as? [Any])?.first as? Int
        hasEmptyBody = step.keys.contains("response_body") && (step["response_body"] as? String ?? "").isEmpty
        expectedType = step["expected_type"] as? String
        wantsStatus = step.keys.contains("expected_status")
        expectedStatus = step["expected_status"] as? Int
        filename = step["filename"] as? String ?? ""
        isSetup = step["setup"] as? Bool ?? false
        pauses = step["pause_after"] as? Bool ?? false
        disconnects = step["disconnect"] as? Bool ?? false
        usesOldDates = step["rfc850date"] != nil
    }
}

/// The run of one case with caches and a server of its own. Nobody waits: pauses advance the clock of both.
final class HTTPCacheCaseRun: Sendable {
    private struct State {
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        /// The header fields of each answer.
        var sent: [Int: [(name: String, value: String)]] = [:]
        /// The header fields of each request that came.
        var seen: [Int: OriginRequest] = [:]
    }

    private let state = Lock(State())
    private let id: String
    private let steps: [HTTPCacheCase.Step]

    init(_ one: HTTPCacheCase) { (id, steps) = (one.id, one.steps) }

    /// “passed”, “failed” with a reason, or “setup” with one.
    func outcome() async throws -> String {
        let server = try await OriginServer.start { [self] in answer($0) }
        let folder = try TemporaryDirectory()
        let cache = ImageCache(
            memory: MemoryCache(),
            disk: DiskCache(.init(directory: folder.path + "/cache", minimumFreeSpace: 0)))
        var downloads = ImageDownloader.Configuration()
        let firstStatus = steps.first?.status ?? 200
        downloads.acceptableStatusCodes = Set(200..<500).union([firstStatus])
        var configuration = ImageManager.Configuration()
        configuration.cachePolicy = .http
        configuration.failureLifetime = { _, _ in .zero }
        configuration.date = { [self] in state.withLock { $0.now } }
        let manager = ImageManager(
            cache: cache, loader: ImageDownloader(downloads), coders: AnythingCoder(), configuration: configuration)
        var result = "passed\t"
        for (index, step) in steps.enumerated() {
            if let problem = await run(step, index + 1, server, manager) {
                result = (step.isSetup ? "setup\t" : "failed\t") + "request \(index + 1): \(problem)"
                break
            }
            while manager.hasActiveLoads { await Task.yield() }
            await manager.flush()
            if step.pauses { state.withLock { $0.now += 3 } }
        }
        await manager.shutdown()
        await server.stop()
        return result
    }

    private func run(
        _ step: HTTPCacheCase.Step, _ number: Int, _ server: OriginServer, _ manager: ImageManager
    ) async -> String? {
        var request = ImageRequest(server.url("/\(id)" + (step.filename.isEmpty ? "" : "/\(step.filename)")))
        request.cache.waitsForStore = true
        request.headers["Req-Num"] = String(number)
        for (name, value) in step.requestHeaders {
            let text = text(value)
            request.headers[name] = request.headers[name].map { "\($0), \(text)" } ?? text
        }
        request.method = step.method
        request.body = step.body
        let freshness: Freshness
        do throws(ImageError) {
            freshness = try await manager.data(for: request).freshness
        } catch {
            if step.disconnects, step.expectedStatus == nil { return nil }
            if step.isSetup, step.status != nil, error.code == .badStatus { return nil }
            return step.expectedType == "not_cached" && error.code == .badStatus ? nil : "error \(error.code)"
        }
        if step.disconnects, step.wantsStatus, step.expectedStatus == nil { return "a stale image was used" }
        let isCached =
            switch freshness {
            case .cached, .stale: true
            case .fresh, .notModified, .updated: false
            }
        let seen = state.withLock { $0.seen[number] }
        for (name, value) in step.expectedRequestHeaders where seen?.header(name) != text(value) {
            return "the origin saw \(name): \(seen?.header(name) ?? "nothing")"
        }
        switch step.expectedType {
        case "cached": return isCached ? nil : "was not cached"
        case "not_cached": return isCached ? "was cached" : nil
        case "etag_validated": return seen?.header("If-None-Match") == nil ? "no If-None-Match" : nil
        case "lm_validated": return seen?.header("If-Modified-Since") == nil ? "no If-Modified-Since" : nil
        default: return nil
        }
    }

    private func answer(_ request: OriginRequest) -> OriginResponse {
        guard let number = Int(request.header("Req-Num") ?? ""), steps.indices.contains(number - 1) else {
            return .status(500)
        }
        let step = steps[number - 1]
        var headers = step.responseHeaders.map { (name: $0.0, value: text($0.1, isOld: step.usesOldDates)) }
        if !headers.contains(where: { $0.name.lowercased() == "date" }) {
            headers.append((name: "Date", value: text(.time(0))))
        }
        let previous = state.withLock { state in
            state.seen[number] = request
            state.sent[number] = headers
            return state.sent[number - 1] ?? []
        }
        if step.disconnects {
            var response = OriginResponse()
            response.sendsHead = false
            response.steps = [.close]
            return response
        }
        var response = OriginResponse(Data(id.utf8), status: step.status ?? 200)
        func sent(_ name: String) -> String? { previous.last { $0.name.lowercased() == name }?.value }
        if step.expectedType?.hasSuffix("validated") == true {
            let isCurrent =
                (sent("etag") != nil && request.header("If-None-Match") == sent("etag"))
                || (sent("last-modified") != nil && request.header("If-Modified-Since") == sent("last-modified"))
            response = isCurrent ? OriginResponse(status: 304) : OriginResponse(Data(id.utf8))
        }
        response.headers += headers.filter {
            $0.name.lowercased() != "content-length" && $0.name.lowercased() != "content-encoding"
        }
        return response
    }

    private func text(_ value: HTTPCacheCase.Value, isOld: Bool = false) -> String {
        switch value {
        case .text(let text): return text
        case .time(let seconds):
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = isOld ? "EEEE, dd-MMM-yy HH:mm:ss 'GMT'" : "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return formatter.string(from: state.withLock { $0.now } + seconds)
        }
    }
}

/// Takes any bytes for an image.
private struct AnythingCoder: ImageCoder {
    private static let format = ImageFormat(rawValue: "anything")
    var decodableFormats: Set<ImageFormat> { [Self.format] }
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: Self.format, size: PixelSize(width: 1, height: 1), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(.corruptImage, stage: .decode, reason: "only the bytes count")
    }
}
#endif
