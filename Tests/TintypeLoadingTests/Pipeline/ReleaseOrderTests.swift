import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// Notes the steps of loads on a queue of one thread. The second decode ends once the first image waits there for its next step.
private final class Steps: Sendable {
    let queue = WorkQueue(label: "test", width: 1)
    private let names = Lock<[String]>([])

    var all: [String] { names.withLock { $0 } }

    func note(_ name: String) {
        let decodes = names.withLock { names in
            names.append(name)
            return names.filter { $0 == "decode" }.count
        }
        // The third decode waits already.
        if name == "decode", decodes == 2 { while queue.load.waiting < 2 {} }
    }
}

private struct NotingTransformer: ImageTransformer {
    let steps: Steps
    let key = "noting"

    func transform(_ image: Image) throws -> Image {
        steps.note("transform")
        return image
    }
}

@Suite("The order of work on images", .timeLimited)
struct ReleaseOrderTests {
    @Test(
        "A decoded image is transformed, encoded, and serialized before others of its priority are decoded",
        .capability("3.1"), arguments: ["transform", "encode", "serialize"], [ImagePriority.normal, .veryHigh])
    func order(step: String, priority: ImagePriority) async throws {
        let steps = Steps()
        var configuration = ImageManager.Configuration.still
        configuration.processing = steps.queue
        if step == "serialize" {
            configuration.cacheSerializer = { _, _, _ in
                steps.note("serialize")
                return nil
            }
        }
        let coder = DotCoder(onDecode: { steps.note("decode") }, onEncode: { steps.note("encode") })
        let manager = ManagerBench(coder: coder, configuration: configuration).manager
        let gate = ThreadGate()
        let blocker = Task { try await steps.queue.perform { _ throws(ImageError) in gate.wait() } }
        while steps.queue.load.running == 0 { await Task.yield() }
        let tasks = try (0..<3).map { number in
            var request = ImageRequest(try #require(URL(string: "test:\(number)")))
            request.priority = priority
            if step == "transform" { request.transformer = NotingTransformer(steps: steps) }
            if step == "encode" {
                request.thumbnailSize = PixelSize(width: 4, height: 4)
                request.cache.storesVariant = true
            }
            return manager.task(for: request)
        }
        while steps.queue.load.waiting < 3 { await Task.yield() }
        gate.open()
        for task in tasks { _ = try await task.image }
        await manager.flush()
        #expect(steps.all.prefix(3) == ["decode", "decode", step])
        try await blocker.value
    }
}
