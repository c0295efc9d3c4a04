import CAllocations
import Foundation
import Synchronization
import Tintype

/// The memory cache beside a bare `Dictionary` under a `Mutex` with the same keys.
struct MemorySpeed {
    var isSmoke: Bool

    private static let keyCount = 1_000

    /// Keys of their own for each thread, as programs make them anew for each request.
    private static func makeKeys(_ count: Int) -> [ImageKey] {
        (0..<count).map { index in
            let digits = String(index)
            let name = String(repeating: "0", count: 8 - digits.count) + digits
            return ImageKey(source: "https://images.example.org/albums/2026/summer/p\(name)@l.jpg")
        }
    }

    /// Images of one pixel. All are of one size, so that a capacity is a number of them.
    private static func makeImages(_ count: Int) throws -> [Image] {
        try (0..<count).map { _ in
            Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1)).freeze())
        }
    }

    /// Places in which keys are asked for: some much more often than others, as 1 / rank, or all equally often.
    private static func makeOrder(_ count: Int, length: Int, zipf: Bool, seed: UInt64) -> [Int] {
        var random = Generator(state: seed)
        guard zipf else { return (0..<length).map { _ in Int.random(in: 0..<count, using: &random) } }
        var sums: [Double] = []
        var sum = 0.0
        for rank in 1...count {
            sum += 1 / Double(rank)
            sums.append(sum)
        }
        return (0..<length).map { _ in
            let point = Double.random(in: 0..<sum, using: &random)
            var (low, high) = (0, count - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > point { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }

    func run() async throws {
        print("\n### Memory: a hit, nanoseconds, \(Self.keyCount) entries, keys of 64 bytes\n")
        row(
            "order", "", "one thread", "÷ Dictionary", "allocations in 10,000", "two threads, least",
            "throughput, of one thread's",
            "two, median", "two, processor")
        row("---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
        let images = try Self.makeImages(Self.keyCount)
        for zipf in [false, true] { hits(images, zipf: zipf) }
        try await managerHits(images)
        print("\n### Memory: store and evict, nanoseconds of processor time\n")
        row("entries", "policy", "store over an entry", "store and evict one", "evict 1,000 of them, each")
        row("---:", "---", "---:", "---:", "---:")
        for count in [1_000, 100_000] {
            for policy in MemoryCache.Policy.allCases { try stores(count, policy) }
        }
    }

    private func hits(_ images: [Image], zipf: Bool) {
        let length = 10_000
        let keys = [Self.makeKeys(Self.keyCount), Self.makeKeys(Self.keyCount)]
        let orders = [1, 2].map { Self.makeOrder(Self.keyCount, length: length, zipf: zipf, seed: $0) }
        let bare = Bare(Dictionary(uniqueKeysWithValues: zip(Self.makeKeys(Self.keyCount), images)))
        let caches = MemoryCache.Policy.allCases.map { MemoryCache(.init(capacity: .unlimited, policy: $0)) }
        for cache in caches {
            for (key, image) in zip(Self.makeKeys(Self.keyCount), images) { cache.store(image, forKey: key) }
        }
        @Sendable func loop(_ thread: Int, _ find: (ImageKey) -> Image?) {
            let (keys, order) = (keys[thread], orders[thread])
            for index in order { consume(find(keys[index])) }
        }
        @Sendable func runBare(_ thread: Int) { loop(thread) { key in bare.images.withLock { $0[key] } } }
        @Sendable func runCache(_ thread: Int, _ cache: MemoryCache) { loop(thread) { cache.image(forKey: $0) } }

        runCache(0, caches[0])
        let before = allocation_count()
        runCache(0, caches[0])
        let allocations = allocation_count() - before

        // Each thread in a dictionary of its own: what the machine gives to two that share nothing.
        let apart = (0..<2).map { _ in
            Bare(Dictionary(uniqueKeysWithValues: zip(Self.makeKeys(Self.keyCount), copies())))
        }
        @Sendable func runApart(_ thread: Int) { loop(thread) { key in apart[thread].images.withLock { $0[key] } } }
        var bodies: [@Sendable (Int) -> Void] = [runApart, runBare]
        for cache in caches { bodies.append { runCache($0, cache) } }

        let one = interleaved(rounds: isSmoke ? 3 : 200, bodies.map { body in { processorTime { body(0) } } })
        var processor = bodies.map { _ in Sample() }
        let two = interleaved(
            rounds: isSmoke ? 3 : 300,
            bodies.indices.map { index in
                {
                    let time = onThreads(2, bodies[index])
                    processor[index].add(time.processor)
                    return time.wall
                }
            })
        // Of two threads' times the least: in the others, one of them waited for a processor that other programs had.
        for (name, index) in [
            ("Dictionary each", 0), ("Dictionary, Mutex", 1), ("MemoryCache", 2), ("MemoryCache, LRU", 3),
        ] {
            let single = one[index].median / Double(length)
            row(
                zipf ? "Zipf 1.0" : "uniform", name, format(single),
                format(one[index].median / one[1].median, digits: 2),
                index == 2 ? "\(allocations)" : "", format(two[index].least / Double(2 * length)),
                format(2 * one[index].least / two[index].least, digits: 2),
                format(two[index].median / Double(2 * length)),
                format(processor[index].median / Double(2 * length)))
        }
    }

    /// Images of their own for each thread that is to share nothing.
    private func copies() -> [Image] { (try? Self.makeImages(Self.keyCount)) ?? [] }

    /// The whole way from a URL to its image, beside a dictionary that is asked with a key made of the URL.
    private func managerHits(_ images: [Image]) async throws {
        let manager = ImageManager(cache: ImageCache())
        let urls = Self.makeKeys(Self.keyCount).compactMap { URL(string: $0.source) }
        for (url, image) in zip(urls, images) {
            manager.cache.memory.store(image, forKey: manager.key(for: ImageRequest(url)))
        }
        let bare = Bare(Dictionary(uniqueKeysWithValues: zip(Self.makeKeys(Self.keyCount), images)))
        var samples = (Sample(), Sample())
        for _ in 0..<(isSmoke ? 3 : 200) {
            var start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            for url in urls { consume(bare.images.withLock { $0[ImageKey(source: url.absoluteString)] }) }
            samples.0.add((nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start) / Double(urls.count))
            start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            for url in urls { consume(try await manager.image(for: url)) }
            samples.1.add((nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start) / Double(urls.count))
        }
        print(
            "\n`await manager.image(for: url)`: \(format(samples.1.median)) ns; a key made of the URL, looked up in a Dictionary under "
                + "a Mutex: \(format(samples.0.median)) ns.")
    }

    private func stores(_ count: Int, _ policy: MemoryCache.Policy) throws {
        let keys = Self.makeKeys(2 * count)
        let images = try Self.makeImages(2 * count)
        let cost = images[0].memoryCost
        var samples = [Sample(), Sample(), Sample()]
        for _ in 0..<(isSmoke ? 1 : 7) {
            let cache = MemoryCache(.init(capacity: ByteCount(count * cost), policy: policy))
            for index in 0..<count { cache.store(images[index], forKey: keys[index]) }
            for index in 0..<count { consume(cache.image(forKey: keys[index])) }
            let steps = min(count, 10_000)
            samples[0].add(
                processorTime {
                    for index in 0..<steps { cache.store(images[index], forKey: keys[index]) }
                } / Double(steps))
            samples[1].add(
                processorTime {
                    for index in 0..<steps { cache.store(images[count + index], forKey: keys[count + index]) }
                } / Double(steps))
            let bytes = cache.statistics.bytes
            samples[2].add(processorTime { cache.trim(to: ByteCount(bytes - 1_000 * cost)) } / 1_000)
        }
        row(
            "\(count)", policy == .adaptive ? "adaptive" : "LRU", format(samples[0].median), format(samples[1].median),
            format(samples[2].median))
    }
}

/// What the cache is compared with.
private final class Bare: Sendable {
    let images: Mutex<[ImageKey: Image]>
    init(_ images: [ImageKey: Image]) { self.images = Mutex(images) }
}

/// Keeps the compiler from leaving out what nobody uses.
@inline(never)
func consume(_ image: Image?) {
    if image == nil { exit(1) }
}

/// SplitMix64 (Steele, Lea, Flood, 2014): the same numbers in every run.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
