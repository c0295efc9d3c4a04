import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("URLs that somebody wrote", .timeLimited)
struct WrittenURLTests {
    @Test(
        "Only what a URL can't have is encoded",
        arguments: [
            ("http://h/My%20Photo[1].jpg", "http://h/My%20Photo%5B1%5D.jpg"),
            ("http://h/a?u=https%3A%2F%2Fh&s[]=1", "http://h/a?u=https%3A%2F%2Fh&s%5B%5D=1"),
            ("http://h/a%20ü.png", "http://h/a%20%C3%BC.png"),
            ("http://h/a%DF[", "http://h/a%DF%5B"),
            ("http://h/100%/%zz%4", "http://h/100%25/%25zz%254"),
            ("http://h/a#b#c%20[", "http://h/a#b%23c%20%5B"),
            ("  http://h/a b \n", "http://h/a%20b"),
            ("http://us%20er:p[w@h/a", "http://us%20er:p%5Bw@h/a"),
            ("http://[::1]:80/[a]", "http://[::1]:80/%5Ba%5D"),
            ("HTTP://H/%2e%2e/../a", "HTTP://H/%2e%2e/../a"),
            ("data:image/svg+xml,<svg a=\"%23\"/>", "data:image/svg+xml,%3Csvg%20a=%22%23%22/%3E"),
            ("data:image/png;base64,AA\n%3D=", "data:image/png;base64,AA%0A%3D="),
            ("file:///a%DF b.png", "file:///a%DF%20b.png"),
            ("http://h", "http://h"), ("http://h?a b", "http://h?a%20b"),
        ])
    func encodes(_ text: String, _ url: String) throws {
        #expect(try ImageRequest(string: text).url.absoluteString == url)
        #expect(try ImageRequest(string: url).url.absoluteString == url)
    }

    @Test("Every byte stays or becomes one escape, and is encoded at most once", arguments: 0..<20 as Range<UInt64>)
    func encodesOnce(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pieces = ["a", "%41", "%DF", "%", "%4", "[", "ü", " ", "/", "?", "=", "&", "|", "😀", "\\", "%25", "x"]
        let path = (0..<30).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        let once = try #require(URL(written: "http://h/" + path + "x")).absoluteString
        #expect(URL(written: once)?.absoluteString == once)
        #expect(Self.decoded(once) == Self.decoded("http://h/" + path + "x"))
    }

    /// The bytes that a text stands for.
    private static func decoded(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == 0x25, digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    @Test("What is no URL is refused", arguments: ["", " ", "a b", "/a", "?", "#", "%41:b"])
    func refused(_ text: String) {
        #expect(throws: ImageError.self) { _ = try ImageRequest(string: text) }
    }
}
