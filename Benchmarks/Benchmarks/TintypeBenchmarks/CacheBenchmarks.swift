import Benchmark
import BenchmarkPictures
import Foundation
import Synchronization
import Tintype
import TintypeTesting

/// The paths that a program takes most often: images that are there already.
func cacheBenchmarks() {
    Benchmark("memory hit: await manager.image(for: url)", configuration: .init(scalingFactor: .kilo)) { benchmark in
        let (manager, url) = try await warmManager()
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try await manager.image(for: url)) }
    }

    Benchmark("memory hit: cache.memory.image(forKey:)", configuration: .init(scalingFactor: .kilo)) { benchmark in
        let cache = MemoryCache()
        let keys = (0..<1_000).map {
            ImageKey(source: "https://images.example.org/albums/2026/summer/photo-\($0)@large.jpg")
        }
        let image = try Pictures.photograph(width: 16, height: 16)
        for key in keys { cache.store(image, forKey: key) }
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations { blackHole(cache.image(forKey: keys[index % 1_000])) }
    }

    Benchmark("memory hit: a bare Dictionary under a lock", configuration: .init(scalingFactor: .kilo)) { benchmark in
        let keys = (0..<1_000).map {
            ImageKey(source: "https://images.example.org/albums/2026/summer/photo-\($0)@large.jpg")
        }
        let image = try Pictures.photograph(width: 16, height: 16)
        let cache = Mutex(Dictionary(uniqueKeysWithValues: keys.map { ($0, image) }))
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations { blackHole(cache.withLock { $0[keys[index % 1_000]] }) }
    }

    for (name, bytes) in [("20 KB", 20_000), ("256 KB", 256_000)] {
        Benchmark("disk hit, \(name): cache.disk.entry(forKey:)") { benchmark in
            let folder = try TemporaryDirectory()
            let disk = DiskCache(DiskCache.Configuration(directory: folder.path))
            let keys = (0..<200).map { ImageKey(source: "https://example.org/\($0).jpg") }
            for key in keys { try await disk.store(DiskCacheEntry(data: noise(bytes), created: Date()), forKey: key) }
            benchmark.startMeasurement()
            for index in benchmark.scaledIterations { blackHole(await disk.entry(forKey: keys[index % 200])) }
        }

        Benchmark("disk hit, \(name): open, fstat and read of a known path") { benchmark in
            let folder = try TemporaryDirectory()
            let paths = (0..<200).map { "\(folder.path)/\($0)" }
            for path in paths { try noise(bytes).write(to: URL(fileURLWithPath: path)) }
            benchmark.startMeasurement()
            for index in benchmark.scaledIterations { blackHole(read(paths[index % 200])) }
        }
    }
}

/// A manager whose memory holds the image at the URL.
private func warmManager() async throws -> (ImageManager, URL) {
    let url = URL(string: "file:///images/albums/2026/summer/holidays/photo-0001@large.png")!
    let manager = ImageManager(cache: ImageCache())
    manager.cache.memory.store(
        try Pictures.photograph(width: 16, height: 16), forKey: manager.key(for: ImageRequest(url)))
    return (manager, url)
}

private func noise(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })
}

private func read(_ path: String) -> Data {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var status = stat()
    fstat(file, &status)
    var data = Data(count: Int(status.st_size))
    data.withUnsafeMutableBytes { bytes in _ = Glibc.read(file, bytes.baseAddress, bytes.count) }
    return data
}
