import Foundation
import TestSupport
import Testing
import TintypeLoading

@testable import TintypeHTTP

@Suite("Redirect policy", .timeLimited)
struct RedirectPolicyTests {
    private func request(_ url: String, method: String = "GET", headers: HTTPFields = [:]) throws -> DownloadRequest {
        DownloadRequest(url: try #require(URL(string: url)), method: method, headers: headers)
    }

    @Test(
        "A location may be relative",
        arguments: [
            ("/b.png", "http://host/b.png"), ("b.png?x=1", "http://host/a/b.png?x=1"), ("../b", "http://host/b"),
            ("//other/b", "http://other/b"), ("?q", "http://host/a/old.png?q"), ("https://s/b", "https://s/b"),
            ("http://user:word@other/b", "http://other/b"),
        ])
    func relative(_ location: String, _ expected: String) throws {
        var policy = RedirectPolicy(maximum: 5)
        let next = try policy.next(after: request("http://host/a/old.png"), status: 302, location: location)
        #expect(next?.url.absoluteString == expected)
    }

    @Test("Only redirect statuses with a location are redirects")
    func statuses() throws {
        var policy = RedirectPolicy(maximum: 5)
        for status in [200, 300, 304, 305, 306, 404] {
            #expect(try policy.next(after: request("http://h/"), status: status, location: "/b") == nil)
        }
        #expect(try policy.next(after: request("http://h/"), status: 301, location: nil) == nil)
    }

    @Test(
        "A POST becomes a GET, depending on the status",
        arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
    func methods(_ status: Int, _ method: String) throws {
        var post = try request("http://h/", method: "POST", headers: ["Content-Type": "text/plain"])
        post.body = Data([1])
        var policy = RedirectPolicy(maximum: 5)
        let next = try #require(try policy.next(after: post, status: status, location: "/b"))
        #expect(next.method == method)
        #expect((next.body == nil) == (method == "GET"))
        #expect((next.headers["Content-Type"] == nil) == (method == "GET"))
    }

    @Test(
        "Secrets stay within their origin", .capability("3.10"),
        arguments: [
            ("http://h/b", true), ("http://H:80/b", true), ("http://h:8080/b", false), ("https://h/b", false),
            ("http://h.evil/b", false),
        ])
    func credentials(_ target: String, _ stay: Bool) throws {
        let secrets = ["authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "HOST", "Referer"]
        var first = try request("http://h/a", headers: ["Accept": "image/*"])
        for name in secrets { first.headers[name] = "secret" }
        var policy = RedirectPolicy(maximum: 5)
        let next = try #require(try policy.next(after: first, status: 302, location: target))
        for name in secrets { #expect((next.headers[name] != nil) == stay, "\(name)") }
        #expect(next.headers["Accept"] == "image/*")
    }

    @Test(
        "Conditions and ranges are about one URL, and no redirect takes them along (RFC 9110, section 15.4)",
        .capability("3.10"), arguments: ["http://h/b", "https://h/b", "http://other/b"])
    func conditions(_ target: String) throws {
        let fields = ["If-None-Match", "if-modified-since", "IF-MATCH", "If-Unmodified-Since", "If-Range", "range"]
        var first = try request("http://h/a", headers: ["Accept": "image/*"])
        for name in fields { first.headers[name] = "x" }
        var policy = RedirectPolicy(maximum: 5)
        let next = try #require(try policy.next(after: first, status: 302, location: target))
        #expect(next.headers.all.map(\.name) == ["Accept"])
    }

    @Test("A location whose bytes swift-nio has replaced is refused")
    func repaired() throws {
        var policy = RedirectPolicy(maximum: 5)
        let error = #expect(throws: ImageError.self) {
            try policy.next(after: request("http://h/"), status: 302, location: "/f\u{FFFD}r.png")
        }
        #expect(error?.code == .badRedirect && error?.reason.contains("UTF-8") == true)
    }

    @Test(
        "A redirect from https to http or to another scheme is refused",
        arguments: ["http://h/b", "file:///etc/passwd", "data:,x", "http:///x", "ftp://h/x"])
    func refused(_ target: String) throws {
        var policy = RedirectPolicy(maximum: 5)
        let first = try request("https://h/a")
        do throws(ImageError) {
            let next = try policy.next(after: first, status: 302, location: target)
            Issue.record("went on to \(String(describing: next?.url))")
        } catch {
            #expect(error.code == .badRedirect)
        }
    }
}
