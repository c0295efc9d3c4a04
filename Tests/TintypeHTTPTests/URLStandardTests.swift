#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading

@testable import TintypeHTTP

/// The kinds of `http:` URLs in the tests of WHATWG's URL standard (`urltestdata.json` of web-platform-tests), and what Tintype requests.
/// Names of hosts have a table of their own, in `HostNameTests`.
@Suite("URLs as browsers read them", .timeLimited)
struct URLStandardTests {
    /// What somebody writes, and what browsers and Tintype request; `nil` if that is no URL.
    private static let same: [(text: String, requested: String?)] = [
        // White space and control characters around it.
        ("  http://h/a  ", "http://h/a"), ("\u{0}\u{1F}http://h/a\n\r\t", "http://h/a"),
        // Scheme, user, host, and port.
        ("HTTP://H/A", "http://h/A"), ("hTTpS://h/", "https://h/"), ("http://h", "http://h/"),
        ("http://h?a", "http://h/?a"), ("http://h#a", "http://h/"), ("http://h:80/", "http://h/"),
        ("https://h:443/", "https://h/"), ("http://h:443/", "http://h:443/"), ("http://h:/a", "http://h/a"),
        ("http://h:0080/", "http://h/"), ("http://h:65535/", "http://h:65535/"), ("http://u:p@h:81/a", "http://h:81/a"),
        ("http://@h/a", "http://h/a"), ("http://u:@h/a", "http://h/a"), ("http://a:b@c@h/", "http://h/"),
        ("http://u%40x:p%3Ay@h/", "http://h/"), ("http://[::1]:81/", "http://[::1]:81/"),
        ("http://h:65536/", nil), ("http://h:x/", nil), ("http://h:-1/", nil), ("http://h:8a/", nil),
        ("http://u@/a", nil), ("http://:81/", nil), ("http://[::1/", nil), ("http://[::1]x/", nil),
        ("http://[:::1]/", nil), ("http://[1::2::3]/", nil), ("http://[www.example]/", nil),
        ("http://[::1.2.3.4]/", "http://[::1.2.3.4]/"), ("http://[1.2.3.4]/", nil), ("http://[]/", nil),
        ("http://a b/", nil), ("http://a<b/", nil), ("http://a>b/", nil), ("http://a^b/", nil), ("http://a|b/", nil),
        // Paths and queries.
        ("http://h/%7Eu/a%2Fb", "http://h/%7Eu/a%2Fb"), ("http://h/a;b=c,d@e:f", "http://h/a;b=c,d@e:f"),
        ("http://h/a b?c d", "http://h/a%20b?c%20d"), ("http://h/\"<>`{}", "http://h/%22%3C%3E%60%7B%7D"),
        ("http://h/\u{E4}\u{1F600}", "http://h/%C3%A4%F0%9F%98%80"), ("http://h/\u{7F}", "http://h/%7F"),
        ("http://h/a\u{0}b", "http://h/a%00b"), ("http://h/a//b", "http://h/a//b"), ("http://h//a", "http://h//a"),
        ("http://h/?\"<>", "http://h/?%22%3C%3E"), ("http://h/a#b#c", "http://h/a"),
        ("http://h/.../..a", "http://h/.../..a"), ("http://h/?/../a", "http://h/?/../a"),
    ]
    /// What somebody writes, what browsers request, and what Tintype does, where it differs.
    private static let decided: [(text: String, browsers: String?, requested: String?)] = [
        // A URL has a scheme, two slashes, and a host (RFC 9110, section 4.2). What browsers guess may not be what is meant.
        ("http:h/a", "http://h/a", nil), ("http:/h/a", "http://h/a", nil), ("http:///h/a", "http://h/a", nil),
        ("http:\\\\h\\a", "http://h/a", nil), ("h/a", nil, nil),
        // A character that a URL can't have is encoded, as curl and RFC 3986 have it; none is dropped or changed into another.
        ("http://h/a\tb", "http://h/ab", "http://h/a%09b"), ("http://h/a\nb", "http://h/ab", "http://h/a%0Ab"),
        ("http://h/a\\b", "http://h/a/b", "http://h/a%5Cb"), ("ht\ntp://h/a", "http://h/a", nil),
        ("http://h\\a", "http://h/a", nil), ("http://h:1\\a", "http://h:1/a", nil),
        ("http://h/a[1]|b^", "http://h/a[1]|b^", "http://h/a%5B1%5D%7Cb%5E"),
        ("http://h/?a[]=1", "http://h/?a[]=1", "http://h/?a%5B%5D=1"),
        ("http://h/100%", "http://h/100%", "http://h/100%25"),
        // A character that a URL can have stays.
        ("http://h/?a='b'", "http://h/?a=%27b%27", "http://h/?a='b'"),
        // So do dots, which are part of keys on some servers (curl: `--path-as-is`), in absolute URLs.
        ("http://h/a/../b", "http://h/b", "http://h/a/../b"), ("http://h/./a", "http://h/a", "http://h/./a"),
        ("http://h/a/%2e%2E/b", "http://h/b", "http://h/a/%2e%2E/b"),
        // Numbers that stand for an address are resolved by the system, which knows the same forms, but for a dot at the end; the guard of
        // the network checks what they become.
        ("http://0x7f.1/", "http://127.0.0.1/", "http://0x7f.1/"),
        ("http://2130706433/", "http://127.0.0.1/", "http://2130706433/"),
        ("http://127.0.0.1./", "http://127.0.0.1/", "http://127.0.0.1./"),
        ("http://256.256.256.256/", nil, "http://256.256.256.256/"),
        ("http://[0:0::1]/", "http://[::1]/", "http://[0:0::1]/"),
    ]

    /// The origin and the target that a text stands for; `nil` if no image can be requested with it.
    private func requested(_ text: String) -> String? {
        guard let url = (try? ImageRequest(string: text))?.url.withCanonicalHost, let scheme = url.scheme?.lowercased(),
            let host = url.host(), !host.isEmpty, url.hasPossiblePort
        else { return nil }
        let port = url.port.flatMap { $0 == (scheme == "http" ? 80 : 443) ? nil : ":\($0)" } ?? ""
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)\(port)\(path.isEmpty ? "/" : path)\(query)"
    }

    @Test("Most URLs are requested as browsers request them", .capability("DLR-30"))
    func same() {
        for row in Self.same { #expect(requested(row.text) == row.requested, "\(row.text.debugDescription)") }
    }

    @Test("Nothing is guessed, dropped, or replaced where browsers repair a URL", .capability("DLR-30"))
    func decided() {
        for row in Self.decided { #expect(requested(row.text) == row.requested, "\(row.text.debugDescription)") }
    }
}
#endif
