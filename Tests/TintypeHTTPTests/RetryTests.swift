#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// Answers requests from a list, the last one again and again.
final class Script: Sendable {
    private let responses: Watched<[OriginResponse]>

    init(_ responses: OriginResponse...) { self.responses = Watched(responses) }

    func next() -> OriginResponse {
        responses.update { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
}

@Suite("Repeated downloads", .timeLimited)
struct RetryTests {
    private let clock = ManualClock()
    private let policy = RetryPolicy(baseDelay: .seconds(1)).jittering { 1 }

    /// A downloader that tells of each delay as it begins.
    private func downloader(countingIn delays: Watched<[Duration]>) -> ImageDownloader {
        ImageDownloader(
            .init(
                retry: policy,
                observer: { event in
                    if case .retrying(_, _, let delay) = event { delays.update { $0.append(delay) } }
                }),
            clock: clock)
    }

    @Test("The measurements of redirects are those of the last attempt", .capability("DLR-34"))
    func redirectsOfTheLastAttempt() async throws {
        let script = Script(.status(503), .status(503), OriginResponse(bytes))
        let server = try await OriginServer.start { $0.path == "/a" ? .redirect(to: "/b") : script.next() }
        let downloader = ImageDownloader(.init(retry: RetryPolicy(baseDelay: .zero)))
        let loaded = try await downloader.load(LoadRequest(url: server.url("/a")))
        let metrics = try #require(loaded.transfer)
        #expect(metrics.attempts == 3 && metrics.redirects == 1)
    }

    @Test("An observer learns of the end of a load that is cancelled during a delay", arguments: [true, false])
    func cancelledDelay(byDownloader: Bool) async throws {
        let server = try await OriginServer.start { _ in .status(503) }
        let ends = Watched<[ImageError?]>([])
        let delays = Watched(0)
        let downloader = ImageDownloader(
            .init(
                retry: policy,
                observer: { event in
                    switch event {
                    case .retrying: delays.update { $0 += 1 }
                    case .finished(_, _, let error): ends.update { $0.append(error) }
                    default: break
                    }
                }),
            clock: clock)
        let url = server.url("/a")
        let load = Task { try await failure(downloader, LoadRequest(url: url)) }
        try await delays.wait { $0 == 1 }
        if byDownloader { downloader.cancelAll() } else { load.cancel() }
        #expect(try await load.value.code == .cancelled)
        #expect(ends.value.map { $0?.code } == [.cancelled] && downloader.statistics.cancelled == 1)
        #expect(server.requestCount() == 1)
    }

    @Test("A request that a closure has made a POST isn't repeated", .capability("3.4"))
    func changedMethod() async throws {
        let server = try await OriginServer.start { _ in .status(503) }
        var eager = policy
        eager.baseDelay = .zero
        let downloader = ImageDownloader(
            .init(requestModifier: { $0.method = "POST" }, retry: eager), clock: clock)
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).statusCode == 503)
        #expect(server.requestCount() == 1)
    }

    @Test("Another attempt waits until the program is ready for it, for example connected", .capability("3.4"))
    func waits() async throws {
        let script = Script(.status(503), OriginResponse(bytes))
        let server = try await OriginServer.start { _ in script.next() }
        let gate = OriginGate()
        let waiting = Watched<[Int?]>([])
        var patient = policy
        patient.baseDelay = .zero
        patient.waitUntilReady = { error in
            waiting.update { $0.append(error.statusCode) }
            try await gate.pass()
        }
        let downloader = ImageDownloader(.init(retry: patient), clock: clock)
        let url = server.url("/a")
        async let loaded = downloader.load(LoadRequest(url: url))
        try await waiting.wait { $0 == [503] }
        #expect(server.requestCount() == 1)
        gate.openForGood()
        #expect(try await loaded.data == bytes)
    }

    @Test(
        "A program that isn't ready for another attempt ends the load with its error, and a cancelled load ends at once"
    )
    func notReady() async throws {
        let server = try await OriginServer.start { _ in .status(503) }
        var impatient = policy
        impatient.baseDelay = .zero
        impatient.waitUntilReady = { _ in throw ImageError(.notCached, stage: .load, reason: "offline for good") }
        let downloader = ImageDownloader(.init(retry: impatient), clock: clock)
        #expect(try await failure(downloader, LoadRequest(url: server.url("/a"))).statusCode == 503)
        #expect(server.requestCount() == 1)
        let isWaiting = Watched(false)
        impatient.waitUntilReady = { _ in
            isWaiting.update { $0 = true }
            try await Task.sleep(for: .seconds(3_600))
        }
        let other = ImageDownloader(.init(retry: impatient), clock: clock)
        let load = Task { try await failure(other, LoadRequest(url: server.url("/b"))) }
        try await isWaiting.wait { $0 }
        load.cancel()
        #expect(try await load.value.isCancellation)
    }

    @Test("A transfer that fails is repeated after a delay, until it succeeds", .capability("3.4"))
    func repeats() async throws {
        let script = Script(.status(503), .status(500), OriginResponse(bytes))
        let server = try await OriginServer.start { _ in script.next() }
        let delays = Watched<[Duration]>([])
        let downloader = downloader(countingIn: delays)
        let url = server.url("/a")
        async let loaded = downloader.load(LoadRequest(url: url))
        for delay in [1, 2] {
            try await delays.wait { $0.last == .seconds(delay) }
            clock.advance(by: .seconds(delay))
        }
        let result = try await loaded
        #expect(result.data == bytes)
        #expect(result.transfer?.attempts == 3 && result.transfer?.backoff == .seconds(3))
        #expect(server.requestCount() == 3 && downloader.statistics.succeeded == 1)
    }

    @Test("A transfer that a time limit ended is repeated after a delay, too", .capability("3.4", "DLC-02"))
    func repeatsAfterTimeLimit() async throws {
        let script = Script(OriginResponse(bytes).silence(after: 100), OriginResponse(bytes))
        let server = try await OriginServer.start { _ in script.next() }
        let delays = Watched<[Duration]>([])
        let downloader = downloader(countingIn: delays)
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        async let loaded = downloader.load(request)
        try await reports.waitForBytes(100)
        clock.advance(by: .seconds(15))
        try await delays.wait { $0 == [.seconds(1)] }
        clock.advance(by: .seconds(1))
        let result = try await loaded
        #expect(result.data == bytes)
        #expect(result.transfer?.attempts == 2 && result.transfer?.backoff == .seconds(1))
        #expect(server.requestCount() == 2 && downloader.statistics.cancelled == 0)
    }

    @Test("A load ends with its last error, and with the head of the response", .capability("ERR-06", "ERR-10"))
    func givesUp() async throws {
        let server = try await OriginServer.start { _ in
            OriginResponse(status: 503, type: "text/plain", headers: ["X-Reason": "overload"])
        }
        let downloader = ImageDownloader(.init(retry: RetryPolicy(maximumAttempts: 4, baseDelay: .zero)))
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.code == .badStatus && error.statusCode == 503 && server.requestCount() == 4)
        #expect(error.response?.headers["X-Reason"] == "overload" && error.response?.mimeType == "text/plain")
        #expect(downloader.statistics.failed == 1)
    }

    @Test("Nothing is repeated without a policy, after a permanent error, or for a POST")
    func noRepetition() async throws {
        let server = try await OriginServer.start { .status($0.path == "/404" ? 404 : 503) }
        let none = ImageDownloader()
        #expect(try await failure(none, LoadRequest(url: server.url("/a"))).statusCode == 503)
        let three = ImageDownloader(.init(retry: RetryPolicy(baseDelay: .zero)))
        #expect(try await failure(three, LoadRequest(url: server.url("/404"))).statusCode == 404)
        #expect(try await failure(three, LoadRequest(url: server.url("/a"), method: "POST")).statusCode == 503)
        #expect(server.requestCount() == 3)
    }

    @Test("A Retry-After of a year ends the load at once", .capability("3.4"))
    func year() async throws {
        let server = try await OriginServer.start { _ in
            OriginResponse(status: 429, headers: ["Retry-After": "31536000"])
        }
        let downloader = ImageDownloader(.init(retry: policy), clock: clock)
        let error = try await failure(downloader, LoadRequest(url: server.url("/a")))
        #expect(error.statusCode == 429 && server.requestCount() == 1)
    }

    @Test("A load can be cancelled while it waits for its next attempt")
    func cancel() async throws {
        let server = try await OriginServer.start { _ in .status(503) }
        let delays = Watched<[Duration]>([])
        let downloader = downloader(countingIn: delays)
        let url = server.url("/a")
        let task = Task { try await failure(downloader, LoadRequest(url: url)) }
        try await delays.wait { !$0.isEmpty }
        try await clock.waitForSleepers(1)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        #expect(downloader.statistics.cancelled == 1)
        // No task stays behind, neither that of the delay nor that of the time limits.
        #expect(clock.sleepers == 0)
    }

    @Test("The budget of a server limits the repetitions of all of its images")
    func budget() async throws {
        let server = try await OriginServer.start { _ in .status(503) }
        let downloader = ImageDownloader(
            .init(retry: RetryPolicy(maximumAttempts: 10, baseDelay: .zero, retriesPerMinute: 3)), clock: clock)
        for _ in 1...4 { _ = try await failure(downloader, LoadRequest(url: server.url("/a"))) }
        #expect(server.requestCount() == 7)
    }

    @Test("Servers that fail again and again aren't asked, until a probe succeeds", .capability("3.4"))
    func breaker() async throws {
        let script = Script(.status(503), .status(503), .status(503), OriginResponse(bytes))
        let server = try await OriginServer.start { _ in script.next() }
        let healthy = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(
            .init(circuitBreaker: .init(failureThreshold: 2, pause: .seconds(30))), clock: clock)
        let request = LoadRequest(url: server.url("/a"))
        for _ in 1...2 { #expect(try await failure(downloader, request).code == .badStatus) }
        let refused = try await failure(downloader, request)
        #expect(refused.code == .hostUnavailable && refused.reason.hasSuffix("in 30 s"))
        #expect(try await downloader.load(LoadRequest(url: healthy.url("/a"))).data == bytes)
        clock.advance(by: .seconds(30))
        #expect(try await failure(downloader, request).code == .badStatus)
        #expect(try await failure(downloader, request).code == .hostUnavailable)
        #expect(server.requestCount() == 3)
        clock.advance(by: .seconds(30))
        #expect(try await downloader.load(request).data == bytes)
        #expect(try await downloader.load(request).data == bytes)
    }

    @Test("A response ends a row of failures, whatever is wrong with it", .capability("3.4"))
    func answerEndsRow() async throws {
        // A coding that can't be decoded, between two failures.
        let coded = OriginResponse(bytes, headers: ["Content-Encoding": "compress"])
        let script = Script(.status(503), coded, .status(503), OriginResponse(bytes))
        let server = try await OriginServer.start { _ in script.next() }
        let downloader = ImageDownloader(
            .init(circuitBreaker: .init(failureThreshold: 2, pause: .seconds(30))), clock: clock)
        let request = LoadRequest(url: server.url("/a"))
        let codes = [ImageError.Code.badStatus, .badResponse, .badStatus]
        for code in codes { #expect(try await failure(downloader, request).code == code) }
        #expect(try await downloader.load(request).data == bytes)
    }

    @Test("Hundreds of images arrive from a server that fails often, with no more requests than the failures force")
    func unreliable() async throws {
        let count = Watched(0)
        let server = try await OriginServer.start { _ in
            let number = count.update { number in
                number += 1
                return number
            }
            if number % 3 == 0 { return OriginResponse(bytes, headers: ["ETag": "\"1\""]).close(after: 100) }
            return number % 7 == 0 ? .status(500) : OriginResponse(bytes, headers: ["ETag": "\"1\""])
        }
        let downloader = ImageDownloader(
            .init(
                maximumConcurrentDownloads: 20,
                retry: RetryPolicy(maximumAttempts: 50, baseDelay: .zero, retriesPerMinute: 10_000),
                resumesTransfers: false))
        let arrived = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    (try? await downloader.load(LoadRequest(url: server.url("/\(index)"))).data) == bytes
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(arrived == 200)
        let forced = (1...server.requestCount()).count { $0 % 3 == 0 || $0 % 7 == 0 }
        #expect(server.requestCount() == 200 + forced)
    }

    @Test("Mirrors are tried in order, without the secrets of the first host", .capability("3.4"))
    func mirrors() async throws {
        let main = try await OriginServer.start { _ in .status(500) }
        let second = try await OriginServer.start { _ in .status(404) }
        let third = try await OriginServer.start { _ in OriginResponse(bytes, headers: ["ETag": "\"3\""]) }
        let urls = [second.url("/b"), third.url("/c")]
        let loader = ImageDownloader().withAlternatives { _ in urls }
        let request = LoadRequest(url: main.url("/a"), headers: ["Authorization": "secret", "Accept": "image/png"])
        let loaded = try await loader.load(request)
        #expect(loaded.data == bytes && loaded.url == third.url("/c"))
        // The first host isn't asked about an entity tag of another.
        #expect(loaded.validators == nil)
        #expect(main.requests[0].header("Authorization") == "secret")
        #expect(third.requests[0].header("Authorization") == nil && third.requests[0].header("Accept") == "image/png")

        let failing = ImageDownloader().withAlternatives { _ in [urls[0]] }
        do {
            _ = try await failing.load(request)
            Issue.record("it did not fail")
        } catch {
            #expect(error.statusCode == 500 && error.reason.contains("404 Not Found"))
        }
        let strict = ImageDownloader().withAlternatives(when: { $0.statusCode != 500 }) { _ in urls }
        await #expect(throws: ImageError.self) { try await strict.load(request) }
        #expect(third.requestCount() == 1)
    }
}
#endif
