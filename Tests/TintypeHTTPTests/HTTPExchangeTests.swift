#if HTTP
import AsyncHTTPClient
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeHTTP

@Suite("Exchanges with a server", .timeLimited)
struct HTTPExchangeTests {
    private let client = SharedHTTPClient(.init(.init(), HTTPClientRoute()))

    @Test("A request that the client library gives up is no cancellation, and one that is closed is")
    func givenUp() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes).silence(after: 10) }
        let address = server.url("/a").absoluteString
        for isClosed in [true, false] {
            let client = SharedHTTPClient(.init(.init(), HTTPClientRoute()))
            let exchange = HTTPExchange(client: client)
            _ = try await exchange.head(of: HTTPClient.Request(url: address))
            if isClosed { exchange.close() }
            try await client.client.shutdown()
            let expected = isClosed ? HTTPClientError.cancelled : .remoteConnectionClosed
            await #expect(throws: expected) { while try await exchange.pieces() != nil {} }
        }
    }

    @Test("An exchange that is closed before its request sends none")
    func closedBefore() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let exchange = HTTPExchange(client: client)
        exchange.close()
        let address = server.url("/a").absoluteString
        await #expect(throws: HTTPClientError.cancelled) {
            try await exchange.head(of: HTTPClient.Request(url: address))
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test("Cancellations at any time end every load once, and leave no slot and no connection behind")
    func races() async throws {
        let server = try await OriginServer.start { request in
            request.path.hasSuffix("1") ? .redirect(to: "/") : OriginResponse(bytes)
        }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 8, maximumDownloadsPerHost: 4))
        let count = 10_000
        let ends = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                let url = server.url("/\(number)", host: number % 3 == 0 ? "localhost" : nil)
                let load = Task {
                    do throws(ImageError) {
                        #expect(try await downloader.load(LoadRequest(url: url)).data == bytes)
                    } catch {
                        #expect(error.code == .cancelled, "\(error)")
                    }
                    return 1
                }
                group.addTask {
                    // Each waits for another number of steps of the others.
                    for _ in 0..<number % 61 { await Task.yield() }
                    if number % 5 != 0 { load.cancel() }
                    if number % 500 == 499 { downloader.cancelAll() }
                    return await load.value
                }
            }
            return try await group.reduce(0, +)
        }
        let totals = downloader.statistics
        #expect(ends == count && totals.succeeded + totals.cancelled == count && totals.failed == 0)
        #expect(totals.active == 0 && totals.waiting == 0)
        #expect(try await downloader.load(LoadRequest(url: server.url("/0"))).data == bytes)
        await downloader.shutdown()
        await downloader.shutdown()
        try await server.waitForOpenConnections(atMost: 0)
    }

    @Test("A response that no thread of the program has taken yet is no silence of the server", .capability("3.10"))
    func busyProgram() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [bytes, bytes], gate: gate).chunked() }
        let clock = ManualClock()
        let limits = TimeLimits(.init(idle: .seconds(2)), watch: TransferWatch(Timekeeper(clock)), at: .zero)
        func isExceeded() -> Bool { limits.nextCheck(at: limits.now) == nil }
        let exchange = HTTPExchange(client: client, limits: limits.recordRequest(at: limits.now))
        _ = try await exchange.head(of: HTTPClient.Request(url: server.url("/a").absoluteString))
        clock.advance(by: .seconds(1))
        #expect(!isExceeded())
        gate.openForGood()
        // The event loop counts what arrives, although nobody takes it.
        while limits.nextCheck(at: .seconds(10)) == nil { await Task.yield() }
        clock.advance(by: .seconds(60))
        #expect(!isExceeded())
        while try await exchange.pieces() != nil {}
        clock.advance(by: .seconds(1))
        #expect(!isExceeded())
        clock.advance(by: .seconds(1))
        #expect(isExceeded())
    }

    @Test("A canceled task takes no more of a body, however fast it arrives")
    func canceledTask() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in OriginResponse(chunks: [bytes, bytes], gate: gate).chunked() }
        let clock = ManualClock()
        let limits = TimeLimits(.init(idle: .seconds(2)), watch: TransferWatch(Timekeeper(clock)), at: .zero)
        let exchange = HTTPExchange(client: client, limits: limits.recordRequest(at: limits.now))
        let request = try HTTPClient.Request(url: server.url("/a").absoluteString)
        let load = Task {
            _ = try await exchange.head(of: request)
            gate.openForGood()
            // What has arrived is no silence.
            while limits.nextCheck(at: .seconds(10)) == nil { await Task.yield() }
            withUnsafeCurrentTask { $0?.cancel() }
            return try await exchange.pieces()
        }
        await #expect(throws: HTTPClientError.cancelled) { try await load.value }
    }
}
#endif
