#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("The pace of transfers", .timeLimited)
struct TransferPaceTests {
    @Test("A server that sends a byte now and then is too slow")
    func trickle() {
        var pace = TransferPace(.init(idle: .seconds(15), minimumSpeed: 100), at: .zero)
        pace.recordRequest(at: .zero)
        pace.recordHead(at: .seconds(1))
        for second in 1...10 { pace.recordBody(1, at: .seconds(second)) }
        let verdict1 = pace.check(at: .seconds(10))
        #expect(verdict1 == .fine(until: .seconds(11)))
        let verdict2 = pace.check(at: .seconds(11))
        #expect(verdict2 == .exceeded("only 1 B arrived per second; the minimum is 100 B per second"))
    }

    @Test("Each period is measured by itself")
    func periods() {
        var pace = TransferPace(.init(idle: .seconds(15), minimumSpeed: 100), at: .zero)
        pace.recordBody(1_000_000, at: .zero)
        let verdict3 = pace.check(at: .seconds(10))
        #expect(verdict3 == .fine(until: .seconds(15)))
        pace.recordBody(999, at: .seconds(12))
        let verdict4 = pace.check(at: .seconds(20))
        #expect(verdict4 != .fine(until: .seconds(27)))
        var fast = TransferPace(.init(idle: .seconds(15), minimumSpeed: 100), at: .zero)
        fast.recordBody(1_000, at: .zero)
        let verdict5 = fast.check(at: .seconds(10))
        #expect(verdict5 == .fine(until: .seconds(15)))
        fast.recordBody(1_000, at: .seconds(12))
        let verdict6 = fast.check(at: .seconds(20))
        #expect(verdict6 == .fine(until: .seconds(27)))
    }

    @Test("The wait for the head begins anew with each request, and ends with the head")
    func firstByte() {
        var pace = TransferPace(.init(idle: .seconds(15), firstByte: .seconds(5)), at: .zero)
        pace.recordRequest(at: .zero)
        let verdict7 = pace.check(at: .seconds(4))
        #expect(verdict7 == .fine(until: .seconds(5)))
        pace.recordRequest(at: .seconds(4))
        let verdict8 = pace.check(at: .seconds(5))
        #expect(verdict8 == .fine(until: .seconds(9)))
        let verdict9 = pace.check(at: .seconds(9))
        #expect(verdict9 == .exceeded("the response didn't begin within 5 s"))
        pace.recordHead(at: .seconds(9))
        let verdict10 = pace.check(at: .seconds(9))
        // A redirect may make another request at any time.
        #expect(verdict10 == .fine(until: .seconds(14)))
    }

    @Test("Nothing but the limit of the whole transfer counts while a closure of the program runs")
    func pause() {
        var pace = TransferPace(
            .init(idle: .seconds(15), total: .seconds(100), firstByte: .seconds(5), minimumSpeed: 100), at: .zero)
        pace.recordBody(1, at: .zero)
        pace.recordPause()
        var verdict = pace.check(at: .seconds(60))
        #expect(verdict == .fine(until: .seconds(75)))
        pace.recordResumption(at: .seconds(70))
        verdict = pace.check(at: .seconds(79))
        #expect(verdict == .fine(until: .seconds(80)))
        verdict = pace.check(at: .seconds(80))
        #expect(verdict == .exceeded("only 0 B arrived per second; the minimum is 100 B per second"))
        pace.recordPause()
        verdict = pace.check(at: .seconds(100))
        #expect(verdict == .exceeded("the transfer took longer than 100 s"))
    }

    @Test("A downloader ends a transfer that is too slow, and frees its slot", .capability("3.8"))
    func slowLoris() async throws {
        let clock = ManualClock()
        let gate = OriginGate()
        let pieces = (0..<100).map { _ in Data([1]) }
        let server = try await OriginServer.start { _ in OriginResponse(chunks: pieces, gate: gate).chunked() }
        // The limit is there by default.
        let downloader = ImageDownloader(clock: clock)
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        async let error = failure(downloader, request)
        for count in 1...5 {
            gate.open()
            try await reports.waitForBytes(count)
            clock.advance(by: .seconds(2))
        }
        #expect(try await error.code == .timedOut)
        #expect(try await error.reason.contains("per second"))
        #expect(downloader.statistics.active == 0)
    }

    @Test("Six servers that send a byte now and then don't keep a downloader busy for ever", .capability("3.8"))
    func sixSlowServers() async throws {
        let clock = ManualClock()
        // One for each response: at a common gate, a fast one would take the turn of a slow one.
        let gates = (0..<6).map { _ in OriginGate() }
        let server = try await OriginServer.start { request in
            guard let number = Int(request.path.dropFirst()) else { return OriginResponse(bytes) }
            return OriginResponse(chunks: (0..<100).map { _ in Data([1]) }, gate: gates[number]).chunked()
        }
        let downloader = ImageDownloader(clock: clock)
        let reports = (0..<6).map { _ in Reports() }
        let slow = reports.enumerated().map { number, reports in
            let request = reports.request(server.url("/\(number)"))
            return Task { try await failure(downloader, request) }
        }
        try await server.waitForRequests(6)
        let url = server.url("/good")
        let good = Task { try await downloader.load(LoadRequest(url: url)) }
        for count in 1...5 {
            for gate in gates { gate.open() }
            for reports in reports { try await reports.waitForBytes(count) }
            clock.advance(by: .seconds(2))
        }
        for load in slow { #expect(try await load.value.code == .timedOut) }
        #expect(try await good.value.data == bytes)
    }

    @Test("A downloader ends a transfer whose response doesn't begin")
    func noHead() async throws {
        let clock = ManualClock()
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            try? await gate.pass()
            return OriginResponse(bytes)
        }
        let downloader = ImageDownloader(.init(firstByteTimeout: .seconds(3)), clock: clock)
        async let error = failure(downloader, LoadRequest(url: server.url("/a")))
        try await server.waitForRequests(1)
        clock.advance(by: .seconds(3))
        #expect(try await error.code == .timedOut)
        #expect(try await error.reason.contains("didn't begin within 3 s"))
        gate.openForGood()
    }

    @Test("While something that arrived waits for the program, the server isn't silent", .capability("3.10"))
    func busyProgram() {
        var pace = TransferPace(.init(idle: .seconds(15), minimumSpeed: 100), at: .zero)
        pace.recordRequest(at: .zero)
        pace.recordArrival(at: .seconds(1))
        let waiting = pace.check(at: .seconds(60))
        #expect(waiting == .fine(until: .seconds(75)))
        pace.recordTaken(at: .seconds(60))
        let taken = pace.check(at: .seconds(60))
        #expect(taken == .fine(until: .seconds(70)))
        let silent = pace.check(at: .seconds(75))
        #expect(silent == .exceeded("no data arrived for 15 s"))
    }

    @Test("The wait for the program isn't part of the time in which the speed is measured")
    func busyProgramSpeed() {
        var pace = TransferPace(.init(idle: .seconds(15), minimumSpeed: 100), at: .zero)
        pace.recordArrival(at: .zero)
        pace.recordBody(600, at: .zero)
        pace.recordTaken(at: .seconds(20))
        pace.recordArrival(at: .seconds(26))
        pace.recordBody(600, at: .seconds(26))
        pace.recordTaken(at: .seconds(26))
        let fast = pace.check(at: .seconds(30))
        #expect(fast == .fine(until: .seconds(40)))
        pace.recordArrival(at: .seconds(35))
        pace.recordBody(10, at: .seconds(35))
        pace.recordTaken(at: .seconds(35))
        let slow = pace.check(at: .seconds(40))
        #expect(slow == .exceeded("only 1 B arrived per second; the minimum is 100 B per second"))
    }
}
#endif
