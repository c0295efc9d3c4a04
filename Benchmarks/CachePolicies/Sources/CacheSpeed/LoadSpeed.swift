import CAllocations
import Foundation
import Tintype

/// The cost of the pipeline itself: loads with a loader and a coder that do nothing, beside bare tasks, and beside bare steps on the queue
/// that decodes.
struct LoadSpeed {
    var isSmoke: Bool

    private var count: Int { isSmoke ? 200 : 5_000 }
    private var rounds: Int { isSmoke ? 1 : 15 }

    func run() async throws {
        print("\n### The pipeline's own cost, microseconds each, median of \(rounds) rounds of \(count) loads\n")
        row("loads", "processor", "wall", "allocations", "tasks", "continuations", "locks")
        row("---", "---:", "---:", "---:", "---:", "---:", "---:")
        let image = Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1)).freeze())
        let urls = try (0..<count).map { try url($0) }
        let parts: [(name: String, body: @Sendable (ImageManager) async throws -> Void)] = [
            ("bare tasks", { _ in await bareTasks(urls.count) }),
            ("bare steps on the processing queue, all at once", { _ in try await bareStepsAtOnce(urls.count) }),
            (
                "bare steps on the processing queue, one after another",
                { _ in for _ in urls { try await WorkQueue.processing.perform { _ in } } }
            ),
            ("distinct URLs, all at once", { try await loadAtOnce(urls, with: $0) }),
            (
                "distinct URLs, one after another",
                { manager in for url in urls { consume(try await manager.image(for: url)) } }
            ),
            ("one URL, all at once", { try await loadAtOnce(Array(repeating: urls[0], count: urls.count), with: $0) }),
        ]
        var samples = parts.map { _ in
            (processor: Sample(), wall: Sample(), events: [Sample](repeating: Sample(), count: 4))
        }
        for round in 0...rounds {
            for index in parts.indices {
                // Each has a new manager, so that nothing is in memory.
                let manager = ImageManager(
                    cache: ImageCache(), loader: NoOpLoader(), coders: ImageCoders([NoOpCoder(image: image)]))
                let before = events
                let time = try await times { try await parts[index].body(manager) }
                guard round > 0 else { continue }  // The first one warms up.
                samples[index].processor.add(time.processor / Double(count) / 1_000)
                samples[index].wall.add(time.wall / Double(count) / 1_000)
                for (event, (new, old)) in zip(events, before).enumerated() {
                    samples[index].events[event].add(Double(new - old) / Double(count))
                }
            }
        }
        for (part, sample) in zip(parts, samples) {
            let events = sample.events.map { format($0.median) }
            row(
                part.name, format(sample.processor.median, digits: 2), format(sample.wall.median, digits: 2), events[0],
                events[1], events[2], events[3])
        }
    }

    /// Allocations, tasks, continuations, and locks so far.
    private var events: [UInt64] {
        let counts = count_events()
        return [counts.allocations, counts.tasks, counts.continuations, counts.locks]
    }

    private func url(_ number: Int) throws -> URL {
        guard let url = URL(string: "noop://images.example.org/albums/2026/summer/p\(number)@l.jpg") else {
            throw ImageError(.invalidURL, stage: .request, reason: "the URL of the benchmark is invalid")
        }
        return url
    }
}

// Not in a task group: each child that ends costs it time in proportion to the others.

private func bareTasks(_ count: Int) async {
    let tasks = (0..<count).map { number in Task { number } }
    for task in tasks { _ = await task.value }
}

/// The least that a load does whose image is decoded on another thread.
private func bareStepsAtOnce(_ count: Int) async throws {
    let tasks = (0..<count).map { _ in Task { try await WorkQueue.processing.perform { _ in } } }
    for task in tasks { try await task.value }
}

private func loadAtOnce(_ urls: [URL], with manager: ImageManager) async throws {
    let tasks = urls.map { url in Task { consume(try await manager.image(for: url)) } }
    for task in tasks { try await task.value }
}

/// A loader that answers at once.
private struct NoOpLoader: ImageLoading {
    private let data = Data([0])

    func canLoad(_ url: URL) -> Bool { url.scheme == "noop" }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        LoadedData(data: data, url: request.url)
    }
}

/// A coder that returns the same image for all bytes.
private struct NoOpCoder: ImageCoder {
    let image: Image
    let decodableFormats: Set<ImageFormat> = []

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.unknownFormat, stage: .decode, reason: "the benchmark reads no headers")
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image { image }
}
