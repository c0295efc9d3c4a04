#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Beginnings of bodies", .timeLimited)
struct PartialBodyTests {
    @Test("A part of another date is an error, and tags that can't be sent back are not used")
    func dates() throws {
        let beginning = ArrivingBytes()
        #expect(beginning.append(Data(repeating: 1, count: 10)))
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let partial = PartialBody(bytes: beginning, validator: date, owner: url, total: 20)
        func check(_ modified: String) throws(ImageError) {
            _ = try RangeRules.checkPart(
                HTTPFields(["Content-Range": "bytes 10-19/20", "Last-Modified": modified]), continues: partial)
        }
        #expect(throws: Never.self) { try check(date) }
        #expect(throws: ImageError.self) { try check("Sun, 06 Nov 1994 08:49:38 GMT") }
        #expect(RangeRules.strongValidator(HTTPFields(["ETag": "\"a\u{1}b\""])) == nil)
    }

    @Test("A body that is complete is not kept, because no rest of it could be requested", arguments: [10, 11, nil])
    func complete(total: Int?) throws {
        let body = ArrivingBytes()
        #expect(body.append(Data(repeating: 1, count: 10)))
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let key = try #require(PartialBodyKey(DownloadRequest(url: url), for: LoadRequest(url: url)))
        let partials = PartialDownloads()
        partials.put(PartialBody(bytes: body, validator: "\"1\"", owner: url, total: total), for: key)
        #expect((partials.take(key) == nil) == (total == 10))
    }

    @Test("A beginning belongs to requests with the same fields, apart from those of their range and urgency")
    func fields() throws {
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let other = try #require(URL(string: "http://127.0.0.1/b"))
        let asked: HTTPFields = ["Accept": "image/*", "Cookie": "user=1"]
        let partial = PartialBody(bytes: ArrivingBytes(), validator: "\"1\"", owner: url, fields: asked, total: 20)
        #expect(partial.belongs(to: url, asked: asked) && !partial.belongs(to: other, asked: asked))
        var rest = asked
        for (name, value) in [
            ("Range", "bytes=10-"), ("If-Range", "\"1\""), ("Accept-Encoding", "identity"), ("Priority", "u=1"),
        ] { rest[name] = value }
        #expect(partial.belongs(to: url, asked: rest))
        for cookie in ["user=2", nil] {
            rest["Cookie"] = cookie
            #expect(!partial.belongs(to: url, asked: rest))
        }
    }

    @Test("Requests with other methods, conditions, or ranges of their own are left alone")
    func others() {
        let url = URL(filePath: "/")
        let plain = LoadRequest(url: url)
        #expect(PartialBodyKey(DownloadRequest(url: url), for: plain) != nil)
        #expect(PartialBodyKey(DownloadRequest(url: url, method: "POST"), for: plain) == nil)
        #expect(PartialBodyKey(DownloadRequest(url: url, body: Data()), for: plain) == nil)
        #expect(PartialBodyKey(DownloadRequest(url: url, headers: ["range": "bytes=0-1"]), for: plain) == nil)
        let conditional = LoadRequest(url: url, validators: CacheValidators(entityTag: "\"1\""))
        #expect(PartialBodyKey(DownloadRequest(url: url), for: conditional) == nil)
    }
}
#endif
