import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Header fields", .timeLimited)
struct HTTPFieldsTests {
    @Test("Names are found in any case, and keep their spelling")
    func names() {
        var fields: HTTPFields = ["Content-Type": "image/png", "ETag": "\"1\""]
        #expect(fields["content-TYPE"] == "image/png")
        #expect(fields["Content"] == nil)
        #expect(fields["Content-Type-"] == nil)
        fields["etag"] = "\"2\""
        #expect(fields.all.map(\.name) == ["Content-Type", "etag"])
        fields["CONTENT-TYPE"] = nil
        #expect(fields.all.map(\.value) == ["\"2\""])
        fields["absent"] = nil
        #expect(!fields.isEmpty)
    }

    @Test("Repeated fields are joined in their order, wherever they were between others")
    func joined() {
        let fields = HTTPFields(joining: [("Vary", "a"), ("Age", "1"), ("vary", "b"), ("X", ""), ("VARY", "c")])
        #expect(fields["Vary"] == "a, b, c")
        #expect(fields.all.count == 3)
        var added = HTTPFields()
        for (name, value) in [("Vary", "a"), ("Age", "1"), ("vary", "b"), ("X", ""), ("VARY", "c")] {
            added.add(name, value)
        }
        #expect(added == fields)
    }

    @Test("Fields are equal in whatever order they were set, and stay sorted", arguments: 0..<20)
    func random(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let names = (0..<40).map { "Name-\($0 % 25)-\($0)" }
        var model: [String: String] = [:]
        var fields = HTTPFields()
        for step in 0..<400 {
            let name = names.randomElement(using: &random) ?? ""
            let value = Bool.random(using: &random) ? "\(step)" : nil
            fields[Bool.random(using: &random) ? name : name.uppercased()] = value
            model[name] = value
        }
        #expect(fields.byLowercaseName == Dictionary(uniqueKeysWithValues: model.map { ($0.lowercased(), $1) }))
        let sorted = fields.all.map { $0.name.lowercased() }
        #expect(sorted == sorted.sorted())
    }

    @Test(
        "A media type is the part before the first semicolon or space",
        arguments: [
            ("image/PNG; q=1", "image/png"), (" \timage/webp ;x", "image/webp"), ("image/a b", "image/a"), ("", nil),
            ("  ", nil), (";image/png", nil), ("image/é", "image/é"),
        ])
    func mediaType(field: String, type: String?) throws {
        let url = try #require(URL(string: "https://example.org"))
        #expect(DownloadResponse(url: url, statusCode: 200, headers: ["Content-Type": field]).mimeType == type)
    }
}
