import Foundation
import Synchronization
import Tintype

/// The processor time of 10,000 requests for 500 URLs in 4 variants, drawn with the frequencies of a Zipf distribution, beside the decodes and
/// transforms that they need alone. The loader answers from memory.
struct ZipfSpeed {
    var isSmoke: Bool

    private var urlCount: Int { isSmoke ? 20 : 500 }
    private var requestCount: Int { isSmoke ? 200 : 10_000 }
    private var rounds: Int { isSmoke ? 1 : 7 }

    /// One variant of an image.
    private struct Wanted: Hashable {
        var url: Int
        var variant: Int
    }

    func run() async throws {
        for size in [PixelSize(width: 816, height: 612), PixelSize(width: 1_632, height: 1_224)] {
            let files = try (0..<8).map { try picture($0, size).encoded(as: .jpeg) }
            let title = "\(requestCount) requests for \(urlCount) URLs in 4 variants, Zipf 1.0, JPEGs of \(size)"
            try await compare(title, files, draws())
        }
        let files = try (0..<8).map { number in
            let size = PixelSize(width: 1_156 + 68 * number, height: 867 + 51 * number)
            return try picture(number, size).encoded(as: .jpeg)
        }
        let once = (0..<2 * urlCount).map { Wanted(url: $0, variant: 3) }
        try await compare("\(once.count) URLs once as thumbnails, JPEGs of 1 to 2 megapixels", files, once)
    }

    private func compare(_ title: String, _ files: [Data], _ wanted: [Wanted]) async throws {
        // In the order in which they are first needed.
        var seen: Set<Wanted> = []
        let distinct = wanted.filter { seen.insert($0).inserted }
        let requests = wanted.compactMap { Self.request($0) }
        print("\n### \(title), \(distinct.count) distinct images\n")
        row(
            "", "processor, s", "of these the kernel's", "wall, s", "above alone, %", "least",
            "above, µs for each distinct image")
        row("---", "---:", "---:", "---:", "---:", "---:", "---:")
        var parts = [
            Part("decodes and transforms alone") { try await alone(distinct, files, kept: nil) },
            Part("the same, and the images are kept") { try await alone(distinct, files, kept: KeptImages()) },
            Part("the requests") { try await load(requests, files) },
        ]
        for round in 0...rounds {
            // Forward and backward, so that a machine that slows down hits all alike.
            let order = Array(parts.indices)
            for index in round.isMultiple(of: 2) ? order : order.reversed() { try await parts[index].measure() }
            if round > 0 || isSmoke { for index in order { parts[index].record(beside: parts[0].last) } }
        }
        for part in parts { part.show(distinct.count) }
    }

    /// One of the things that are compared.
    private struct Part {
        let name: String
        let body: () async throws -> Void
        private(set) var last = 0.0
        private var lastRest = (kernel: 0.0, wall: 0.0)
        private var processor = Sample()
        private var kernel = Sample()
        private var wall = Sample()
        private var above = Sample()
        private var seconds = Sample()

        init(_ name: String, _ body: @escaping () async throws -> Void) {
            self.name = name
            self.body = body
        }

        mutating func measure() async throws {
            let start = kernelTime()
            let time = try await times(body)
            last = time.processor / 1e9
            lastRest = (kernelTime() - start, time.wall / 1e9)
        }

        mutating func record(beside alone: Double) {
            processor.add(last)
            kernel.add(lastRest.kernel)
            wall.add(lastRest.wall)
            above.add(100 * (last / alone - 1))
            seconds.add(last - alone)
        }

        func show(_ count: Int) {
            row(
                name, format(processor.median, digits: 2), format(kernel.median, digits: 2),
                format(wall.median, digits: 2), format(above.median, digits: 2), format(above.least, digits: 2),
                format(1e6 * seconds.median / Double(count), digits: 0))
        }
    }

    /// Images that are kept, as whoever needs them again would.
    private final class KeptImages: Sendable {
        private let images = Mutex<[Image]>([])

        func keep(_ image: Image) { images.withLock { $0.append(image) } }
    }

    private static let transformer = ImageTransformers([]).then(.resize(width: 200, height: 200, mode: .aspectFill))
        .rounded(radius: 12)

    private static func options(_ variant: Int) -> DecodeOptions {
        DecodeOptions(thumbnailSize: [nil, 100, 200, 400][variant].map { PixelSize(width: $0, height: $0) })
    }

    /// Decodes and transforms each image once, on the queue that loads use.
    private func alone(_ distinct: [Wanted], _ files: [Data], kept: KeptImages?) async throws {
        try await inTasks(distinct) { wanted in
            let data = files[wanted.url % files.count]
            let image = try await WorkQueue.processing.perform { _ throws(ImageError) in
                guard wanted.variant == 0 else { return try Image(data: data, options: Self.options(wanted.variant)) }
                // As a load does: the resize tells the decoder the size that it needs.
                var options = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 400))
                options.coversThumbnailSize = true
                return try Image(data: data, options: options).transformed(Self.transformer)
            }
            kept?.keep(image)
            consume(image)
        }
    }

    /// Programs have the requests of what they show, so that making them isn't part of a load.
    private static func request(_ wanted: Wanted) -> ImageRequest? {
        guard let url = URL(string: "memory://images.example.org/\(wanted.url)") else { return nil }
        var request = ImageRequest(url)
        request.decode = options(wanted.variant)
        if wanted.variant == 0 { request.transformer = transformer }
        return request
    }

    private func load(_ requests: [ImageRequest], _ files: [Data]) async throws {
        let loader = MemoryLoader(files: files)
        let manager = ImageManager(
            cache: ImageCache(), loader: ImageLoaders([loader]), coders: ImageCoders.default)
        try await inTasks(requests) { request in consume(try await manager.image(for: request)) }
    }

    /// Runs the work in eight tasks, each of which takes every eighth.
    private func inTasks<Item: Sendable>(
        _ all: [Item], _ work: @escaping @Sendable (Item) async throws -> Void
    ) async throws {
        let tasks = (0..<8).map { worker in
            Task { for index in stride(from: worker, to: all.count, by: 8) { try await work(all[index]) } }
        }
        for task in tasks { try await task.value }
    }

    private func draws() -> [Wanted] {
        var random = Generator(state: 1)
        var sums: [Double] = []
        for index in 0..<urlCount { sums.append((sums.last ?? 0) + 1 / Double(index + 1)) }
        return (0..<requestCount).map { _ in
            let place = Double.random(in: 0..<(sums.last ?? 1), using: &random)
            return Wanted(
                url: sums.firstIndex { $0 > place } ?? 0, variant: Int.random(in: 0..<4, using: &random))
        }
    }

    /// Shapes of many colors.
    private func picture(_ number: Int, _ size: PixelSize) throws -> Image {
        try Image(size: size, isOpaque: true) { surface in
            for step in 0..<size.pixelCount / 1_248 {
                let mixed: Int = (step * 7_919 + number * 104_729) % 1_000
                let value: Float = Float(mixed) / 1_000
                let color = PixelColor(red: value, green: 1 - value, blue: value * value)
                let x: Int = (step * 131 + number * 17) % (size.width - 16)
                surface.fill(color, x: x, y: (step * 71) % (size.height - 12), size: PixelSize(width: 60, height: 40))
            }
        }
    }

    /// A loader that has all bytes.
    private struct MemoryLoader: ImageLoading {
        var files: [Data]

        func canLoad(_ url: URL) -> Bool { url.scheme == "memory" }

        func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
            let number = Int(request.url.lastPathComponent) ?? 0
            return LoadedData(data: files[number % files.count], url: request.url, mimeType: "image/jpeg")
        }
    }
}
