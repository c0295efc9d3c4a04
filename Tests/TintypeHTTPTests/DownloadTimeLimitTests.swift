#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Time limits of downloads", .timeLimited)
struct DownloadTimeLimitTests {
    private let clock = ManualClock()

    @Test("A server that does not respond for 15 s is a timeout", .capability("DLC-02"))
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
        #expect(try await error.reason == "no data arrived for 15 s")
        #expect(try await error.source == server.url("/a").absoluteString)
        #expect(downloader.statistics.failed == 1 && downloader.statistics.active == 0)
    }

    @Test(
        "Silence in the middle of the body is a timeout, also with the default limit", .capability("DLC-02"),
        arguments: [0, 15])
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

    @Test("Every piece restarts the time limit, so that a slow transfer ends well")
    func slow() async throws {
        let gate = OriginGate()
        let pieces = (0..<5).map { Data(repeating: UInt8($0), count: 10) }
        let server = try await OriginServer.start(["/a": OriginResponse(chunks: pieces, gate: gate)])
        let downloader = ImageDownloader(.init(timeout: .seconds(10), minimumSpeed: nil), clock: clock)
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

    @Test(
        "The time of a closure of the program is no silence of the server, but counts in the whole transfer",
        .capability("DLC-02", "DLR-05"))
    func closures() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        for total in [nil, Duration.seconds(100)] {
            let (clock, gate) = (ManualClock(), OriginGate())
            let downloader = ImageDownloader(
                .init(
                    timeout: .seconds(10), totalTimeout: total, requestModifier: { _ in try await gate.pass() },
                    firstByteTimeout: .seconds(5)), clock: clock)
            let task = Task { try await downloader.load(LoadRequest(url: server.url("/a"))) }
            try await gate.waitForArrivals(1)
            clock.advance(by: .seconds(99))
            // The check has found no fault, and sleeps again.
            try await clock.waitForSleepers(1)
            if total == nil {
                gate.openForGood()
                #expect(try await task.value.data == bytes)
            } else {
                clock.advance(by: .seconds(1))
                let error = await #expect(throws: ImageError.self) { try await task.value }
                #expect(error?.reason == "the transfer took longer than 100 s")
            }
        }
    }

    @Test(
        "A closure of the program that heeds no cancellation keeps neither its load nor the turn of others",
        .capability("DLC-02"), arguments: [false, true])
    func heedlessClosure(isCanceled: Bool) async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let gate = OriginGate()
        let downloader = ImageDownloader(
            .init(
                maximumConcurrentDownloads: 1, totalTimeout: .seconds(10),
                requestModifier: { request in
                    guard request.url.path == "/heedless" else { return }
                    // A wait for another task goes on after a cancellation.
                    _ = await Task { try? await gate.pass() }.value
                }), clock: clock)
        let heedless = Task { try await failure(downloader, LoadRequest(url: server.url("/heedless"))) }
        try await gate.waitForArrivals(1)
        let next = Task { try await downloader.load(LoadRequest(url: server.url("/a"))) }
        try await clock.waitForSleepers(1)
        if isCanceled { heedless.cancel() } else { clock.advance(by: .seconds(10)) }
        #expect(try await heedless.value.code == (isCanceled ? .cancelled : .timedOut))
        #expect(try await next.value.data == bytes)
        gate.openForGood()
    }

    @Test("A load that is cancelled while it reads the body of an error ends as cancelled", .capability("DLR-14"))
    func cancelledWhileDraining() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes, status: 404).silence(after: 10)])
        let downloader = ImageDownloader(clock: clock)
        let task = Task { try await downloader.load(LoadRequest(url: server.url("/a"))) }
        // One sleeper watches the transfer, the other one the body.
        try await clock.waitForSleepers(2)
        task.cancel()
        let error = await #expect(throws: ImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test("Time limits out of the range of clocks are bounded", arguments: [Int.min, -1, 0, Int.max])
    func bounds(_ seconds: Int) async throws {
        let limit = Duration.seconds(seconds)
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let idle = ImageDownloader(.init(timeout: limit))
        #expect(try await idle.load(LoadRequest(url: server.url("/a"))).data == bytes)
        let others = ImageDownloader(.init(totalTimeout: limit, firstByteTimeout: limit))
        do {
            #expect(try await others.load(LoadRequest(url: server.url("/a"))).data == bytes)
        } catch {
            #expect(seconds <= 0 && error.code == .timedOut)
        }
    }

    @Test("The duration of the whole transfer can be limited")
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

    @Test("The wait for a turn is not limited")
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

    @Test(
        "An error or redirect whose body stalls does not wait for the time limit",
        arguments: [("/404", ImageError.Code.badStatus), ("/302", .bodyTooLarge)])
    func stalledError(_ path: String, _ code: ImageError.Code) async throws {
        let text = Data("not here".utf8)
        let server = try await OriginServer.start([
            "/404": OriginResponse(text, status: 404).silence(after: 3),
            "/302": OriginResponse(text, status: 302, headers: ["Location": "/large"]).silence(after: 3),
            "/large": OriginResponse(bytes),
        ])
        let downloader = ImageDownloader(.init(maximumBytes: 100), clock: clock)
        async let error = failure(downloader, LoadRequest(url: server.url(path)))
        // One task watches the time limit, one the patience for the body.
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await error.code == code)
    }

    @Test(
        "A time limit may be as long as a duration can be",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.max / 1_000), .nanoseconds(1)])
    func extremes(_ limit: Duration) async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes)])
        let long = max(limit, .seconds(60))
        let downloader = ImageDownloader(.init(timeout: long, totalTimeout: long))
        #expect(try await downloader.load(LoadRequest(url: server.url("/a"))).data == bytes)
        // The clock stands still, so that even the shortest limit is not exceeded.
        let still = ImageDownloader(.init(timeout: limit, totalTimeout: limit), clock: clock)
        #expect(still.configuration.timeout == limit)
    }

    @Test(
        "Each time limit ends a secure connection whose handshake gets no answer, and so does a cancellation",
        arguments: [(15, nil, nil), (60, 5, nil), (60, nil, 10), (60, nil, nil)] as [(Int, Int?, Int?)])
    func handshake(idle: Int, firstByte: Int?, total: Int?) async throws {
        let silence = try RawListener()
        let downloader = ImageDownloader(
            .init(
                timeout: .seconds(idle), totalTimeout: total.map { .seconds($0) },
                firstByteTimeout: firstByte.map { .seconds($0) }), clock: clock)
        let url = try #require(URL(string: "https://127.0.0.1:\(silence.port)/a"))
        let load = Task { try await failure(downloader, LoadRequest(url: url)) }
        try await clock.waitForSleepers(1)
        let limit = min(idle, firstByte ?? idle, total ?? idle)
        if limit < 60 { clock.advance(by: .seconds(limit)) } else { load.cancel() }
        #expect(try await load.value.code == (limit < 60 ? .timedOut : .cancelled))
        #expect(downloader.statistics.active == 0)
    }

    @Test("Time limits also work with the real clock")
    func realClock() async throws {
        let server = try await OriginServer.start(["/a": OriginResponse(bytes).silence(after: 100)])
        let downloader = ImageDownloader(.init(timeout: .milliseconds(50)))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .timedOut && error.reason.hasPrefix("no data arrived"))
    }
}
#endif
