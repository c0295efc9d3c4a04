import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Payload codecs of the disk cache", .timeLimited)
struct PayloadCodecTests {
    let directory: TemporaryDirectory
    let clock = WallClock()
    let messages = Lock<[String]>([])
    var path: String { directory.path + "/cache" }

    init() throws { directory = try TemporaryDirectory() }

    private func cache(_ transform: PayloadCodec?) -> DiskCache {
        DiskCache(
            .init(
                directory: path, maximumAge: nil, minimumFreeSpace: 0,
                payloadCodec: transform),
            now: { [clock] in clock.date }, log: { [messages] message in messages.withLock { $0.append(message) } })
    }

    /// Runs of equal bytes, as count and byte.
    private static let runs = PayloadCodec(identifier: "runs") { data in
        var packed = Data()
        var rest = data[...]
        while let byte = rest.first {
            let count = min(255, rest.prefix { $0 == byte }.count)
            packed.append(contentsOf: [UInt8(count), byte])
            rest = rest.dropFirst(count)
        }
        return packed
    } decode: { data in
        guard data.count.isMultiple(of: 2) else { throw Refusal() }
        var unpacked = Data()
        for index in stride(from: data.startIndex, to: data.endIndex, by: 2) {
            unpacked.append(contentsOf: repeatElement(data[index + 1], count: Int(data[index])))
        }
        return unpacked
    }

    struct Refusal: Error {}

    /// Mixed with a key's bytes, and with a sum at the end that only the key gives.
    private static func cipher(_ key: UInt64, identifier: String? = nil) -> PayloadCodec {
        @Sendable func mixed(_ data: Data) -> Data {
            var generator = SeededRandom(seed: key)
            return Data(data.map { $0 ^ UInt8(truncatingIfNeeded: generator.next()) })
        }
        @Sendable func sum(_ data: Data) -> Data {
            withUnsafeBytes(of: data.withUnsafeBytes { XXH3.hash($0) } &* (key | 1)) { Data($0) }
        }
        return PayloadCodec(identifier: identifier ?? "cipher-\(key)") { data in
            mixed(data) + sum(data)
        } decode: { data in
            guard data.count >= 8 else { throw Refusal() }
            let plain = mixed(Data(data.dropLast(8)))
            guard Data(data.suffix(8)) == sum(plain) else { throw Refusal() }
            return plain
        }
    }

    private func files() throws -> [String] { try DiskCacheTests.payloadFiles(path) }

    @Test("Compressed entries take less room, and come back as they were")
    func compression() async throws {
        let cache = cache(Self.runs)
        let entry = DiskCacheEntry(
            data: Data(repeating: 7, count: 100_000), created: clock.date, mimeType: "image/png",
            extendedData: Data(repeating: 1, count: 3))
        try await cache.store(entry, forKey: "a")
        #expect(await cache.entry(forKey: "a") == entry)
        #expect(await cache.usage().bytes == 4_096)
        #expect(await cache.entries().first?.codec == "runs")
        #expect(await self.cache(Self.runs).entry(forKey: "a") == entry)
        #expect(try await cache.verify().damaged.isEmpty, "what is on disk is checked, not what comes of it")
    }

    @Test("Nothing of an encrypted entry is on disk, nor of the bytes beside it")
    func encryption() async throws {
        let cache = cache(Self.cipher(1))
        let secret = Data("the picture's bytes".utf8)
        let entry = DiskCacheEntry(
            data: secret, created: clock.date, extendedData: Data("beside it".utf8),
            imageProperties: Data("the place where it was taken".utf8))
        try await cache.store(entry, forKey: "a")
        await cache.close()
        // Foundation (6.3) leaks the memory that it reads an empty file into, such as those that are locked.
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where !name.hasSuffix("lock") {
            guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { continue }
            for part in [secret, entry.extendedData, entry.imageProperties].compactMap(\.self) {
                #expect(data.firstRange(of: part) == nil)
            }
        }
        #expect(await self.cache(Self.cipher(1)).entry(forKey: "a") == entry)
    }

    @Test("An entry of another transform, or of none, is a miss; it stays, and is replaced")
    func otherTransform() async throws {
        try await cache(Self.cipher(1)).put(someBytes(100), "a")
        try await cache(nil).put(someBytes(50), "b")
        let second = cache(Self.cipher(2))
        #expect(await second.entry(forKey: "a") == nil)
        #expect(await second.entry(forKey: "b") == nil)
        #expect(await !second.contains("a"))
        #expect(await cache(nil).entry(forKey: "a") == nil)
        await second.flush()
        #expect(await second.usage().entries == 2 && second.statistics.corruptions == 0)
        try await second.put(someBytes(70), "a")
        #expect(await second.entry(forKey: "a")?.data == someBytes(70))
        #expect(await cache(Self.cipher(1)).entry(forKey: "a") == nil)
        #expect(await second.usage().entries == 2)
    }

    @Test("An entry that the transform refuses is dropped and counted as damaged; the reason is logged once")
    func refusal() async throws {
        // The same name with another key: what a program must not do.
        try await cache(Self.cipher(1, identifier: "cipher")).put(someBytes(100), "a")
        let other = cache(Self.cipher(2, identifier: "cipher"))
        #expect(await other.entry(forKey: "a") == nil)
        await other.flush()
        #expect(other.statistics.corruptions == 1)
        #expect(await other.usage().entries == 0)
        #expect(messages.withLock { $0 }.filter { $0.contains("refused") }.count == 1)
    }

    @Test("A transform that fails is the error of the store, and nothing is left over")
    func failure() async throws {
        let broken = PayloadCodec(identifier: "broken", encode: { _ in throw Refusal() }, decode: { $0 })
        let cache = cache(broken)
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(10), "a") }
        #expect(error?.code == .cacheWriteFailed && error?.reason.contains("broken") == true)
        #expect(error?.source == path && error?.underlying is Refusal)
        #expect(await cache.entry(forKey: "a") == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("An entry that is removed while the codec is at work doesn't come back")
    func removalDuringEncode() async throws {
        let (isEncoding, mayEnd) = (Watched(false), Lock(false))
        let slow = PayloadCodec(identifier: "slow") { data in
            isEncoding.update { $0 = true }
            while !mayEnd.withLock({ $0 }) {}
            return data
        } decode: {
            $0
        }
        let cache = cache(slow)
        let storing = Task { try await cache.put(someBytes(10), "a") }
        try await isEncoding.wait { $0 }
        try await cache.remove("a")
        mayEnd.withLock { $0 = true }
        try await storing.value
        #expect(await cache.entry(forKey: "a") == nil)
        await cache.flush()
        #expect(await cache.usage().entries == 0)
    }

    @Test("A codec that makes no bytes of an image stores none")
    func emptyPayload() async throws {
        let cache = cache(PayloadCodec(identifier: "none", encode: { _ in Data() }, decode: { $0 }))
        let error = await #expect(throws: ImageError.self) { try await cache.put(someBytes(10), "a") }
        #expect(error?.code == .cacheWriteFailed && error?.reason.contains("no bytes") == true)
        #expect(await !cache.contains("a"))
    }
}
