#if HTTP
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// A load of all images of a demo.
struct DemoPass: Sendable {
    struct Outcome: Sendable {
        var source: ImageOrigin
        var bytes: Int
        var time: Duration
        /// The thumbnail, for the first images only. The images of a large folder would not fit into memory.
        var image: Image?
    }

    let name: String
    /// The result of each image, in the order of the images.
    private(set) var results: [Result<Outcome, ImageError>?]
    private(set) var duration = Duration.zero

    /// The number of thumbnails that are kept.
    static let keptImages = 100

    /// Loads all images as thumbnails, a few at a time.
    init(
        _ name: String, _ items: [DemoSource.Item], manager: ImageManager, thumbnail: PixelSize, console: Console
    ) async {
        self.name = name
        let next = Lock(0)
        let outcomes = Lock([Result<Outcome, ImageError>?](repeating: nil, count: items.count))
        let display = ProgressDisplay(console, total: items.count)
        let start = ContinuousClock.now
        await Workers.run(12) { () -> Int? in
            next.withLock { next in
                guard next < items.count else { return nil }
                defer { next += 1 }
                return next
            }
        } work: { index in
            var request = ImageRequest(items[index].url)
            request.thumbnailSize = thumbnail
            let outcome: Result<Outcome, ImageError>
            do throws(ImageError) {
                let result = try await manager.load(request)
                outcome = .success(
                    Outcome(
                        source: result.source, bytes: result.metrics.bytes, time: result.metrics.total,
                        image: index < Self.keptImages ? result.image : nil))
            } catch {
                outcome = .failure(error)
            }
            outcomes.withLock { $0[index] = outcome }
            let bytes = (try? outcome.get().bytes) ?? 0
            display.finishedOne(bytes: bytes, failed: (try? outcome.get()) == nil)
        }
        duration = ContinuousClock.now - start
        display.end()
        results = outcomes.withLock { $0 }
    }

    var outcomes: [Outcome] { results.compactMap { try? $0?.get() } }

    var failures: [ImageError] {
        results.compactMap { result in
            if case .failure(let error) = result { error } else { nil }
        }
    }

    static let columns: [(title: String, alignment: Table.Alignment)] = [
        ("pass", .left), ("images", .right), ("read", .right), ("network", .right), ("disk", .right),
        ("memory", .right),
        ("failed", .right), ("hit ratio", .right), ("per image", .right), ("median load", .right), ("in all", .right),
    ]

    /// The pass as a row of ``columns``.
    var row: [String] {
        let outcomes = outcomes
        func count(_ source: ImageOrigin) -> String { "\(outcomes.count { $0.source == source })" }
        let hits = outcomes.count { $0.source != .network }
        let ratio = outcomes.isEmpty ? 0 : Double(hits) / Double(outcomes.count) * 100
        let bytes = outcomes.reduce(0) { $0 + $1.bytes }
        let each = results.isEmpty ? Duration.zero : duration / results.count
        return [
            name, "\(outcomes.count)", "\(ByteCount(bytes))", count(.network), count(.disk), count(.memory),
            "\(failures.count)", "\(ratio.fixed(0)) %", each.short,
            DecodeMeasurement.median(outcomes.map(\.time)).short, duration.short,
        ]
    }
}
#endif
