import ArgumentParser
import TestSupport
import Testing

@testable import TintypeCommand

@Suite("Header fields on the command line", .timeLimited)
struct HeaderFieldTests {
    private static let malformed = [
        "", "secret", ": secret", " Name: secret", "Na me: secret", "Name : secret", "Näme: secret",
        "Name: secret\r\nOther: 1", "Name: secret\n", "Name: secret\0", "Name: secret\u{7F}",
    ]

    @Test("A malformed field is wrong usage, and its value isn't printed", arguments: malformed)
    func refused(_ field: String) {
        #expect(HeaderFields.parsed([field]) == nil)
        for command in ["fetch", "prefetch"] {
            do {
                _ = try TintypeTool.parseAsRoot([command, "http://a/b", "-H", field])
                Issue.record("accepted")
            } catch {
                #expect(TintypeTool.exitCode(for: error).rawValue == 64)
                #expect(!TintypeTool.fullMessage(for: error).contains("secret"))
            }
        }
    }

    @Test("A field may follow -H immediately")
    func joined() {
        #expect(
            HeaderFields.separated(["fetch", "-HA: b=c", "-H", "-: -", "--header", "B: c", "--", "-Hd"])
                == ["fetch", "-H", "A: b=c", "-H", "-: -", "--header", "B: c", "--", "-Hd"])
        #expect(
            HeaderFields.separated(["-H", "--", "-H"]) == ["-H", "--", "-H"] && HeaderFields.separated([]).isEmpty)
    }

    @Test("The name of a file that starts with a dash is no request for help")
    func names() {
        #expect(HeaderFields.mistakenForHelp(["info", "a.jpg", "-photo.jpg"]) == "-photo.jpg")
        for asked in [
            ["-h"], ["info", "-h", "-photo.jpg"], ["help", "info"], ["--help"], ["info", "--", "-photo.jpg"], [],
        ] {
            #expect(HeaderFields.mistakenForHelp(asked) == nil, "\(asked)")
        }
    }

    @Test("A field has a name and a value, which may have any characters except controls")
    func accepted() {
        #expect(HeaderFields.parsed([]) == [:])
        #expect(HeaderFields.parsed(["Accept:image/webp"]) == ["Accept": "image/webp"])
        #expect(HeaderFields.parsed(["X-Time: 10:30", "x!: a"]) == ["X-Time": "10:30", "x!": "a"])
        #expect(HeaderFields.parsed(["A:  ä\tb  "]) == ["A": "ä\tb"])
        #expect(HeaderFields.parsed(["A: 1", "a:2", "Cookie: x", "cookie: y"]) == ["A": "1, 2", "Cookie": "x; y"])
        #expect(HeaderFields.parsed(["A: 1", "a:"]) == ["a": ""])
    }
}
