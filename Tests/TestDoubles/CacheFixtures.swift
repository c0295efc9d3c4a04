import Foundation
import TintypeTesting

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// An opaque image of one color.
func solidImage(_ width: Int, _ height: Int, level: UInt8 = 7, hasAlpha: Bool = true) throws -> Image {
    var buffer = try MutablePixelBuffer(size: PixelSize(width: width, height: height))
    _ = buffer.withUnsafeMutableBytes { $0.initializeMemory(as: UInt8.self, repeating: level) }
    var properties = Image.Properties()
    properties.hasAlpha = hasAlpha
    return Image(pixels: buffer.freeze(), properties: properties)
}

/// A clock that only moves when it is told to.
final class WallClock: Sendable {
    private let state: Lock<Date>
    init(_ date: Date = Date(timeIntervalSince1970: 1_700_000_000)) { state = Lock(date) }
    var date: Date { state.withLock { $0 } }
    func advance(_ duration: Duration) { state.withLock { $0 += duration.inSeconds } }
    var elapsed: Duration { .seconds(date.timeIntervalSince1970) }
}

/// Runs a body in a task that is canceled from the start.
@discardableResult
func inCanceledTask<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await body()
    }
    return try await task.value
}

extension DiskCache {
    /// A cache in a temporary directory, without regard to the free space of the machine that runs the tests.
    static func temporary(
        _ path: String, capacity: ByteCount = .megabytes(10), maximumAge: Duration? = nil,
        expiry: Configuration.Expiry = .byAccess, maximumCount: Int? = nil, minimumFreeSpace: ByteCount = 0,
        clock: WallClock = WallClock(), files: FaultyFileSystem? = nil,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) -> DiskCache {
        DiskCache(
            Configuration(
                directory: path, capacity: capacity, maximumAge: maximumAge, expiry: expiry, maximumCount: maximumCount,
                minimumFreeSpace: minimumFreeSpace),
            faults: files?.faults, now: { clock.date }, log: log)
    }

    /// The entries of all folders, after everything that was asked for before.
    func entries() async -> [Listing] {
        await drain()
        var entries: [Listing] = []
        for folder in Self.folders { entries += await self.entries(inFolder: folder) }
        return entries
    }

    func put(_ data: Data, _ key: ImageKey) async throws {
        try await store(DiskCacheEntry(data: data, created: Date(timeIntervalSince1970: 1_700_000_000)), forKey: key)
    }
}

extension ImageCache {
    /// The encoded image under a key.
    func entry(forKey key: ImageKey) async -> DiskCacheEntry? { await disk?.entry(forKey: key) }
}

/// A suite that fills a cache in its directory with numbered entries.
protocol DiskCacheSuite {
    var directory: TemporaryDirectory { get }
}

extension DiskCacheSuite {
    var path: String { directory.path + "/cache" }

    func key(_ number: Int) -> ImageKey { ImageKey(source: "\(number)") }

    func fill(_ cache: DiskCache, _ numbers: Range<Int>) async throws {
        for number in numbers { try await cache.put(someBytes(20, seed: UInt64(number)), key(number)) }
    }
}

/// Bytes that differ for every seed.
func someBytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var generator = SeededRandom(seed: seed)
    return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
}
