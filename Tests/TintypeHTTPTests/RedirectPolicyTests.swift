import Foundation
import TestSupport
import Testing
import TintypeCore

@testable import TintypeHTTP

@Suite("Redirect policy", .timeLimited)
struct RedirectPolicyTests {
    private func request(_ url: String, method: String = "GET", headers: HTTPFields = [:]) throws -> DownloadRequest {
        DownloadRequest(url: try #require(URL(string: url)), method: method, headers: headers)
    }

    @Test(
        "a location may be relative",
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

    @Test("only some statuses redirect, and only with a location")
    func statuses() throws {
        var policy = RedirectPolicy(maximum: 5)
        for status in [200, 300, 304, 305, 306, 404] {
            #expect(try policy.next(after: request("http://h/"), status: status, location: "/b") == nil)
        }
        #expect(try policy.next(after: request("http://h/"), status: 301, location: nil) == nil)
    }

    @Test(
        "what becomes of a POST", arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
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
        "credentials stay within their origin", .capability("3.10"),
        arguments: [
            ("http://h/b", true), ("http://H:80/b", true), ("http://h:8080/b", false), ("https://h/b", false),
            ("http://h.evil/b", false),
        ])
    func credentials(_ target: String, _ stay: Bool) throws {
        let first = try request(
            "http://h/a", headers: ["authorization": "secret", "Cookie": "secret", "Accept": "image/*"])
        var policy = RedirectPolicy(maximum: 5)
        let next = try #require(try policy.next(after: first, status: 302, location: target))
        #expect((next.headers["Authorization"] != nil) == stay)
        #expect((next.headers["Cookie"] != nil) == stay)
        #expect(next.headers["Accept"] == "image/*")
    }

    @Test(
        "https does not become http, and other schemes are refused",
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
