#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeCore
import TintypeHTTP
import TintypeTesting

@Suite("Time limits of downloads", .timeLimited, .timeLimit(.minutes(1)))
struct DownloadTimeLimitTests {
    private let clock = ManualClock()

    @Test("no answer for 15 s", .capability("DLC-02"))
    func noAnswer() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            try? await gate.waitForArrivals(1)
            return OriginResponse(bytes)
        }
        let downloader = ImageDownloader(clock: clock)
        async let error = failure(downloader, LoadRequest(url: server.url("/a")))
        try await server.waitForRequests(1)
        clock.advance(by: .seconds(15))
        #expect(try await error.code == .timedOut)
        #expect(try await error.reason == "nothing came for 15 s")
        #expect(try await error.source == server.url("/a").absoluteString)
        #expect(downloader.statistics.failed == 1 && downloader.statistics.active == 0)
    }

    @Test("silence in the middle of the body; 0 stands for the default", .capability("DLC-02"), arguments: [0, 15])
    func silence(_ seconds: Int) async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).silence(after: 100)])
        let downloader = ImageDownloader(.init(timeout: .seconds(seconds)), clock: clock)
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        async let error = failure(downloader, request)
        try await reports.waitForBytes(100)
        clock.advance(by: .milliseconds(14_999))
        #expect(downloader.statistics.active == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await error.code == .timedOut)
    }

    @Test("every piece begins the time anew, so that a slow transfer comes to its end")
    func slow() async throws {
        let gate = OriginGate()
        let pieces = (0..<5).map { Data(repeating: UInt8($0), count: 10) }
        let server = try await OriginServer.start(["/a": OriginResponse(chunks: pieces, gate: gate)])
        let downloader = ImageDownloader(.init(timeout: .seconds(10)), clock: clock)
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        let task = Task { try await downloader.load(request) }
        try await reports.all.wait { $0.count == 1 }
        for piece in 1...5 {
            clock.advance(by: .seconds(9))
            gate.open()
            try await reports.waitForBytes(piece * 10)
        }
        #expect(try await task.value.data.count == 50)
    }

    @Test("the whole transfer can be limited too")
    func total() async throws {
        let gate = OriginGate()
        let pieces = (0..<5).map { Data(repeating: UInt8($0), count: 10) }
        let server = try await OriginServer.start(["/a": OriginResponse(chunks: pieces, gate: gate)])
        let downloader = ImageDownloader(.init(timeout: .seconds(10), totalTimeout: .seconds(25)), clock: clock)
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        async let error = failure(downloader, request)
        try await reports.all.wait { $0.count == 1 }
        for piece in 1...2 {
            clock.advance(by: .seconds(9))
            gate.open()
            try await reports.waitForBytes(piece * 10)
        }
        clock.advance(by: .seconds(7))
        #expect(try await error.code == .timedOut)
        #expect(try await error.reason == "the transfer took longer than 25 s")
    }

    @Test("waiting for a turn is not limited")
    func waiting() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [bytes], gate: gate) }
        let downloader = ImageDownloader(.init(timeout: .seconds(10), totalTimeout: .seconds(20)), clock: clock)
        downloader.isSuspended = true
        let url = server.url("/a")
        let task = Task { try await downloader.load(LoadRequest(url: url)) }
        while downloader.statistics.waiting == 0 { await Task.yield() }
        clock.advance(by: .seconds(100))
        downloader.isSuspended = false
        gate.openForGood()
        #expect(try await task.value.data == bytes)
    }

    @Test("by the real clock, too")
    func realClock() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).silence(after: 100)])
        let downloader = ImageDownloader(.init(timeout: .milliseconds(50)))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .timedOut && error.reason == "nothing came for 50 ms")
    }
}
#endif
