#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

/// A server of one body that understands ranges, and interrupts the first transfers.
final class RangeServer: Sendable {
    struct State {
        var body: Data
        var tag: String? = "\"v1\""
        /// The numbers of bytes after which transfers end, in order.
        var cuts: [Int] = []
        /// Changes the answers to range requests.
        var falsify: (@Sendable (OriginResponse) -> OriginResponse)?
    }

    let state: Watched<State>
    let server: OriginServer

    init(_ body: Data, cuts: [Int] = [], tag: String? = "\"v1\"", extra: [String: String] = [:]) async throws {
        let state = Watched(State(body: body, tag: tag, cuts: cuts))
        self.state = state
        server = try await OriginServer.start { request in
            let (now, cut) = state.update { state -> (State, Int?) in
                (state, state.cuts.isEmpty ? nil : state.cuts.removeFirst())
            }
            let tags = now.tag.map { ["ETag": $0] } ?? [:]
            let fields = tags.merging(extra) { $1 }
            var response = OriginResponse(now.body, headers: fields)
            let matches = request.header("If-Range") == now.tag
            if let range = request.header("Range"), matches, let first = Int(range.dropFirst(6).dropLast()) {
                response = OriginResponse(now.body.dropFirst(first), status: 206, headers: fields)
                    .header("Content-Range", "bytes \(first)-\(now.body.count - 1)/\(now.body.count)")
                if let falsify = now.falsify { response = falsify(response) }
            }
            return cut.map { response.close(after: $0) } ?? response
        }
    }

    var url: URL { server.url("/a") }
    var ranges: [String?] { server.requests.map { $0.header("Range") } }
}

private let retrying = RetryPolicy(maximumAttempts: 5, baseDelay: .zero)

/// A store with a single cookie, which names the user.
private struct UserCookie: CookieStoring {
    let user: Watched<String>

    func cookies(for url: URL) -> String? { user.value }
    func store(_ fields: [String], from url: URL) {}
}

@Suite("Interrupted downloads", .timeLimited)
struct ResumptionTests {
    @Test("An interrupted transfer continues with the bytes that are missing", .capability("3.11"))
    func continues() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000, 500])
        let downloader = ImageDownloader(.init(retry: retrying))
        let reports = Reports()
        let loaded = try await downloader.load(reports.request(origin.url))
        #expect(loaded.data == bytes && loaded.statusCode == 200)
        #expect(loaded.headers["Content-Range"] == nil && loaded.headers["Content-Length"] == "5000")
        #expect(origin.ranges == [nil, "bytes=1000-", "bytes=1500-"])
        let last = try #require(origin.server.requests.last)
        #expect(last.header("If-Range") == "\"v1\"" && last.header("Accept-Encoding") == "identity")
        #expect(loaded.transfer?.resumedBytes == 1_500 && loaded.transfer?.receivedBytes == 5_000)
        // The reports continue where they ended, so that a progressive decoder sees every byte once.
        let all = reports.all.value
        #expect(all.reduce(into: Data()) { $0 += $1.chunk } == bytes)
        #expect(
            all.map(\.receivedBytes) == all.map(\.receivedBytes).sorted()
                && all.last?.expectedBytes == all.last?.receivedBytes)
    }

    @Test("A transfer that starts over after all has no bytes of an earlier one in its metrics", .capability("3.11"))
    func restartedMetrics() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000, 500])
        let state = origin.state
        state.update {
            $0.falsify = { response in
                state.update { ($0.tag, $0.falsify) = ("\"v2\"", nil) }
                return response
            }
        }
        let downloader = ImageDownloader(.init(retry: retrying))
        let loaded = try await downloader.load(LoadRequest(url: origin.url))
        #expect(loaded.data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", "bytes=1500-"])
        #expect(loaded.transfer?.resumedBytes == 0 && loaded.transfer?.receivedBytes == 6_500)
    }

    @Test("A rest that doesn't repeat the fields of the image completes it (RFC 9110, section 15.3.7)")
    func bareRest() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000], extra: ["Content-Type": "image/png"])
        origin.state.update {
            $0.falsify = { response in
                var response = response
                response.headers.removeAll { $0.name != "Content-Range" }
                return response
            }
        }
        let downloader = ImageDownloader(.init(acceptableContentTypes: ["image/png"], retry: retrying))
        let loaded = try await downloader.load(LoadRequest(url: origin.url))
        #expect(loaded.data == bytes && loaded.validators == CacheValidators(entityTag: "\"v1\""))
        #expect(origin.ranges == [nil, "bytes=1000-"])
    }

    @Test("A later load continues, too, with the bytes that arrived before", .capability("3.11"))
    func laterLoad() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let downloader = ImageDownloader()
        #expect(try await failure(downloader, LoadRequest(url: origin.url)).code == .incompleteBody)
        let reports = Reports()
        #expect(try await downloader.load(reports.request(origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-"])
        #expect(reports.all.value.reduce(into: Data()) { $0 += $1.chunk } == bytes)
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", nil])
    }

    @Test("A cancelled transfer continues, too", .capability("3.11"))
    func cancelled() async throws {
        let server = try await OriginServer.start { request in
            guard request.header("Range") == nil else {
                return OriginResponse(bytes.dropFirst(100), status: 206, headers: ["ETag": "\"1\""])
                    .header("Content-Range", "bytes 100-4999/5000")
            }
            return OriginResponse(bytes, headers: ["ETag": "\"1\""]).silence(after: 100)
        }
        let downloader = ImageDownloader()
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        let task = Task { try await failure(downloader, request) }
        try await reports.waitForBytes(100)
        task.cancel()
        #expect(try await task.value.isCancellation)
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
    }

    @Test("Bytes that changed meanwhile are loaded from their beginning", .capability("3.11"))
    func changed() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let downloader = ImageDownloader()
        _ = try await failure(downloader, LoadRequest(url: origin.url))
        let other = Data(bytes.reversed())
        origin.state.update { ($0.body, $0.tag) = (other, "\"v2\"") }
        let reports = Reports()
        #expect(try await downloader.load(reports.request(origin.url)).data == other)
        #expect(origin.ranges == [nil, "bytes=1000-"])
        #expect(reports.all.value.reduce(into: Data()) { $0 += $1.chunk } == other)
    }

    @Test(
        "Bytes without a strong validator are never joined",
        arguments: [nil, "W/\"v1\"", "v1", "\"a\", \"b\"", "\""] as [String?])
    func noValidator(_ tag: String?) async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000], tag: tag)
        #expect(try await ImageDownloader(.init(retry: retrying)).load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, nil])
    }

    @Test("A server that sends no parts, or compresses, gets no request for a part")
    func noParts() async throws {
        let none = try await RangeServer(bytes, cuts: [1_000], extra: ["Accept-Ranges": "none"])
        #expect(try await ImageDownloader(.init(retry: retrying)).load(LoadRequest(url: none.url)).data == bytes)
        #expect(none.ranges == [nil, nil])
        let packed = try await RangeServer(try gzip(bytes), cuts: [20], extra: ["Content-Encoding": "gzip"])
        #expect(try await ImageDownloader(.init(retry: retrying)).load(LoadRequest(url: packed.url)).data == bytes)
        #expect(packed.ranges == [nil, nil])
    }

    @Test(
        "A wrong part is an error, and is never joined; the next load starts over", .capability("3.11"),
        arguments: [
            "bytes 999-4999/5000", "bytes 1001-4999/5000", "bytes 0-4999/5000", "bytes 1000-4999/6000",
            "bytes 1000-5000/5000", "bytes 1000-4998/5000", "bytes 4999-1000/5000", "bytes */5000", "",
            "items 1000-4999/5000",
            "bytes 1000-99999999999999999999/*", "bytes -4999/5000", "bytes 1000-9223372036854775807/*",
            "bytes 1000-4999/5000/5000", "bytes 1000-4999", "bytes\t1000-4999/5000", "bytes +1000-4999/5000",
        ])
    func wrongRange(_ range: String) async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        origin.state.update { state in
            state.falsify = { response in
                var response = response
                response.headers.removeAll { $0.name == "Content-Range" }
                return range.isEmpty ? response : response.header("Content-Range", range)
            }
        }
        let downloader = ImageDownloader()
        _ = try await failure(downloader, LoadRequest(url: origin.url))
        let error = try await failure(downloader, LoadRequest(url: origin.url))
        #expect(error.code == .badResponse && error.reason.contains("interrupted transfer"))
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", nil])
    }

    @Test("A part that is longer than its range is never joined")
    func longPart() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        origin.state.update { state in
            state.falsify = { response in
                var response = response.chunked()
                response.headers.removeAll { $0.name == "Content-Range" }
                return response.header("Content-Range", "bytes 1000-1999/5000")
            }
        }
        let downloader = ImageDownloader()
        _ = try await failure(downloader, LoadRequest(url: origin.url))
        #expect(try await failure(downloader, LoadRequest(url: origin.url)).code == .badResponse)
    }

    @Test("A part that ends early is continued again")
    func shortPart() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let count = Watched(0)
        origin.state.update { state in
            state.falsify = { response in
                guard
                    count.update({
                        $0 += 1; return $0
                    }) == 1
                else { return response }
                return OriginResponse(bytes[1_000..<2_000], status: 206, headers: ["ETag": "\"v1\""])
                    .header("Content-Range", "bytes 1000-1999/5000")
            }
        }
        #expect(try await ImageDownloader(.init(retry: retrying)).load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", "bytes=2000-"])
    }

    @Test("A part of another version, or several parts at once, are errors")
    func otherVersion() async throws {
        for (name, value) in [
            ("ETag", "\"v2\""), ("Content-Type", "multipart/byteranges; boundary=x"), ("Content-Encoding", "gzip"),
        ] {
            let origin = try await RangeServer(bytes, cuts: [1_000])
            origin.state.update { state in
                state.falsify = { response in
                    var response = response
                    response.headers.removeAll { $0.name == name }
                    return response.header(name, value)
                }
            }
            let downloader = ImageDownloader()
            _ = try await failure(downloader, LoadRequest(url: origin.url))
            #expect(try await failure(downloader, LoadRequest(url: origin.url)).code == .badResponse, "\(name)")
        }
    }

    @Test("A part that was not asked for is an error")
    func unaskedPart() async throws {
        let server = try await OriginServer.start { _ in
            OriginResponse(bytes, status: 206).header("Content-Range", "bytes 0-4999/5000")
        }
        #expect(try await failure(ImageDownloader(), LoadRequest(url: server.url("/a"))).code == .badResponse)
    }

    @Test("After 416, the transfer starts over at once")
    func unsatisfiable() async throws {
        let server = try await OriginServer.start { request in
            if request.header("Range") != nil { return .status(416) }
            return OriginResponse(bytes, headers: ["ETag": "\"1\""])
        }
        let fields = HTTPFields(ImageDownloader.Configuration.defaultHeaders)
        let key = try #require(
            PartialBodyKey(
                DownloadRequest(url: server.url("/a"), headers: fields), for: LoadRequest(url: server.url("/a"))))
        let partials = PartialDownloads()
        let beginning = ArrivingBytes()
        #expect(beginning.append(bytes + bytes))
        let partial = PartialBody(
            bytes: beginning, validator: "\"1\"", owner: server.url("/a"), fields: fields, total: nil)
        partials.put(partial, for: key)
        let downloader = ImageDownloader(.continuing(partials))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        #expect(server.requests.map { $0.header("Range") } == ["bytes=10000-", nil])
    }

    @Test("A busy server doesn't make the bytes useless")
    func busy() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let downloader = ImageDownloader(.init(retry: retrying))
        let count = Watched(0)
        origin.state.update { state in
            state.falsify = { response in
                count.update {
                    $0 += 1; return $0
                } == 1 ? .status(503) : response
            }
        }
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", "bytes=1000-"])
    }

    @Test("A server that refuses requests for parts is asked for all", arguments: [400, 403, 412, 501])
    func refusedParts(status: Int) async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let downloader = ImageDownloader(.init(retry: retrying))
        let count = Watched(0)
        origin.state.update { state in
            state.falsify = { response in
                count.update {
                    $0 += 1; return $0
                } == 1 ? .status(status) : response
            }
        }
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", nil])
    }

    @Test("The bytes of one credential never continue those of another")
    func credentials() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let downloader = ImageDownloader()
        _ = try await failure(downloader, LoadRequest(url: origin.url, headers: ["Authorization": "a"]))
        #expect(try await downloader.load(LoadRequest(url: origin.url, headers: ["Authorization": "b"])).data == bytes)
        #expect(origin.ranges == [nil, nil])
    }

    @Test(
        "Bytes are continued for the user that only a closure or the cookies tell, and never for another user",
        .capability("3.11"), arguments: [true, false], [true, false])
    func users(isSame: Bool, tellsByCookie: Bool) async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let user = Watched("user=1")
        let provider: @Sendable (URL, HTTPFields) -> HTTPFields = { _, fields in
            var fields = fields
            fields["Authorization"] = user.value
            return fields
        }
        let downloader = ImageDownloader(
            tellsByCookie ? .init(cookies: UserCookie(user: user)) : .init(headerProvider: provider))
        #expect(try await failure(downloader, LoadRequest(url: origin.url)).code == .incompleteBody)
        if !isSame { user.update { $0 = "user=2" } }
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, isSame ? "bytes=1000-" : nil])
        let field = tellsByCookie ? "Cookie" : "Authorization"
        #expect(origin.server.requests.map { $0.header(field) } == ["user=1", isSame ? "user=1" : "user=2"])
    }

    @Test("If a closure's fields follow from the range, the whole body is loaded", .capability("3.11"))
    func signatures() async throws {
        let origin = try await RangeServer(bytes, cuts: [1_000])
        let downloader = ImageDownloader(
            .init(headerProvider: { _, fields in
                var fields = fields
                fields["Signature"] = fields["Range"] ?? "whole"
                return fields
            }))
        #expect(try await failure(downloader, LoadRequest(url: origin.url)).code == .incompleteBody)
        #expect(try await downloader.load(LoadRequest(url: origin.url)).data == bytes)
        #expect(origin.ranges == [nil, "bytes=1000-", nil])
    }

    @Test("A date is a strong validator if it is a minute older than the response")
    func dates() {
        func validator(_ date: String?) -> String? {
            var fields: HTTPFields = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
            fields["Date"] = date
            return RangeRules.strongValidator(fields)
        }
        #expect(validator("Sun, 06 Nov 1994 08:50:37 GMT") == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(validator("Sun, 06 Nov 1994 08:50:36 GMT") == nil)
        #expect(validator(nil) == nil)
    }
}
#endif
