import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Helpers for the tests of programs", .timeLimited)
struct TestLoaderTests {
    private let url = URL(string: "https://example.org/avatar.png")!
    private let other = URL(string: "test:/other.png")!
    private let png: Data

    init() throws { png = try SampleImages.draw(.colorWheel, scale: 0.05).data }

    private func manager(_ loader: TestLoader) -> ImageManager {
        ImageManager(cache: ImageCache(), loader: loader)
    }

    @Test("A test loader answers as scripted, and counts requests")
    func answers() async throws {
        let loader = TestLoader([url: .data(png, mimeType: "image/png")])
        let manager = manager(loader)
        #expect(try await manager.load(url).mimeType == "image/png")
        #expect(try await manager.image(for: url).format == .png)
        #expect(loader.requestCount(for: url) == 1 && loader.requestCount() == 1)
        await #expect { try await manager.image(for: self.other) } throws: { ($0 as? ImageError)?.statusCode == 404 }
        #expect(loader.requests.map(\.url) == [url, other])
        loader.answer(other, with: .failure(ImageError(.timedOut, stage: .load, reason: "too slow")))
        var request = ImageRequest(other)
        request.retriesFailed = true
        await #expect { try await manager.image(for: request) } throws: { error in
            (error as? ImageError)?.code == .timedOut && (error as? ImageError)?.source == "test:/other.png"
        }
        #expect(!loader.canLoad(URL(filePath: "/a")) && loader.runningLoads == 0)
    }

    @Test("A test loader can compute its answers, and report progress in pieces")
    func computed() async throws {
        let png = png
        let loader = TestLoader(schemes: ["app"]) { request in
            request.url.path == "/a" ? .chunks([png.prefix(10), png.dropFirst(10)]) : .status(500)
        }
        let reports = Watched<[LoadProgress]>([])
        let request = LoadRequest(url: try #require(URL(string: "app:/a"))) { progress in
            reports.update { $0.append(progress) }
        }
        #expect(try await loader.load(request).data == png)
        #expect(reports.value.map(\.receivedBytes) == [0, 10, png.count])
        #expect(reports.value.allSatisfy { $0.expectedBytes == png.count })
        let failing = LoadRequest(url: try #require(URL(string: "app:/b")))
        await #expect { try await loader.load(failing) } throws: { ($0 as? ImageError)?.statusCode == 500 }
    }

    @Test("An answer at a gate waits until the test opens it or cancels the load")
    func gates() async throws {
        let gate = OriginGate()
        let loader = TestLoader([url: .data(png).waiting(at: gate)])
        let manager = manager(loader)
        let cancelled = manager.task(for: url)
        try await gate.waitForArrivals(1)
        #expect(loader.runningLoads == 1)
        cancelled.cancel()
        #expect(await cancelled.result.failure?.code == .cancelled)
        let task = manager.task(for: url)
        try await gate.waitForArrivals(2)
        try await loader.waitForRequests(2, for: url, timeLimit: .seconds(60))
        gate.open()
        #expect(try await task.image.format == .png)
        #expect(gate.arrivals == 2 && loader.cancelledLoads == 1)
    }

    @Test("A wait with a time limit ends with an error that tells the limit")
    func timeLimit() async throws {
        let value = Watched(0)
        await #expect(throws: WaitTimeout(limit: .milliseconds(1))) {
            try await value.wait(timeLimit: .milliseconds(1)) { $0 == 1 }
        }
        // The wait is over: nothing is taken any more.
        value.update { $0 = 1 }
        try await value.wait(timeLimit: .seconds(60)) { $0 == 1 }
        await #expect(throws: WaitTimeout.self) { try await OriginGate().waitForArrivals(1, timeLimit: .zero) }
    }

    @Test("A cancelled wait ends with CancellationError, with and without a time limit")
    func cancelledWait() async throws {
        for limit in [nil, Duration.seconds(600), Duration.seconds(Int64.max)] {
            let task = Task { try await Watched(0).wait(timeLimit: limit) { $0 == 1 } }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("A task sleeps until the clock reaches its deadline, or until it is canceled, whenever it runs again")
    func sleepers() async throws {
        let clock = ManualClock()
        for _ in 1...100 {
            let tasks = [1, 2].map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
            #expect(clock.sleepers == 1)
            tasks[1].cancel()
            #expect(clock.sleepers == 0)
            try await tasks[0].value
            await #expect(throws: CancellationError.self) { try await tasks[1].value }
        }
    }

    @Test("A task that is canceled before it sleeps, or whose deadline has passed, is no sleeper")
    func noSleepers() async throws {
        let clock = ManualClock()
        let deadline = clock.now
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await clock.sleep(until: deadline)
        #expect(clock.sleepers == 0)
    }

    @Test("A sample can be drawn alone, and is the same among all")
    func samples() throws {
        let all = try SampleImages.all(scale: 0.03)
        #expect(all.map(\.name) == SampleImages.Kind.allCases.map(\.rawValue))
        for kind in [SampleImages.Kind.flower, .ripple, .orientationLeft, .gray] {
            let sample = try SampleImages.draw(kind, scale: 0.03)
            #expect(sample.name == kind.rawValue && sample.data == all.first { $0.name == kind.rawValue }?.data)
        }
    }

    @Test("A sample that can't have its size is an error")
    func impossibleSamples() {
        for scale in [Double.nan, .infinity, -1, 1e300] {
            for kind in [SampleImages.Kind.flower, .palette] {
                let error = #expect(throws: ImageError.self) { try SampleImages.draw(kind, scale: scale) }
                #expect(error?.code == .encodeFailed && error?.reason.contains("\(scale)") == true)
            }
        }
    }
}
