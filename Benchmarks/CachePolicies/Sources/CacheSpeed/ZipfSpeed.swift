import Foundation
import Tintype

/// The processor time of 10,000 requests for 500 URLs in 4 variants, drawn with the frequencies of a Zipf distribution, beside the decodes and
/// transforms that they need alone. The loader answers from memory.
struct ZipfSpeed {
    var isSmoke: Bool

    private var urlCount: Int { isSmoke ? 20 : 500 }
    private var requestCount: Int { isSmoke ? 200 : 10_000 }
    private var rounds: Int { isSmoke ? 1 : 5 }

    /// One variant of an image.
    private struct Wanted: Hashable {
        var url: Int
        var variant: Int
    }

    func run() async throws {
        let files = try pictures()
        let wanted = draws()
        // In the order in which they are first needed.
        var seen: Set<Wanted> = []
        let distinct = wanted.filter { seen.insert($0).inserted }
        print(
            "\n### \(requestCount) requests for \(urlCount) URLs in 4 variants, Zipf 1.0, \(distinct.count) distinct images\n"
        )
        row("", "processor, s", "wall, s")
        row("---", "---:", "---:")
        var (bare, loads) = ((processor: Sample(), wall: Sample()), (processor: Sample(), wall: Sample()))
        var above = Sample()
        for round in 0...rounds {
            let work = try await times { try await alone(distinct, files) }
            let time = try await times { try await load(wanted, files) }
            guard round > 0 || isSmoke else { continue }
            bare.processor.add(work.processor / 1e9)
            bare.wall.add(work.wall / 1e9)
            loads.processor.add(time.processor / 1e9)
            loads.wall.add(time.wall / 1e9)
            above.add(100 * (time.processor / work.processor - 1))
        }
        row(
            "decodes and transforms alone", format(bare.processor.median, digits: 2),
            format(bare.wall.median, digits: 2))
        row("the requests", format(loads.processor.median, digits: 2), format(loads.wall.median, digits: 2))
        print(
            "\nAbove decode and transform: \(format(above.median, digits: 2)) % (\(format(above.least, digits: 2)) at least)"
        )
    }

    private static let transformer = ImageTransformers([]).then(.resize(width: 200, height: 200, mode: .aspectFill))
        .rounded(radius: 12)

    private static func options(_ variant: Int) -> DecodeOptions {
        DecodeOptions(thumbnailSize: [nil, 100, 200, 400][variant].map { PixelSize(width: $0, height: $0) })
    }

    /// Decodes and transforms each image once, on the queue that loads use.
    private func alone(_ distinct: [Wanted], _ files: [Data]) async throws {
        try await inTasks(distinct) { wanted in
            let data = files[wanted.url % files.count]
            let image = try await WorkQueue.processing.perform { _ throws(ImageError) in
                guard wanted.variant == 0 else { return try Image(data: data, options: Self.options(wanted.variant)) }
                // As a load does: the resize tells the decoder the size that it needs.
                var options = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 400))
                options.coversThumbnailSize = true
                return try Image(data: data, options: options).transformed(Self.transformer)
            }
            consume(image)
        }
    }

    private func load(_ wanted: [Wanted], _ files: [Data]) async throws {
        let manager = ImageManager(
            cache: MemoryImageCache(), loader: ImageLoaders([MemoryLoader(files: files)]), coders: ImageCoders.default)
        try await inTasks(wanted) { wanted in
            guard let url = URL(string: "memory://images.example.org/\(wanted.url)") else { return }
            var request = ImageRequest(url, decodeOptions: Self.options(wanted.variant))
            if wanted.variant == 0 { request.transformer = Self.transformer }
            consume(try await manager.image(for: request))
        }
    }

    /// Runs the work in eight tasks, each of which takes every eighth.
    private func inTasks(_ all: [Wanted], _ work: @escaping @Sendable (Wanted) async throws -> Void) async throws {
        let tasks = (0..<8).map { worker in
            Task { for index in stride(from: worker, to: all.count, by: 8) { try await work(all[index]) } }
        }
        for task in tasks { try await task.value }
    }

    private func draws() -> [Wanted] {
        var random = SystemRandomNumberGenerator()
        var sums: [Double] = []
        for index in 0..<urlCount { sums.append((sums.last ?? 0) + 1 / Double(index + 1)) }
        return (0..<requestCount).map { _ in
            let place = Double.random(in: 0..<(sums.last ?? 1), using: &random)
            return Wanted(
                url: sums.firstIndex { $0 > place } ?? 0, variant: Int.random(in: 0..<4, using: &random))
        }
    }

    /// JPEGs of half a megapixel, with shapes and noise.
    private func pictures() throws -> [Data] {
        var files: [Data] = []
        for number in 0..<8 { files.append(try picture(number).encoded(as: .jpeg)) }
        return files
    }

    private func picture(_ number: Int) throws -> Image {
        let size = PixelSize(width: 816, height: 612)
        return try ImageRenderer(size: size, format: .init(isOpaque: true)).image { surface in
            for step in 0..<400 {
                let mixed: Int = (step * 7_919 + number * 104_729) % 1_000
                let value: Float = Float(mixed) / 1_000
                let color = PixelColor(red: value, green: 1 - value, blue: value * value)
                let x: Int = (step * 131 + number * 17) % 800
                surface.fill(color, x: x, y: (step * 71) % 600, size: PixelSize(width: 60, height: 40))
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
