import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Descriptions of URLs", .timeLimited)
struct URLDescriptionTests {
    @Test(
        "User info and the values of queries and fragments are not shown",
        arguments: [
            ("http://user:secret@h/a.png", "http://h/a.png"), ("http://h/a?b=secret&c=secret", "http://h/a?b=…&c=…"),
            ("http://h/a?b=secret#c=secret", "http://h/a?b=…"),
            ("http://h/a#access_token=secret", "http://h/a#access_token=…"),
            ("//user:secret@h/a", "//h/a"), ("http://h/a.svg#icon", "http://h/a.svg#icon"), ("file#1=2", "file#1=2"),
        ])
    func values(_ url: String, _ shown: String) { #expect(URLDescription.redacted(url) == shown) }

    @Test("User info that is longer than what is shown isn't shown")
    func longUserInfo() {
        let secret = String(repeating: "s", count: 3_000)
        #expect(URLDescription.redacted("https://anna:\(secret)@example.org/a.png") == "https://…")
        #expect(URLDescription.redacted("https://anna:s@example.org/\(secret)").hasPrefix("https://example.org/ss"))
        #expect(URLDescription.redacted("data:image/png;base64,\(secret)").hasPrefix("data:image/png;base64,ss"))
    }

    @Test("A long URL is cut, at the latest before its query", arguments: ["?", "#", "?a=b#", "/%2F?"])
    func long(_ separator: String) {
        let url = "https://user:secret@h/a\(separator)token=secret\(String(repeating: "x", count: 3_000))"
        let shown = URLDescription.redacted(url)
        #expect(shown.hasPrefix("https://h/a") && shown.hasSuffix("…") && !shown.contains("secret"))
    }
}
