#if HTTP
import FoundationEssentials
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Network activity", .timeLimited)
struct NetworkActivityTests {
    private let clock = ManualClock()
    private let reports = Watched<[Bool]>([])
    private let activity: NetworkActivity

    init() {
        activity = NetworkActivity(clock: clock) { [reports] isActive in reports.update { $0.append(isActive) } }
    }

    private func start(_ id: Int) throws {
        activity.observe(.started(id: id, url: try #require(URL(string: "http://images.example/a"))))
    }

    private func finish(_ id: Int) { activity.observe(.finished(id: id, TransferMetrics(), nil)) }

    @Test("Activity begins after a second, and ends 170 ms after the last transfer", .capability("AFD-15"))
    func delays() async throws {
        try start(1)
        clock.advance(by: .milliseconds(999))
        #expect(!activity.isActive && reports.value.isEmpty)
        clock.advance(by: .milliseconds(1))
        try await reports.wait { $0 == [true] }
        try start(2)
        finish(1)
        #expect(activity.isActive && activity.transferCount == 1)
        finish(2)
        clock.advance(by: .milliseconds(169))
        #expect(activity.isActive && reports.value == [true])
        clock.advance(by: .milliseconds(1))
        try await reports.wait { $0 == [true, false] }
        #expect(!activity.isActive)
    }

    @Test("Short transfers cause no activity, and a pause shorter than the delay doesn't end it", .capability("AFD-15"))
    func flicker() async throws {
        try start(1)
        finish(1)
        clock.advance(by: .seconds(2))
        try start(2)
        clock.advance(by: .seconds(1))
        try await reports.wait { $0 == [true] }
        finish(2)
        clock.advance(by: .milliseconds(100))
        try start(3)
        clock.advance(by: .seconds(10))
        #expect(activity.isActive && reports.value == [true])
    }

    @Test(
        "Repeated attempts, and ends of transfers that never began, are counted correctly",
        .capability("AFD-15", "DLR-42"))
    func attempts() throws {
        let error = ImageError(.timedOut, stage: .load, reason: "slow")
        try start(1)
        activity.observe(.retrying(id: 1, after: error, delay: .seconds(1)))
        #expect(activity.transferCount == 0)
        try start(1)
        finish(2)
        #expect(activity.transferCount == 1)
        activity.observe(.started(id: 1, url: try #require(URL(string: "http://images.example/"))), of: 7)
        #expect(activity.transferCount == 2)
        finish(1)
        #expect(activity.transferCount == 1)
    }

    @Test("The transfers of a downloader are noted", .capability("AFD-15"))
    func downloader() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            try? await gate.pass()
            return OriginResponse(bytes)
        }
        let downloader = ImageDownloader(.init(observer: { [activity] event in activity.observe(event) }))
        async let loaded = downloader.load(LoadRequest(url: server.url("/a")))
        try await server.waitForRequests(1)
        #expect(activity.transferCount == 1)
        gate.openForGood()
        _ = try await loaded
        #expect(activity.transferCount == 0)
    }
}
#endif
