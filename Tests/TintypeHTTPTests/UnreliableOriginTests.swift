#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// The real clock, except that waits of up to a minute are over at once when they are for a retry.
///
/// Time limits of transfers are longer here.
private struct HurriedClock: Clock {
    let skipped: Watched<[Duration]>
    private let clock = ContinuousClock()

    var now: ContinuousClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let duration = clock.now.duration(to: deadline)
        guard duration < .seconds(60) else { return try await clock.sleep(until: deadline, tolerance: tolerance) }
        skipped.update { $0.append(duration) }
        try Task.checkCancellation()
        await Task.yield()
    }
}

@Suite("Unreliable origins", .timeLimited)
struct UnreliableOriginTests {
    /// The answers of an origin that fails by a script, by the number of the request.
    private struct Script: Sendable {
        var requests = 0
        var forced = 0
        var transfers = 0
    }

    @Test(
        "1,000 images arrive from an origin that cuts every third transfer, says 429, and fails in bursts",
        .capability("3.11"))
    func thousand() async throws {
        let script = Watched(Script())
        @Sendable func body(_ path: String) -> Data { Data((path + String(repeating: "x", count: 2_000)).utf8) }
        let server = try await OriginServer.start { request in
            let fault = script.update { script -> String in
                script.requests += 1
                let fault: String
                switch script.requests % 200 {
                case 50, 90, 130: fault = "busy"
                case 150..<165: fault = "broken"
                default:
                    script.transfers += 1
                    fault = script.transfers % 3 == 0 ? "cut" : ""
                }
                if !fault.isEmpty { script.forced += 1 }
                return fault
            }
            let whole = body(request.path)
            let first = request.header("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            var response = OriginResponse(
                whole.dropFirst(first), status: first > 0 ? 206 : 200, headers: ["ETag": "\"\(request.path)\""])
            if first > 0 {
                response = response.header("Content-Range", "bytes \(first)-\(whole.count - 1)/\(whole.count)")
            }
            switch fault {
            case "busy": return OriginResponse(status: 429, headers: ["Retry-After": "2"])
            case "broken": return .status(503)
            case "cut": return response.close(after: (whole.count - first) / 2)
            default: return response
            }
        }
        let skipped = Watched<[Duration]>([])
        let downloader = ImageDownloader(
            .init(
                maximumConcurrentDownloads: 16, timeout: .seconds(300),
                retry: RetryPolicy(maximumAttempts: 40, retriesPerMinute: 100_000),
                resumesTransfers: true), clock: HurriedClock(skipped: skipped))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let path = "/image-\(number)"
                    let loaded = try await downloader.load(LoadRequest(url: server.url(path)))
                    #expect(loaded.data == body(path))
                }
            }
            try await group.waitForAll()
        }
        let end = script.value
        #expect(end.forced > 300)
        #expect(Double(end.requests) <= 1.1 * Double(1_000 + end.forced), "\(end)")
        #expect(skipped.value.contains { $0 > .milliseconds(1_500) }, "a Retry-After is waited for")
    }
}
#endif
