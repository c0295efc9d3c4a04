import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Data URL loader", .timeLimited)
struct DataURLLoaderTests {
    private func load(_ text: String, limit: ByteCount = 1_000) async throws -> LoadedData {
        let url = try ImageRequest(string: text).url
        return try await DataURLLoader(maximumBytes: limit).load(LoadRequest(url: url))
    }

    @Test(
        "Base64 and percent encoding (RFC 2397)",
        arguments: [
            ("data:image/png;base64,aGVsbG8=", "hello", "image/png"),
            ("data:image/png;base64,aGVsbG8", "hello", "image/png"),
            ("data:image/png;BASE64,aGVs%20bG8%3D", "hello", "image/png"),
            ("DATA:IMAGE/SVG+XML;charset=utf-8,%3Csvg/%3e", "<svg/>", "image/svg+xml"),
            ("data:,a%2Cb,c", "a,b,c", "text/plain"),
            ("data:;base64,aGk=", "hi", "text/plain"),
            ("data:base64,aGk=", "aGk=", "base64"),
            ("data:text/plain,a#fragment", "a", "text/plain"),
            ("data:text/plain,%ff", "\u{FFFD}", "text/plain"),
            ("data:image/png; base64,aGVsbG8=", "hello", "image/png"),
            ("data:image/png;name=a ; base64 ,aGVsbG8=", "hello", "image/png"),
            ("data: image/PNG ;base64,aGVs%0D%0AbG8%3D", "hello", "image/png"),
            ("data:text/plain,100%", "100%", "text/plain"),
            ("data:text/plain,100%25 %zz%4", "100% %zz%4", "text/plain"),
        ])
    func decodes(_ text: String, _ expected: String, _ type: String) async throws {
        let loaded = try await load(text)
        #expect(String(decoding: loaded.data, as: UTF8.self) == expected)
        #expect(loaded.mimeType == type)
    }

    @Test(
        "Broken URLs are refused, and say which rule they break",
        arguments: [
            ("data:image/png;base64", ImageError.Code.invalidURL), ("data:image/png;base64,a*b", .invalidURL),
            ("data:image/png;base64,a", .invalidURL),
            ("data:,", .emptyBody), ("data:image/png;base64,", .emptyBody),
        ])
    func refuses(_ text: String, _ code: ImageError.Code) async throws {
        await #expect { try await load(text) } throws: { code ~= $0 }
    }

    @Test("The limit counts decoded bytes")
    func limit() async throws {
        let text = "data:image/png;base64,\(Data(count: 999).base64EncodedString())"
        #expect(try await load(text, limit: 999).data.count == 999)
        await #expect { try await load(text, limit: 998) } throws: { ImageError.Code.bodyTooLarge ~= $0 }
        let percent = "data:," + String(repeating: "%00", count: 999)
        #expect(try await load(percent, limit: 999).data.count == 999)
        await #expect { try await load(percent, limit: 998) } throws: { ImageError.Code.bodyTooLarge ~= $0 }
    }

    @Test("An error does not repeat a long URL")
    func shortSource() async throws {
        let text = "data:image/png;base64," + String(repeating: "A", count: 5_000) + "*"
        await #expect {
            try await load(text, limit: .megabytes(1))
        } throws: { error in
            ((error as? ImageError)?.source ?? text).count < 100
        }
    }

    @Test("Progress is reported as for every loader")
    func progress() async throws {
        let reports = Watched<[LoadProgress]>([])
        let url = try #require(URL(string: "data:,abc"))
        _ = try await DataURLLoader().load(LoadRequest(url: url) { report in reports.update { $0.append(report) } })
        #expect(reports.value.map(\.receivedBytes) == [0, 3])
        #expect(reports.value.map(\.chunk.count) == [0, 3])
    }
}
