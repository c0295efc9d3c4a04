#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
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
            let decoder = try #require(try ContentCoding([coding])?.decoder())
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

    private func decoded(_ lines: [String], _ body: Data, pieceSize: Int) throws -> Data {
        let decoder = try #require(try ContentCoding(lines)?.decoder())
        var result = Data()
        for start in stride(from: 0, to: body.count, by: pieceSize) {
            try body[start..<min(start + pieceSize, body.count)].withUnsafeBytes { piece in
                try decoder.decode(piece) { result.append(contentsOf: $0) }
            }
        }
        try decoder.finish()
        return result
    }

    @Test(
        "All members of a gzip body are decompressed, and padding after them is ignored", arguments: [1, 2, 5, 100_000])
    func members(_ pieceSize: Int) throws {
        let member = try gzip(text)
        let empty = try gzip(Data())
        let bodies: [[Data]] = [
            [member, member], [empty, member, empty, empty, member], [member, Data(count: 100)],
            [member, Data([0x1F])], [member, Data([0x1F, 0x00, 0x01])], [member, member, Data("padding".utf8)],
        ]
        for parts in bodies {
            let body = parts.reduce(Data(), +)
            let count = parts.count { $0 == member }
            let expected = Array(repeating: text, count: count).reduce(Data(), +)
            #expect(try decoded(["gzip"], body, pieceSize: pieceSize) == expected)
        }
        for cut in [3, 10, member.count - 1] {
            #expect(throws: ImageError.self) {
                try decoded(["gzip"], member + member.prefix(cut), pieceSize: pieceSize)
            }
        }
        // Damage inside the second member: its check fails.
        var damaged = member + member
        damaged[damaged.count - 6] ^= 1
        #expect(throws: ImageError.self) { try decoded(["gzip"], damaged, pieceSize: pieceSize) }
    }

    @Test("Several codings are removed in reverse order, in one line or in several", arguments: [1, 7, 100_000])
    func severalCodings(_ pieceSize: Int) throws {
        let twice = try gzip(try packed("br", text))
        for lines in [["br, gzip"], ["br", "gzip"], ["identity, BR ,", "X-GZIP"], ["", "br,\tgzip"]] {
            #expect(try decoded(lines, twice, pieceSize: pieceSize) == text)
        }
        #expect(try decoded(["br, gzip, zstd"], try packed("zstd", twice), pieceSize: pieceSize) == text)
        #expect(throws: ImageError.self) { try decoded(["gzip, br"], twice, pieceSize: pieceSize) }
        #expect(throws: ImageError.self) { try decoded(["br, gzip"], twice.dropLast(3), pieceSize: pieceSize) }
        #expect(ContentCoding(["gzip", "compress"]) == nil && ContentCoding(["gzip, gzip, gzip, gzip"]) == nil)
        #expect(ContentCoding([]) == .identity && ContentCoding(["identity"]) == .identity)
    }

    @Test("A list of codings in one line is decoded, and one with an unknown coding is a typed error")
    func codingList() async throws {
        let body = try gzip(try packed("br", text))
        let server = try await OriginServer.start([
            "/good": OriginResponse(body, headers: ["Content-Encoding": "br, gzip"]),
            "/bad": OriginResponse(body, headers: ["Content-Encoding": "compress, gzip"]),
        ])
        let downloader = ImageDownloader()
        #expect(try await downloader.load(LoadRequest(url: server.url("/good"))).data == text)
        let error = try await failure(downloader, LoadRequest(url: server.url("/bad")))
        #expect(error.code == .badResponse && error.reason.contains("compress, gzip"))
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

    @Test("A bomb between two codings ends at the limit of bytes, although nothing comes out of it")
    func bombBetweenCodings() async throws {
        // The zeros follow the end of the inner body.
        let body = try gzip(try gzip(text) + Data(count: 20_000_000))
        let server = try await OriginServer.start([
            "/a": OriginResponse(body, headers: ["Content-Encoding": "gzip, gzip"])
        ])
        let request = LoadRequest(url: server.url("/a"))
        let small = ImageDownloader(.init(maximumBytes: .megabytes(1)))
        #expect(try await failure(small, request).code == .bodyTooLarge)
        #expect(try await ImageDownloader(.init(maximumBytes: .megabytes(30))).load(request).data == text)
    }

    @Test(
        "A body that fills the blocks of the decoder is complete",
        arguments: ["zstd", "gzip"], [131_072, 262_144, 524_288])
    func wholeBlocks(_ coding: String, count: Int) throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
        let body = try packed(coding, data)
        for size in [1_000, body.count - 1, body.count] {
            #expect(try decoded([coding], body, pieceSize: size) == data, "\(size)")
        }
        #expect(try decoded([coding], body + body, pieceSize: body.count) == data + data)
        #expect(throws: ImageError.self) { try decoded([coding], body.dropLast(), pieceSize: body.count) }
    }

    @Test("Frames of Zstandard that are to be skipped are skipped", arguments: [1, 5, 100_000])
    func skippedFrames(_ pieceSize: Int) throws {
        let skipped = Data([0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
        let frame = try packed("zstd", text)
        #expect(try decoded(["zstd"], skipped + frame + skipped + frame, pieceSize: pieceSize) == text + text)
        #expect(try decoded(["zstd"], frame + skipped, pieceSize: pieceSize) == text)
        #expect(try decoded(["zstd"], skipped, pieceSize: pieceSize).isEmpty)
        #expect(throws: ImageError.self) { try decoded(["zstd"], frame + skipped.dropLast(), pieceSize: pieceSize) }
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
