#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeCore
import TintypeTesting

@testable import TintypeHTTP

private let text = Data(String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 40).utf8)
private let brotli = "GwcHiCwOeNPQlV2XELsXK6nK0JLMjK1BXObyNsgZnp4Ke4MNOHBIIG8kv0GnFc4cHieqKTjCqXSfBgM="
/// Five million zeros.
private let brotliZeros = "mz9LTPgnAOKxQCBfiAk="

@Suite("Decompression of bodies", .timeLimited)
struct DecompressionTests {
    private func packed(_ coding: String, _ data: Data) throws -> Data {
        switch coding {
        case "br": try #require(Data(base64Encoded: data == text ? brotli : brotliZeros))
        case "zstd": try run(["zstd", "-c", "-q"], input: data)
        default: try gzip(data)
        }
    }

    @Test("Brotli, Zstandard, and gzip are decompressed, in pieces of any size", arguments: ["br", "zstd", "gzip"])
    func pieces(_ coding: String) throws {
        let body = try packed(coding, text)
        for size in [1, 2, 7, body.count] {
            let decoder = try #require(try ContentCoding(coding)?.decoder())
            var result = Data()
            for start in stride(from: 0, to: body.count, by: size) {
                try body[start..<min(start + size, body.count)].withUnsafeBytes { piece in
                    try decoder.decode(piece) { result.append(contentsOf: $0) }
                }
            }
            try decoder.finish()
            #expect(result == text, "\(size)")
        }
    }

    @Test("A body that ends early is incomplete, and a damaged one is an error", arguments: ["br", "zstd", "gzip"])
    func damage(_ coding: String) async throws {
        let body = try packed(coding, text)
        let server = try await OriginServer.start([
            "/cut": OriginResponse(body.dropLast(5), headers: ["Content-Encoding": coding]),
            "/bad": OriginResponse(Data(repeating: 0xFF, count: 100), headers: ["Content-Encoding": coding]),
            "/good": OriginResponse(body, headers: ["Content-Encoding": coding]),
        ])
        let downloader = ImageDownloader()
        #expect(try await downloader.load(LoadRequest(url: server.url("/good"))).data == text)
        #expect(try await failure(downloader, LoadRequest(url: server.url("/cut"))).code == .incompleteBody)
        #expect(try await failure(downloader, LoadRequest(url: server.url("/bad"))).code == .badResponse)
    }

    @Test("A bomb ends at the limits of size and ratio, in every coding", arguments: ["br", "zstd", "gzip"])
    func bomb(_ coding: String) async throws {
        let body = try packed(coding, Data(count: 5_000_000))
        let server = try await OriginServer.start(["/a": OriginResponse(body, headers: ["Content-Encoding": coding])])
        let url = server.url("/a")
        for configuration in [
            ImageDownloader.Configuration(maximumBytes: 4_999_999), .init(maximumDecompressionRatio: 100),
        ] {
            let downloader = ImageDownloader(configuration)
            #expect(try await failure(downloader, LoadRequest(url: url)).code == .bodyTooLarge)
        }
        #expect(try await ImageDownloader().load(LoadRequest(url: url)).data.count == 5_000_000)
    }

    @Test("Zstandard with a window over 8 MB is refused")
    func window() async throws {
        // The header has no size, so that the window counts.
        let piped = try run(["sh", "-c", "cat | zstd -c -q --long=27 -"], input: Data(count: 20_000_000))
        let server = try await OriginServer.start([
            "/a": OriginResponse(piped, headers: ["Content-Encoding": "zstd"])
        ])
        let downloader = ImageDownloader()
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).code == .badResponse)
    }
}
#endif
