#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Servers that send what the client library doesn't expect, and would end the program with.
@Suite("HTTP/2 servers that would end the program", .serialized, .timeLimited)
struct HTTP2TrapTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private func downloader(_ count: Int = 6, timeout: Duration = .seconds(60)) -> ImageDownloader {
        var tls = TLSOptions()
        tls.trustRoots = Data(certificates.root.utf8)
        return ImageDownloader(
            .init(
                maximumConcurrentDownloads: count, timeout: timeout, resumesTransfers: false, tls: tls, usesHTTP2: true)
        )
    }

    /// The code of the error of a load; `nil` if it succeeded.
    private func code(_ downloader: ImageDownloader, _ server: FrameServer) async throws -> ImageError.Code? {
        let request = LoadRequest(url: try server.url("/a"))
        do throws(ImageError) {
            #expect(try await downloader.load(request).data == Data("hi".utf8))
            return nil
        } catch {
            return error.code
        }
    }

    private static func streams(_ count: UInt32) -> [UInt8] { Frames.settings([(3, count)]) }
    private static let greetings: [[UInt8]] = [
        Frames.settings() + Frames.goAway(last: 0), Frames.settings() + Frames.goAway(last: 0, code: 2),
        Frames.settings() + Frames.goAway(last: 0x7FFF_FFFF),
        Frames.settings() + Frames.goAway(last: 0x7FFF_FFFF) + Frames.goAway(last: 0),
        Frames.goAway(last: 0) + Frames.settings(), Frames.goAway(last: 0),
        streams(100) + streams(1) + Frames.goAway(last: 0), streams(0) + streams(100) + Frames.goAway(last: 0),
        Frames.settings() + Frames.push(2, on: 1),
    ]

    @Test(
        "A GOAWAY with the first settings, as a server that is loaded anew sends, costs no load", .capability("3.10"),
        arguments: greetings, [false, true])
    func greeting(_ greeting: [UInt8], isCut: Bool) async throws {
        let server = try await FrameServer(certificates.good) { number in
            guard number == 1 else { return .init() }
            return .init(greeting: isCut ? greeting.map { [$0] } : [greeting], closesAfterGreeting: true)
        }
        let downloader = downloader()
        let codes = try await withThrowingTaskGroup(of: ImageError.Code?.self) { group in
            for _ in 0..<4 { group.addTask { try await code(downloader, server) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // A connection that closes before the server has agreed to anything is an error.
        #expect(codes.allSatisfy { $0 == nil || $0 == .connectionLost }, "\(codes)")
        if greeting.starts(with: Frames.settings() + Frames.goAway(last: 0)) { #expect(codes == [nil, nil, nil, nil]) }
        #expect(try await code(downloader, server) == nil)
    }

    @Test(
        "Settings that change the number of streams at once are followed",
        arguments: [[100, 1], [1, 100], [5, 0, 7]])
    func changedSettings(counts: [UInt32]) async throws {
        let server = try await FrameServer(certificates.good) { _ in
            .init(greeting: [counts.flatMap { Frames.settings([(3, $0)]) }])
        }
        let downloader = downloader()
        for _ in 0..<3 { _ = try await code(downloader, server) }
    }

    @Test("A connection that is idle when its number of streams changes is closed", arguments: [1, 3, 100])
    func idleSettings(count: UInt32) async throws {
        let server = try await FrameServer(certificates.good) { _ in
            .init(answer: { [Frames.response(on: $0) + Frames.settings([(3, count)])] })
        }
        let downloader = downloader()
        for _ in 0..<5 { #expect(try await code(downloader, server) == nil) }
    }

    @Test("Streams that a server begins, before it has agreed not to, close the connection", arguments: [0, 1, 2, 3])
    func push(form: Int) async throws {
        let server = try await FrameServer(certificates.good) { number in
            guard number == 1 else { return .init() }
            return .init(answer: { stream in
                let push = Frames.push(2, on: stream)
                let pushed = Frames.head(on: 2) + Frames.frame(0, flags: 1, on: 2, Array("hi".utf8))
                return switch form {
                case 0: [push + Frames.response(on: stream) + pushed]
                case 1: [push, Frames.response(on: stream), pushed]
                case 2: [Frames.response(on: stream) + push + pushed]
                default: [pushed + Frames.response(on: stream)]
                }
            })
        }
        let downloader = downloader()
        for _ in 0..<3 { _ = try await code(downloader, server) }
        #expect(try await code(downloader, server) == nil)
    }

    @Test(
        "Statuses that are none are an error",
        arguments: ["", "-5", "0", "00", "099", "101", "1", "1a0", "1000", "99999999999999999999"], [true, false])
    func status(_ status: String, endsStream: Bool) async throws {
        let server = try await FrameServer(certificates.good) { _ in
            .init(
                answer: {
                    [
                        Frames.head(status, on: $0, endsStream: endsStream)
                            + Frames.frame(0, flags: 1, on: $0, Array("hi".utf8))
                    ]
                },
                closesAfterAnswer: true)
        }
        #expect(try await code(downloader(), server) != nil)
    }

    @Test("Heads again and again, informational ones that end, and trailers that don't, are no more than an error")
    func heads() async throws {
        let forms: [@Sendable (Int) -> [UInt8]] = [
            { Frames.head("100", on: $0, endsStream: true) },
            { Frames.head("103", on: $0) + Frames.head("103", on: $0, endsStream: true) },
            { Frames.head(on: $0) + Frames.head(on: $0) + Frames.head(on: $0) + Frames.response(on: $0) },
            { Frames.head(on: $0, endsStream: true) + Frames.head(on: $0, endsStream: true) },
            { Frames.frame(1, flags: 4, on: $0) + Frames.frame(1, flags: 5, on: $0) },
            { Frames.frame(0, flags: 1, on: $0, [1, 2]) },
            { Frames.head(on: $0) + Frames.frame(1, flags: 4, on: $0, [0x0F, 0x0D, 1, 0x32]) },
            { Frames.response(on: $0) + Frames.response(on: $0) + Frames.response(on: $0 + 2) },
            { Frames.response(on: $0 + 2) + Frames.response(on: $0 + 1) },
            { Frames.frame(3, on: $0, [0, 0, 0, 0]) + Frames.response(on: $0) },
            // An alternative service, an origin, an unknown frame, and one of each with another size.
            { Frames.frame(10, on: $0, [0, 9, 1]) + Frames.frame(10, [0xFF, 0xFF]) + Frames.response(on: $0) },
            { Frames.frame(12, [0, 9, 1]) + Frames.frame(12, [0]) + Frames.frame(99, [1]) + Frames.response(on: $0) },
            { Frames.settings([(1, .max), (4, 0x7FFF_FFFF), (5, 16_384), (6, 0)]) + Frames.response(on: $0) },
            { Frames.settings([(4, .max)]) + Frames.response(on: $0) },
            { Frames.settings([(1, 0), (1, 4_096), (2, 1), (8, 1), (8, 0)]) + Frames.response(on: $0) },
            { Frames.frame(4, flags: 1) + Frames.frame(4, flags: 1) + Frames.response(on: $0) },
        ]
        for form in forms {
            let server = try await FrameServer(certificates.good) { _ in
                .init(answer: { [form($0)] }, closesAfterAnswer: true)
            }
            let downloader = downloader()
            for _ in 0..<2 { _ = try await code(downloader, server) }
        }
    }

    @Test("Whatever frames a server sends, in whatever pieces, loads end with an image or an error", arguments: 0..<40)
    func random(seed: Int) async throws {
        let server = try await FrameServer(certificates.good) { number in
            var random = SeededRandom(seed: UInt64(seed * 1_000 + number))
            let stream = Int.random(in: 0...3, using: &random)
            let greeting =
                (Bool.random(using: &random) ? Frames.settings() : []) + Self.noise(on: stream, &random).joined()
            let answers = (0..<8).map { _ in
                (0..<Int.random(in: 1...6, using: &random)).flatMap { _ in Self.noise(on: nil, &random) }
            }
            let cuts = Bool.random(using: &random)
            return .init(
                greeting: [Bool.random(using: &random) ? Frames.settings() : Array(greeting)],
                answer: { stream in
                    let frames = answers[stream / 2 % 8].map { Self.addressed($0, to: stream) }
                    return cuts ? frames : [Array(frames.joined())]
                },
                closesAfterAnswer: true)
        }
        // Some servers fall silent.
        let downloader = downloader(3, timeout: .milliseconds(500))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 { group.addTask { _ = try await code(downloader, server) } }
            try await group.waitForAll()
        }
    }

    /// The stream of frames that belong to that of the request.
    private static let own = 0x7777_7777

    private static func addressed(_ frame: [UInt8], to stream: Int) -> [UInt8] {
        guard frame.count >= 9, frame[5..<9].elementsEqual(Frames.bytes(UInt32(own))) else { return frame }
        return Array(frame[..<5]) + Frames.bytes(UInt32(stream)) + Array(frame[9...])
    }

    /// A few frames, right and wrong.
    private static func noise(on stream: Int?, _ random: inout SeededRandom) -> [[UInt8]] {
        let stream = stream ?? [own, own, own, own, 0, 1, 2, 3].randomElement(using: &random) ?? own
        func number() -> UInt32 {
            [0, 1, 2, 100, 16_384, 0x7FFF_FFFF, .max, UInt32.random(in: 0 ... .max, using: &random)]
                .randomElement(using: &random) ?? 0
        }
        let some = (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        switch Int.random(in: 0...15, using: &random) {
        case 0: return [Frames.response(on: stream)]
        case 1: return [Frames.head(on: stream)]
        case 2: return [Frames.head("103", on: stream)]
        case 3: return [Frames.frame(0, flags: UInt8.random(in: 0...1, using: &random), on: stream, some)]
        case 4: return [Frames.settings([(UInt16.random(in: 0...9, using: &random), number())])]
        case 5: return [Frames.settings([(3, number())])]
        case 6: return [Frames.goAway(last: number(), code: number())]
        case 7: return [Frames.frame(3, on: stream, Frames.bytes(number()))]
        case 8: return [Frames.push(Int.random(in: 0...4, using: &random), on: stream)]
        case 9: return [Frames.frame(8, on: Bool.random(using: &random) ? stream : 0, Frames.bytes(number()))]
        case 10: return [Frames.frame(6, flags: 0, Array(repeating: 1, count: 8))]
        case 11: return [Frames.frame(2, on: stream, Frames.bytes(number()) + [1])]
        case 12: return [Frames.frame(1, flags: UInt8.random(in: 0...255, using: &random), on: stream, some)]
        case 13: return [Frames.frame(9, flags: 4, on: stream, some)]
        case 14:
            let type = UInt8.random(in: 0...16, using: &random)
            return [Frames.frame(type, flags: UInt8.random(in: 0...255, using: &random), on: stream, some)]
        default: return [some]
        }
    }
}
#endif
