import BenchmarkPictures
import Foundation
import Tintype

/// A piece of work that takes about the same instructions each time.
struct CountedCase {
    let name: String
    let work: () async throws -> Void

    /// - Parameter folder: has the pictures.
    static func all(in folder: URL) throws -> [CountedCase] {
        [
            try thumbnail("baseline JPEG 12 MP → 400 px", of: "baseline.jpg", in: folder),
            try thumbnail("progressive JPEG 12 MP → 400 px", of: "progressive.jpg", in: folder),
            try decode("PNG 3 MP, full", "picture.png", in: folder),
            try thumbnail("WebP 3 MP → 400 px", of: "picture.webp", in: folder),
            try resize(),
            try memoryHits(),
            try loads(),
        ]
    }

    // MARK: Pictures

    private static func decode(
        _ name: String, _ file: String, in folder: URL, options: DecodeOptions = DecodeOptions()
    ) throws -> CountedCase {
        let data = try Data(contentsOf: folder.appendingPathComponent(file))
        return CountedCase(name: name) { consume(try Image(data: data, options: options)) }
    }

    private static func thumbnail(_ name: String, of file: String, in folder: URL) throws -> CountedCase {
        try decode(name, file, in: folder, options: DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 400)))
    }

    private static func resize() throws -> CountedCase {
        let image = try Pictures.photograph(width: 1_000, height: 750)
        return CountedCase(name: "resize 1000 × 750 → 400 × 300") {
            consume(try image.resized(to: PixelSize(width: 400, height: 300)))
        }
    }

    // MARK: The manager

    private static func memoryHits() throws -> CountedCase {
        let manager = ImageManager(cache: ImageCache())
        let image = try Pictures.photograph(width: 1, height: 1)
        let urls = (0..<100).compactMap { URL(string: "https://images.example.org/albums/2026/summer/\($0)@l.jpg") }
        for url in urls { manager.cache.memory.store(image, forKey: manager.key(for: ImageRequest(url))) }
        return CountedCase(name: "10,000 hits in memory, by URL") {
            for _ in 0..<100 {
                for url in urls { consume(try await manager.image(for: url)) }
            }
        }
    }

    /// Loads of tiny pictures, which cost as much as the pipeline itself.
    private static func loads() throws -> CountedCase {
        let manager = ImageManager(cache: ImageCache())
        let data = try Pictures.encoded(.bmp, width: 1, height: 1)
        var count = 0
        return CountedCase(name: "500 loads of a pixel") {
            for _ in 0..<500 {
                count += 1
                consume(try await manager.image(for: ImageRequest(data: data, identifier: "\(count)")))
            }
        }
    }
}

/// Keeps the compiler from leaving out what nobody uses.
@inline(never)
private func consume(_ image: Image) {
    if image.size.width == 0 { exit(1) }
}
