#if HTTP
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

@Suite("Turns and cancellation", .timeLimited)
struct DownloadTurnTests {
    /// A server whose answers wait at the gate, and a downloader with one slot.
    private struct Stage {
        let gate = OriginGate()
        let server: OriginServer
        let downloader: ImageDownloader

        init(newestFirst: Bool = false, limit: Int = 1) async throws {
            downloader = ImageDownloader(.init(maximumConcurrentDownloads: limit, newestFirst: newestFirst))
            server = try await OriginServer.start { [gate] _ in OriginResponse(chunks: [bytes], gate: gate) }
        }

        func load(_ name: Int, _ priority: WorkPriority = WorkPriority()) -> Task<LoadedData, any Error> {
            Task { try await downloader.load(LoadRequest(url: server.url("/\(name)"), priority: priority)) }
        }

        /// Starts a load and returns when it has its place.
        func add(_ name: Int, _ priority: WorkPriority = WorkPriority()) async throws -> Task<LoadedData, any Error> {
            let before = count
            let task = load(name, priority)
            while count == before { await Task.yield() }
            return task
        }

        private var count: Int {
            let statistics = downloader.statistics
            return statistics.active + statistics.waiting
        }

        var order: [Int] { server.requests.compactMap { Int($0.path.dropFirst()) } }
    }

    @Test("No more transfers than the limit run at once", .capability("DLC-01", "AFD-01", "AFD-06"))
    func limit() async throws {
        let stage = try await Stage(limit: 3)
        var tasks: [Task<LoadedData, any Error>] = []
        for name in 1...5 { tasks.append(try await stage.add(name)) }
        try await stage.server.waitForRequests(3)
        #expect(stage.downloader.statistics.active == 3 && stage.downloader.statistics.waiting == 2)
        #expect(stage.server.requestCount() == 3)
        stage.gate.openForGood()
        for task in tasks { #expect(try await task.value.data == bytes) }
        #expect(stage.server.requestCount() == 5)
    }

    @Test("With the newest first, the newest download begins first", .capability("DLR-18"))
    func newestFirst() async throws {
        let stage = try await Stage(newestFirst: true)
        var tasks: [Task<LoadedData, any Error>] = []
        for name in 1...7 { tasks.append(try await stage.add(name)) }
        stage.gate.open()
        try await stage.server.waitForRequests(1, "/7")
        for name in 8...14 { tasks.append(try await stage.add(name)) }
        stage.gate.openForGood()
        for task in tasks { _ = try await task.value }
        #expect(stage.order == [1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2])
    }

    @Test(
        "The highest priority goes first, and a priority can change while a download waits",
        .capability("DLR-19", "OPT-01", "OPT-07", "3.11"))
    func priorities() async throws {
        let stage = try await Stage()
        let changing = WorkPriority(.low)
        var tasks = [try await stage.add(1)]
        tasks.append(try await stage.add(2))
        tasks.append(try await stage.add(3, WorkPriority(.high)))
        tasks.append(try await stage.add(4, changing))
        changing.value = .veryHigh
        stage.gate.openForGood()
        for task in tasks { _ = try await task.value }
        #expect(stage.order == [1, 4, 3, 2])
    }

    @Test("A higher limit lets waiting downloads begin", .capability("DLC-01"))
    func raiseLimit() async throws {
        let stage = try await Stage()
        let tasks = [try await stage.add(1), try await stage.add(2)]
        stage.downloader.maximumConcurrentDownloads = 2
        try await stage.server.waitForRequests(2)
        stage.gate.openForGood()
        for task in tasks { _ = try await task.value }
    }

    @Test("No transfer begins while the downloader is suspended", .capability("DLR-20"))
    func suspended() async throws {
        let stage = try await Stage()
        stage.gate.openForGood()
        stage.downloader.isSuspended = true
        let task = try await stage.add(1)
        #expect(stage.downloader.statistics.waiting == 1)
        stage.downloader.isSuspended = false
        #expect(try await task.value.data == bytes)
    }

    @Test(
        "A request is modified once its turn has come, so that a signature isn't old when it is sent",
        .capability("DLR-05"))
    func modifiedInTurn() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let calls = Watched(0)
        let downloader = ImageDownloader(.init(requestModifier: { _ in calls.update { $0 += 1 } }))
        downloader.isSuspended = true
        let task = Task { try await downloader.load(LoadRequest(url: server.url("/1"))) }
        while downloader.statistics.waiting == 0 { await Task.yield() }
        #expect(calls.value == 0)
        downloader.isSuspended = false
        #expect(try await task.value.data == bytes)
        #expect(calls.value == 1)
    }

    @Test("A load that is cancelled before it begins sends no request", .capability("DLR-17"))
    func cancelledBefore() async throws {
        let stage = try await Stage()
        let downloader = stage.downloader
        let url = stage.server.url("/1")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await failure(downloader, LoadRequest(url: url))
        }
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        #expect(stage.server.requestCount() == 0)
        #expect(downloader.statistics.started == 0 && downloader.statistics.cancelled == 1)
    }

    @Test(
        "A load that is cancelled while it waits sends no request and takes no turn",
        .capability("DLR-17", "AFD-11", "D23"))
    func cancelledWaiting() async throws {
        let stage = try await Stage()
        let tasks = [try await stage.add(1), try await stage.add(2), try await stage.add(3)]
        tasks[1].cancel()
        await #expect { try await tasks[1].value } throws: { ImageError.Code.cancelled ~= $0 }
        stage.gate.openForGood()
        _ = try await tasks[0].value
        _ = try await tasks[2].value
        #expect(stage.order == [1, 3])
        #expect(stage.downloader.statistics.cancelled == 1)
    }

    @Test(
        "A load that is cancelled in the middle ends immediately, closes its connection, and frees its slot",
        .capability("DLR-14"))
    func cancelledInTheMiddle() async throws {
        let server = try await OriginServer.start([
            "/a": OriginResponse(bytes).silence(after: 100), "/b": OriginResponse(bytes),
        ])
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 1))
        let reports = Reports()
        let request = reports.request(server.url("/a"))
        let task = Task { try await failure(downloader, request) }
        try await reports.waitForBytes(100)
        task.cancel()
        let error = try await task.value
        // The server stays silent: who waited for it would end with its time limit.
        #expect(error.code == .cancelled && error.source == server.url("/a").absoluteString)
        try await server.waitForOpenConnections(atMost: 0)
        let count = reports.all.value.count
        #expect(try await downloader.load(LoadRequest(url: server.url("/b"))).data == bytes)
        #expect(reports.all.value.count == count)
    }

    @Test("A load that is cancelled before the response ends immediately")
    func cancelledBeforeAnswer() async throws {
        let gate = OriginGate()
        let server = try await OriginServer.start { _ in
            try? await gate.waitForArrivals(1)
            return OriginResponse(bytes)
        }
        let downloader = ImageDownloader()
        let url = server.url("/a")
        let task = Task { try await failure(downloader, LoadRequest(url: url)) }
        try await server.waitForRequests(1)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
    }

    @Test("A URL can be loaded again right after a cancelled load", .capability("DLR-15"))
    func again() async throws {
        let stage = try await Stage()
        let first = try await stage.add(1)
        try await stage.server.waitForRequests(1)
        first.cancel()
        let second = stage.load(1)
        await #expect { try await first.value } throws: { ImageError.Code.cancelled ~= $0 }
        stage.gate.openForGood()
        #expect(try await second.value.data == bytes)
    }

    @Test("Shutting down ends running loads", .capability("DLR-01"))
    func shutdown() async throws {
        let stage = try await Stage()
        let task = try await stage.add(1)
        try await stage.server.waitForRequests(1)
        await stage.downloader.shutdown()
        await #expect { try await task.value } throws: { ImageError.Code.cancelled ~= $0 }
    }

    @Test("cancelAll ends running and waiting loads, and the downloader can still be used", .capability("DLR-16"))
    func cancelAll() async throws {
        let stage = try await Stage()
        let tasks = [try await stage.add(1), try await stage.add(2), try await stage.add(3)]
        try await stage.server.waitForRequests(1)
        stage.downloader.cancelAll()
        for task in tasks {
            await #expect { try await task.value } throws: { ImageError.Code.cancelled ~= $0 }
        }
        #expect(stage.downloader.statistics.cancelled == 3 && stage.downloader.statistics.active == 0)
        stage.gate.openForGood()
        #expect(try await stage.load(4).value.data == bytes)
        #expect(stage.order == [1, 4])
    }

    @Test("Loads that are cancelled at any moment leave no slot taken", .capability("3.7"))
    func storm() async throws {
        let server = try await OriginServer.start { _ in OriginResponse(bytes) }
        let downloader = ImageDownloader(.init(maximumConcurrentDownloads: 4))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let priority = WorkPriority()
                    let url = server.url("/\(number)")
                    let task = Task { try await downloader.load(LoadRequest(url: url, priority: priority)) }
                    for _ in 0..<(number % 17) { await Task.yield() }
                    priority.value = ImagePriority.allCases[number % 5]
                    if number.isMultiple(of: 3) { task.cancel() }
                    _ = await task.result
                }
            }
        }
        let statistics = downloader.statistics
        #expect(statistics.active == 0 && statistics.waiting == 0 && statistics.failed == 0)
        #expect(statistics.succeeded + statistics.cancelled == 200)
        #expect(statistics.succeeded >= 133)
    }
}
#endif
