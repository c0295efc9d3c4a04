import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("File names", .timeLimited)
struct FileNameTests {
    @Test(
        "A file is named after the last part of the URL",
        arguments: [
            ("https://example.org/a/photo.jpg", "photo.jpg"),
            ("https://example.org/photo.jpg?size=large#top", "photo.jpg"),
            ("https://example.org/gr%C3%BCn%20und%20blau.png", "grün und blau.png"),
            ("https://example.org/image", "image"), ("https://example.org/", "image"), ("https://example.org", "image"),
            ("https://example.org/albums/7/", "7"), ("https://example.org/v1.2.final", "v1.2.final"),
            ("data:image/png;base64,AAAA", "image"), ("file:///tmp/x.webp", "x.webp"),
        ])
    func names(url: String, name: String) {
        #expect(FileName(url: url).name() == name)
    }

    @Test(
        "No URL leads out of the folder, or to a hidden or strange name",
        arguments: [
            ("https://example.org/..%2F..%2Fetc%2Fpasswd", "_.._etc_passwd"), ("https://example.org/%2E%2E", "image"),
            ("https://example.org/.bashrc", "bashrc"), ("https://example.org/-rf", "rf"),
            ("https://example.org/a%00b%0Ac%1B%5B31m.png", "abc[31m.png"), ("https://example.org/%2e%2e%2f", "_"),
            ("https://example.org/a%5Cb.png", "a_b.png"), ("https://example.org/.%20.", "image"),
            ("https://example.org/x.png%20", "x.png"), ("https://example.org/.png", "png"),
            ("https://example.org/%FF%FE.png", "\u{FFFD}\u{FFFD}.png"), ("https://example.org/100%.png", "100%.png"),
            ("https://example.org/%E2%80%AEgpj.exe", "gpj.exe"), ("https://example.org/-%CC%81rf", "rf"),
            ("https://example.org/.%CC%81bashrc", "bashrc"), ("https://example.org/%CC%81-rf", "rf"),
            ("https://example.org/%EF%B8%8F-%CC%81.%CC%81x", "x"), ("https://example.org/a.%CC%81", "a.\u{301}"),
        ])
    func hostile(url: String, name: String) {
        #expect(FileName(url: url).name() == name)
    }

    @Test("Every URL gives a short, visible file name")
    func properties() {
        var generator = SeededRandom(seed: 7)
        let pieces = [
            "/", "..", ".", "%2F", "%2e", "%00", "a", "é", "👩‍👩‍👧", "%F0%9F%98%80", "jpg", "-", "~", " ", "%20", "?", "#",
            "\\",
            ":", "\u{202E}", "\u{301}", "\u{FE0F}", "\u{34F}", "%CC%81", "%", "%zz", String(repeating: "x", count: 300),
        ]
        for _ in 0..<3_000 {
            var url = Bool.random(using: &generator) ? "https://example.org/" : ""
            for _ in 0..<Int.random(in: 0...9, using: &generator) {
                url += pieces.randomElement(using: &generator) ?? ""
            }
            for number in [1, 2, 1_000_000] {
                let name = FileName(url: url).name(number: number)
                #expect(!name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255, "\(url)")
                // As the file system and other commands see it.
                #expect(!name.utf8.contains(UInt8(ascii: "/")), "\(url)")
                #expect(![".", "-", "~", " "].contains(name.unicodeScalars.first), "\(url)")
                #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "\(url)")
            }
        }
    }

    @Test("A number is inserted before the extension")
    func numbers() {
        #expect(FileName(url: "http://a/photo.jpg").name(number: 2) == "photo-2.jpg")
        #expect(FileName(url: "http://a/photo").name(number: 3) == "photo-3")
    }
}
