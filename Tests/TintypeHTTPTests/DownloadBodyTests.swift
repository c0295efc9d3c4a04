#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Bodies of downloads", .timeLimited)
struct DownloadBodyTests {
    private let downloader = ImageDownloader()

    @Test(
        "A compressed body is decompressed, whatever the name of its coding",
        arguments: [
            ("gzip", gzipped), ("x-gzip", gzipped), (" GZIP", gzipped), ("deflate", zlib), ("deflate", bareDeflate),
        ])
    func contentEncoding(_ name: String, _ packed: String) async throws {
        let body = try #require(Data(base64Encoded: packed))
        let server = try await OriginServer.start(["/a": OriginResponse(body, headers: ["Content-Encoding": name])])
        let reports = Reports()
        let loaded = try await downloader.load(reports.request(server.url("/a")))
        #expect(loaded.data == unpacked)
        #expect(reports.all.value.allSatisfy { $0.expectedBytes == nil })
        #expect(reports.all.value.map(\.chunk).reduce(Data(), +) == unpacked)
        let small = ImageDownloader(.init(maximumBytes: .bytes(unpacked.count - 1)))
        #expect(try await failure(small, LoadRequest(url: server.url("/a"))).code == .bodyTooLarge)
    }

    @Test("A body with an unknown coding or with damaged compressed bytes is an error")
    func brokenEncoding() async throws {
        let packed = try #require(Data(base64Encoded: gzipped))
        let server = try await OriginServer.start([
            "/damaged": OriginResponse(bytes, headers: ["Content-Encoding": "gzip"]),
            "/cut": OriginResponse(packed.dropLast(30), headers: ["Content-Encoding": "gzip"]),
            "/br": OriginResponse(bytes, headers: ["Content-Encoding": "br"]),
            "/twice": OriginResponse(bytes, headers: ["Content-Encoding": "gzip, gzip"]),
        ])
        for (path, code) in [
            ("/damaged", ImageError.Code.badResponse), ("/cut", .incompleteBody), ("/br", .badResponse),
            ("/twice", .badResponse),
        ] {
            #expect(try await failure(downloader, LoadRequest(url: server.url(path))).code == code, "\(path)")
        }
    }

    @Test("A body that compresses a thousandfold is accepted up to the limit of bytes")
    func highRatio() async throws {
        let plain = Data(count: 1_000_000)
        // What zlib makes of it.
        let packed =
            Data([0x78, 0xDA, 0xED, 0xC1, 0x01, 0x01, 0x00, 0x00, 0x00, 0x82, 0x20, 0xFF, 0xAF, 0x6E, 0x48, 0x40, 0x01])
            + Data(count: 968) + Data([0xAF, 0x06, 0x43, 0x21, 0x00, 0x01])
        let server = try await OriginServer.start([
            "/a": OriginResponse(packed, headers: ["Content-Encoding": "deflate"])
        ])
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == plain)
        let small = ImageDownloader(.init(maximumBytes: .bytes(plain.count - 1)))
        let reports = Reports()
        #expect(try await failure(small, reports.request(server.url("/a"))).code == .bodyTooLarge)
        #expect((reports.all.value.last?.receivedBytes ?? 0) < plain.count)
    }

    @Test("A large body of unknown length arrives whole and in order")
    func growing() async throws {
        let piece = Data((0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let server = try await OriginServer.start([
            "/a": OriginResponse(chunks: Array(repeating: piece, count: 5)).chunked()
        ])
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
        #expect(loaded.data == Data((0..<5).flatMap { _ in piece }))
    }

    @Test("A body of 200 MB takes less than 10 MB above its size", .withoutSanitizer)
    func memory() async {
        // A process of its own, because other tests take memory too.
        await #expect(processExitsWith: .success) {
            let size = 200_000_000
            let piece = Data(count: 1_000_000)
            let server = try await OriginServer.start { request in
                let chunks = Array(repeating: piece, count: request.path == "/large" ? size / piece.count : 1)
                return request.path == "/large" && request.query == nil
                    ? OriginResponse(chunks: chunks) : OriginResponse(chunks: chunks).chunked()
            }
            let downloader = ImageDownloader()
            _ = try await downloader.load(LoadRequest(url: server.url("/small")))
            let before = try #require(ProcessMemory.resident)
            let loaded = try await downloader.load(LoadRequest(url: server.url("/large")))
            let above = try #require(ProcessMemory.highest) - before - loaded.data.count
            print("a body of \(loaded.data.count / 1_000_000) MB took \(above / 1_000) kB above its size")
            exit(loaded.data.count == size && above < 10_000_000 ? 0 : 1)
        }
    }
}

/// What the kernel says about the memory of this process, in bytes.
private enum ProcessMemory {
    static var resident: Int? { value("VmRSS:") }
    static var highest: Int? { value("VmHWM:") }

    private static func value(_ name: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}

/// The bytes that ``gzipped``, ``zlib``, and ``bareDeflate`` hold.
private let unpacked = Data((0..<60).map { "<rect x='\($0)'/>" }.joined().utf8)
private let gzipped =
    "H4sIAAAAAAACA1XSOQpCUQxA0a3Y/VIzOYC6GXEDYuHyxUJ4p7xVDkmur+fjvfvctsO2v1//EWvkGrVGrzFrHNc4rXFe48JQCRgC"
    + "RKAIGIEjgASSgBJYEku6DyyJJbEklsSSWBJLYikshaU8DpbCUlgKS2EpLIWlsTSWxtJ+CpbG0lgaS2NpLINlsAyWwTK+LZbBMlgG"
    + "y/wsX7+MnA8+AwAA"
private let zlib =
    "eNpV0jkKQlEMQNGt2P1SMzmAuhlxA2Lh8sVCeKe8VQ5Jrq/n47373LbDtr9f/xFr5Bq1Rq8xaxzXOK1xXuPCUAkYAkSgCBiBI4AEkoAS"
    + "WBJLug8siSWxJJbEklgSS2IpLIWlPA6WwlJYCkthKSyFpbE0lsbSfgqWxtJYGktjaSyDZbAMlsEyvi2WwTJYBsv8LF9qqObd"
private let bareDeflate =
    "VdI5CkJRDEDRrdj9UjM5gLoZcQNi4fLFQninvFUOSa6v5+O9+9y2w7a/X/8Ra+QatUavMWsc1zitcV7jwlAJGAJEoAgYgSOABJKAElgS"
    + "S7oPLIklsSSWxJJYEktiKSyFpTwOlsJSWApLYSkshaWxNJbG0n4KlsbSWBpLY2ksg2WwDJbBMr4tlsEyWAbL/Cxf"
#endif
