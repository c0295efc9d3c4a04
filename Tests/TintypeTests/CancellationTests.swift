#if HTTP
import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

/// Counts the steps of a load, and cancels the load at one of them.
private final class Steps: Sendable {
    private struct State {
        var count = 0
        var cancel: (@Sendable () -> Void)?
    }

    private let target: Int
    private let state = Watched(State())

    init(cancellingAt target: Int) { self.target = target }

    var count: Int { state.value.count }

    func setCancel(_ cancel: @escaping @Sendable () -> Void) { state.update { $0.cancel = cancel } }

    func waitUntilSet() async throws { try await state.wait { $0.cancel != nil } }

    func tick() {
        let cancel = state.update { state -> (@Sendable () -> Void)? in
            state.count += 1
            return state.count == target ? state.cancel : nil
        }
        cancel?()
    }
}

/// The system's clock, each reading of which is a step.
private struct SteppingClock: Clock {
    let steps: Steps

    var minimumResolution: Duration { .nanoseconds(1) }

    var now: ContinuousClock.Instant {
        steps.tick()
        return ContinuousClock().now
    }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        steps.tick()
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}

private struct SteppingTransformer: ImageTransformer {
    let steps: Steps
    let key = "stepping"

    func transform(_ image: Image) throws -> Image {
        steps.tick()
        return image
    }
}

private struct SteppingCoder: ImageCoder {
    let steps: Steps
    let coders = ImageCoders.default

    var decodableFormats: Set<ImageFormat> { coders.decodableFormats }
    var encodableFormats: Set<ImageFormat> { coders.encodableFormats }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { coders.canDecode(data, format: format) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        steps.tick()
        return try coders.info(of: data, context: context)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        steps.tick()
        defer { steps.tick() }
        return try coders.decode(data, options: options, context: context)
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        steps.tick()
        return try coders.encode(image, as: format, options: options, context: context)
    }
}

/// Loads that are cancelled at their first step, at their second, and so on, until one ends before its cancellation.
@Suite("Cancellation at each step of a load", .timeLimited)
struct CancellationTests {
    /// The behavior of the server.
    enum Scenario: String, CaseIterable {
        case plain, redirected, failingFirst, interrupted
    }

    private static func answer(_ request: OriginRequest, _ number: Int, _ scenario: Scenario, _ data: Data)
        -> OriginResponse
    {
        let whole = OriginResponse(chunks: [data.prefix(40), data.dropFirst(40)], type: "image/png")
            .header("ETag", "\"1\"")
        switch scenario {
        case .plain: return whole
        case .redirected: return request.path.hasSuffix("/target") ? whole : .redirect(to: request.path + "/target")
        case .failingFirst: return number == 1 ? .status(503) : whole
        case .interrupted:
            if let first = request.header("Range").flatMap({ Int($0.dropFirst(6).dropLast()) }) {
                return OriginResponse(data.dropFirst(first), status: 206, type: "image/png", headers: ["ETag": "\"1\""])
                    .header("Content-Range", "bytes \(first)-\(data.count - 1)/\(data.count)")
            }
            return number == 1 ? OriginResponse(data, headers: ["ETag": "\"1\""]).close(after: 50) : whole
        }
    }

    private func downloader(_ steps: Steps) -> ImageDownloader {
        ImageDownloader(
            .init(
                maximumConcurrentDownloads: 2, requestModifier: { _ in steps.tick() },
                responseModifier: { _ in steps.tick() },
                headerProvider: {
                    steps.tick()
                    return $1
                }, retry: RetryPolicy(maximumAttempts: 3, baseDelay: .zero), circuitBreaker: CircuitBreakerPolicy(),
                maximumDownloadsPerHost: 2, resumesTransfers: true,
                cookies: SessionCookies(),
                decryptor: { data, _ in
                    steps.tick()
                    return data
                }, observer: { _ in steps.tick() }), clock: SteppingClock(steps: steps))
    }

    @Test(
        "Wherever a load is cancelled, it ends with one error, others get the image, and nothing stays behind",
        arguments: Scenario.allCases)
    func everyStep(scenario: Scenario) async throws {
        let data = try Gradients.data(.png)
        let counts = Watched<[String: Int]>([:])
        let tick = Watched<(@Sendable () -> Void)?>(nil)
        let server = try await OriginServer.start { request in
            let key = String(request.path.split(separator: "/").first ?? "")
            let number = counts.update { counts in
                counts[key, default: 0] += 1
                return counts[key] ?? 0
            }
            tick.value?()
            return Self.answer(request, number, scenario, data)
        }
        let folder = try TemporaryDirectory()
        var step = 0
        var cancelled = 0
        var isOver = false
        while !isOver {
            step += 1
            let steps = Steps(cancellingAt: step)
            tick.update { $0 = { steps.tick() } }
            let downloader = downloader(steps)
            let manager = ImageManager(
                cache: ImageCache(
                    memory: MemoryCache(), disk: DiskCache(.init(directory: folder.path + "/\(step)"))),
                loader: downloader, coders: SteppingCoder(steps: steps))
            var request = ImageRequest(server.url("/\(step)"))
            request.transformer = SteppingTransformer(steps: steps)
            request.thumbnailSize = PixelSize(width: 16, height: 16)
            request.cache.waitsForStore = true
            let task = Task { [request] () async throws -> Image in
                try await steps.waitUntilSet()
                return try await manager.image(for: request)
            }
            // Another caller shares what it can.
            let other = Task { [request] () async throws -> Image in
                try await steps.waitUntilSet()
                return try await manager.image(for: request)
            }
            steps.setCancel { task.cancel() }
            do {
                let image = try await task.value
                #expect(image.size == PixelSize(width: 16, height: 12))
            } catch is CancellationError {
                // The other caller was so far ahead that this one was cancelled before its load began.
                cancelled += 1
            } catch {
                let error = try #require(error as? ImageError)
                #expect(error.isCancellation, "\(scenario), step \(step): \(error)")
                cancelled += 1
            }
            let image = try await other.value
            #expect(image.size == PixelSize(width: 16, height: 12), "\(scenario), step \(step)")
            #expect(try await manager.image(for: request).isIdentical(to: image))
            await manager.flush()
            // It waits for the end of every load, and would wait forever for one that is lost.
            await downloader.shutdown(cancelsLoads: false)
            let (rest, loads) = (downloader.statistics, manager.statistics)
            #expect(rest.active == 0 && rest.waiting == 0 && loads.active == 0, "\(scenario), step \(step)")
            isOver = steps.count < step
        }
        #expect(cancelled >= 10 && step >= 20, "\(cancelled) of \(step)")
    }
}
#endif
