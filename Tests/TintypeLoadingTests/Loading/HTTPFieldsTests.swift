import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

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
        #expect(HTTPFields(["Accept": "x"]) == HTTPFields(["accept": "x"]))
        #expect(HTTPFields(["Accept": "x"]).hashValue == HTTPFields(["accept": "x"]).hashValue)
        #expect(HTTPFields(["Accept": "x"]) != HTTPFields(["Accept": "X"]))
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

    @Test("Names are told apart and sorted, however long their common beginning is", arguments: 0..<20)
    func beginnings(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let names = (0..<60).map { _ in
            let end = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                "aB-\0é".randomElement(using: &random) ?? "a"
            }
            return String("Content-Length".prefix(Int.random(in: 0...14, using: &random))) + String(end)
        }
        let list = names.enumerated().map { (name: $1, value: "\($0)") }
        let fields = HTTPFields(joining: list)
        var added = HTTPFields()
        for (name, value) in list { added.add(name, value) }
        #expect(added.byLowercaseName == fields.byLowercaseName)
        let model = Dictionary(grouping: list) { Self.lowercase($0.name) }.mapValues { $0.map(\.value) }
        #expect(fields.all.map { Self.lowercase($0.name) } == model.keys.sorted { $0.lexicographicallyPrecedes($1) })
        for (name, value) in list {
            #expect(fields[name] == model[Self.lowercase(name)]?.joined(separator: ", "), "\(name) \(value)")
        }
    }

    /// The bytes of a name with ASCII letters in lowercase.
    private static func lowercase(_ name: String) -> [UInt8] {
        name.utf8.map { 0x41...0x5A ~= $0 ? $0 + 0x20 : $0 }
    }

    @Test(
        "A media type is the part before the first semicolon, comma, or space",
        arguments: [
            ("image/PNG; q=1", "image/png"), (" \timage/webp ;x", "image/webp"), ("image/a b", "image/a"), ("", nil),
            ("  ", nil), (";image/png", nil), ("image/é", "image/é"), ("image/É", "image/é"),
            ("Image/SVG+xml", "image/svg+xml"), ("image/png, text/html", "image/png"),
            ("image/png,image/png", "image/png"),
        ])
    func mediaType(field: String, type: String?) throws {
        let url = try #require(URL(string: "https://example.org"))
        #expect(ResponseHead(url: url, statusCode: 200, headers: ["Content-Type": field]).mimeType == type)
    }
}
