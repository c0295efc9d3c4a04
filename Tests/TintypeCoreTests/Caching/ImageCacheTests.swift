import Foundation
import TestSupport
import Testing

@testable import TintypeCore
import TintypeTesting

/// Writes the format's name and the width, and reads it again. Counts what it does.
private final class ToyCoder: ImageCoder {
    let encodableFormats: Set<ImageFormat>
    let decodableFormats: Set<ImageFormat> = []
    let decodes = Lock(0)
    init(writing formats: Set<ImageFormat> = [.jpeg, .png, .gif, .webp]) { encodableFormats = formats }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.unknownFormat, stage: .decode, reason: "not here")
    }
    func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        decodes.withLock { $0 += 1 }
        guard let width = Int(String(decoding: data, as: UTF8.self).split(separator: " ").last ?? "") else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no number")
        }
        return Image(pixels: try MutablePixelBuffer(size: PixelSize(width: width, height: 1), cleared: true).freeze())
    }
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: EncodeContext
    ) throws(ImageError) -> Data {
        guard encodableFormats.contains(format) else {
            throw ImageError(.formatNotEncodable, stage: .encode, reason: "no \(format)")
        }
        return Data("\(format) \(image.size.width)".utf8)
    }
}

/// Reads nothing, for one reason.
private struct FailingCoder: ImageCoder {
    var code: ImageError.Code
    let decodableFormats: Set<ImageFormat> = []
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        throw ImageError(code, stage: .decode, reason: "not here")
    }
    func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        throw ImageError(code, stage: .decode, reason: "not here")
    }
}

extension ImageError.Code {
    /// An error of a program's own coder.
    fileprivate static let decodeFailedByCoder = Self(rawValue: "decodeFailedByCoder")
}

/// What happens to an entry while it is decoded.
private enum Overtaking: CaseIterable { case remove, removeAll, removeAllOfSource, replace }

@Suite("Image cache", .timeLimited)
struct ImageCacheTests {
    let directory: TemporaryDirectory
    private let coder = ToyCoder()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(_ coder: ToyCoder? = nil) -> ImageCache {
        ImageCache(
            memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"), coder: coder ?? self.coder)
    }

    @Test(
        "stores in both layers; memory answers first, then the disk",
        .capability("CST-01", "CST-03", "CQU-02", "CQU-03", "CQU-09"))
    func layers() async throws {
        let cache = cache()
        let image = try solidImage(5, 1)
        try await cache.store(image, data: Data("bytes 5".utf8), forKey: "a")
        let fromMemory = try #require(await cache.image(forKey: "a"))
        #expect(fromMemory.source == .memory && fromMemory.image.isIdentical(to: image) && fromMemory.data == nil)
        cache.memory.removeAll()
        let fromDisk = try #require(await cache.image(forKey: "a"))
        #expect(fromDisk.source == .disk && fromDisk.image.size.width == 5 && fromDisk.data == Data("bytes 5".utf8))
        #expect(cache.memoryImage(forKey: "a") != nil, "CQU-09: a disk hit is kept in memory")
        #expect(coder.decodes.withLock { $0 } == 1)
    }

    @Test("a program's own caches take the places of both layers", .capability("CCF-15", "CCF-16"))
    func ownCaches() async throws {
        let cache = LayeredImageCache(memory: PlainMemory(), disk: PlainDisk(), coder: coder)
        let image = try solidImage(5, 1)
        try await cache.store(image, data: Data("bytes 5".utf8), forKey: "a")
        #expect(await cache.contains("a") == .all)
        #expect(cache.memoryImage(forKey: "a")?.isIdentical(to: image) == true)
        try await cache.removeAll(from: .memory)
        let found = try #require(await cache.image(forKey: "a"))
        #expect(found.source == .disk && found.image.size.width == 5)
        #expect(await cache.contains("a") == .all, "what came from the disk is in memory too")
        try await cache.removeAll(ofSource: "a")
        #expect(await cache.contains("a") == [])
        #expect(await cache.image(forKey: "a") == nil)
    }

    @Test("of many who ask for one image at once, all get the same, decoded once", .capability("CQU-07"))
    func decodesOnce() async throws {
        let queue = WorkQueue(label: "test", width: 4)
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"), coder: coder, processing: queue
        )
        try await cache.store(nil, data: Data("bytes 5".utf8), forKey: "a")
        let images = await withTaskGroup(of: Image?.self) { group in
            for _ in 0..<50 { group.addTask { await cache.image(forKey: "a")?.image } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let first = try #require(images[0])
        #expect(images.allSatisfy { $0?.isIdentical(to: first) == true })
        #expect(coder.decodes.withLock { $0 } == 1)
        // Who does not look into memory decodes for himself.
        _ = await cache.image(forKey: "a", in: .disk)
        #expect(coder.decodes.withLock { $0 } == 2)
    }

    @Test("a decode that takes long holds up no other read of the disk", .capability("CQU-08", "D8"))
    func decodesApart() async throws {
        let queue = WorkQueue(label: "test", width: 1)
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"), coder: coder, processing: queue
        )
        for key in ["a", "b"] as [ImageKey] { try await cache.store(nil, data: Data("bytes 5".utf8), forKey: key) }
        let isHeld = Lock(true)
        let holding = Task { try await queue.perform { _ throws(ImageError) in while isHeld.withLock({ $0 }) {} } }
        let slow = Task { await cache.image(forKey: "a") }
        while queue.load.waiting == 0 { await Task.yield() }
        #expect(await cache.entry(forKey: "b")?.data == Data("bytes 5".utf8))
        #expect(await cache.contains("a", in: .memory) == [])
        isHeld.withLock { $0 = false }
        try await holding.value
        #expect(await slow.value?.image.size.width == 5)
    }

    @Test("nothing to store is nothing done", .capability("CST-02"))
    func nothing() async throws {
        let cache = cache()
        try await cache.store(nil, forKey: "a")
        #expect(await cache.contains("a") == [])
    }

    @Test("stores, finds and removes in one layer", .capability("CST-03", "CST-04", "CRM-05", "CQU-04", "CQU-05", "D9"))
    func oneLayer() async throws {
        let cache = cache()
        try await cache.store(try solidImage(5, 1), forKey: "m", in: .memory)
        try await cache.store(try solidImage(5, 1), forKey: "d", in: .disk)
        #expect(await cache.contains("m") == .memory)
        #expect(await cache.contains("d") == .disk)
        #expect(await cache.contains("d", in: .memory) == [])
        #expect(await cache.image(forKey: "m", in: .disk) == nil)
        #expect(await cache.image(forKey: "d", in: .memory) == nil)
        try await cache.store(try solidImage(5, 1), forKey: "d", in: .memory)
        try await cache.remove("d", from: .disk)
        #expect(await cache.contains("d") == .memory)
        try await cache.remove("d")
        #expect(await cache.contains("d") == [])
    }

    @Test("without bytes the image is encoded in its format; else WebP, PNG or JPEG", .capability("CST-05", "CST-06"))
    func formats() async throws {
        let cache = cache()
        func stored(_ image: Image) async throws -> DiskCacheEntry? {
            try await cache.store(image, forKey: "a", in: .disk)
            return await cache.entry(forKey: "a")
        }
        let still = try solidImage(3, 1)
        let moving = try #require(
            Image(frames: [ImageFrame(pixels: still.pixels, duration: .seconds(1)), ImageFrame(pixels: still.pixels)]))
        #expect(try await stored(still.with { $0.format = .webp })?.data == Data("webp 3".utf8))
        #expect(try await stored(still)?.mimeType == "image/png")
        #expect(try await stored(still.with { $0.hasAlpha = false })?.data == Data("jpeg 3".utf8))
        #expect(try await stored(moving)?.data == Data("webp 3".utf8))
        #expect(
            try await stored(still.with { $0.format = .heic })?.data == Data("png 3".utf8), "cannot be written here")
    }

    @Test("a failure to encode is told; the image is in memory, nothing is on disk", .capability("CST-07"))
    func encodeFailure() async throws {
        let cache = cache(ToyCoder(writing: []))
        await #expect(throws: ImageError.self) { try await cache.store(try solidImage(3, 1), forKey: "a") }
        #expect(await cache.contains("a") == .memory)
    }

    @Test("a failure to write is told", .capability("CST-08"))
    func writeFailure() async throws {
        let disk = DiskCache.temporary("/dev/null/cache")
        let cache = ImageCache(memory: MemoryCache(), disk: disk, coder: coder)
        let error = await #expect(throws: ImageError.self) {
            try await cache.store(try solidImage(3, 1), forKey: "a")
        }
        #expect(error?.code == .cacheUnavailable)
        #expect(await cache.contains("a") == .memory)
    }

    @Test("bytes that are no image are removed from the disk", .capability("3.8"))
    func brokenImage() async throws {
        let cache = cache()
        try await cache.store(nil, data: Data("rubbish".utf8), forKey: "a")
        #expect(await cache.image(forKey: "a") == nil)
        #expect(await cache.contains("a") == [])
    }

    @Test("clears what it is told to", .capability("CRM-02", "CRM-03", "CRM-07"))
    func clearing() async throws {
        let cache = cache()
        try await cache.store(try solidImage(3, 1), forKey: "a")
        try await cache.removeAll(from: [])
        #expect(await cache.contains("a") == .all)
        try await cache.removeAll(from: .memory)
        #expect(await cache.contains("a") == .disk)
        try await cache.store(try solidImage(3, 1), forKey: "a")
        try await cache.removeAll(from: .disk)
        #expect(await cache.contains("a") == .memory)
        #expect(await cache.disk.usage() == CacheUsage())
        try await cache.store(try solidImage(3, 1), forKey: "a")
        try await cache.removeAll()
        #expect(await cache.contains("a") == [])
    }

    @Test("removing says whether there was something", .capability("CRM-01", "AFC-06"))
    func removingSays() async throws {
        let cache = cache()
        try await cache.store(try solidImage(3, 1), forKey: "a", in: .disk)
        #expect(try await !cache.remove("a", from: .memory))
        #expect(try await cache.remove("a"))
        #expect(try await !cache.remove("a"))
        try await cache.store(try solidImage(3, 1), forKey: "a", in: .memory)
        #expect(try await cache.removeAll(ofSource: "a"))
        #expect(try await !cache.removeAll(ofSource: "a"))
    }

    @Test("default arguments work behind any cache")
    func anyCache() async throws {
        let cache: any ImageCaching = cache()
        try await cache.store(try solidImage(5, 1), forKey: "a")
        #expect(await cache.contains("a") == .all)
        #expect(await cache.image(forKey: "a")?.source == .memory)
        #expect(await cache.image(forKey: "a", in: .disk)?.image.size.width == 5)
        try await cache.remove("a")
        try await cache.removeAll(ofSource: "a")
        try await cache.removeAll()
        #expect(await cache.image(forKey: "a") == nil)
    }

    /// What a cache decodes with, by its parts.
    private func toyCoder(_ coder: any ImageCoder, _ change: (inout EntryCoder) -> Void = { _ in }) -> EntryCoder {
        var entryCoder = EntryCoder(coders: coder)
        change(&entryCoder)
        return entryCoder
    }

    @Test("a cache decodes with its manager's coders and limits, the first one's while it exists")
    func adoption() async throws {
        let disk = DiskCache.temporary(directory.path + "/cache")
        let cache = ImageCache(memory: MemoryCache(), disk: disk, coding: EntryCoderSource())
        try await cache.store(nil, data: Data("bytes 5".utf8), forKey: "a")
        #expect(await cache.image(forKey: "a", in: .disk) == nil, "nobody can read it yet")
        #expect(await cache.contains("a") == .disk, "and it stays")

        let other = ToyCoder()
        let first = Lock<EntryCoder?>(toyCoder(coder))
        cache.adopt { first.withLock { $0 } }
        cache.adopt { [second = toyCoder(other)] in second }
        #expect(await cache.image(forKey: "a", in: .disk)?.image.size.width == 5)
        #expect(coder.decodes.withLock { $0 } == 1 && other.decodes.withLock { $0 } == 0)
        first.withLock { $0 = nil }
        cache.adopt { [second = toyCoder(other)] in second }
        #expect(await cache.image(forKey: "a", in: .disk)?.image.size.width == 5)
        #expect(coder.decodes.withLock { $0 } == 1 && other.decodes.withLock { $0 } == 1)

        let explicit = ImageCache(memory: MemoryCache(), disk: disk, coder: coder)
        explicit.adopt { [second = toyCoder(other)] in second }
        #expect(await explicit.image(forKey: "a", in: .disk)?.image.size.width == 5)
        #expect(coder.decodes.withLock { $0 } == 2 && other.decodes.withLock { $0 } == 1)
    }

    @Test("several caches pass the manager's coder on, also to those that are added later")
    func adoptionBySeveral() async throws {
        func cache(_ name: String) async throws -> ImageCache {
            let cache = ImageCache(
                memory: MemoryCache(), disk: DiskCache.temporary("\(directory.path)/\(name)"),
                coding: EntryCoderSource())
            try await cache.store(nil, data: Data("bytes 5".utf8), forKey: ImageKey(source: name))
            return cache
        }
        let caches = ImageCaches([try await cache("a")])
        caches.adopt { [coder = toyCoder(coder)] in coder }
        caches.add(try await cache("b"))
        #expect(await caches.image(forKey: "a")?.source == .disk)
        #expect(await caches.image(forKey: "b")?.source == .disk)
        try await caches.store(try solidImage(7, 1), forKey: "c")
        #expect(await caches.image(forKey: "c", in: .disk)?.image.size.width == 7)
    }

    @Test(
        "an entry is kept after every error that says nothing about it",
        arguments: [
            ImageError.Code.limitExceeded, .outOfMemory, .unknownFormat, .formatNotEnabled, .cancelled,
            .decodeFailedByCoder,
        ])
    func keepsReadableEntries(_ code: ImageError.Code) async throws {
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"), coder: FailingCoder(code: code)
        )
        try await cache.store(nil, data: Data("bytes 5".utf8), forKey: "a")
        #expect(await cache.image(forKey: "a") == nil)
        #expect(await cache.contains("a") == .disk)
    }

    @Test("an image that is removed or replaced while it is decoded doesn't come back", arguments: Overtaking.allCases)
    private func removedWhileDecoding(_ overtaking: Overtaking) async throws {
        let queue = WorkQueue(label: "test", width: 1)
        let cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache.temporary(directory.path + "/cache"), coder: coder, processing: queue
        )
        try await cache.store(nil, data: Data("bytes 5".utf8), forKey: "a")
        let isHeld = Lock(true)
        let holding = Task { try await queue.perform { _ throws(ImageError) in while isHeld.withLock({ $0 }) {} } }
        let early = Task { await cache.image(forKey: "a") }
        while queue.load.waiting == 0 { await Task.yield() }
        switch overtaking {
        case .remove: try await cache.remove("a")
        case .removeAll: try await cache.removeAll()
        case .removeAllOfSource: try await cache.removeAll(ofSource: "a")
        case .replace: try await cache.store(try solidImage(7, 1), data: Data("bytes 7".utf8), forKey: "a")
        }
        // A caller that comes after the change doesn't join the decode of before.
        let late = await cache.image(forKey: "a")?.image.size.width
        #expect(late == (overtaking == .replace ? 7 : nil))
        isHeld.withLock { $0 = false }
        try await holding.value
        #expect(await early.value?.image.size.width == 5)
        #expect(cache.memoryImage(forKey: "a")?.size.width == (overtaking == .replace ? 7 : nil))
    }

    @Test("removes all variants of a source from both layers", .capability("CRM-01", "3.9"))
    func variants() async throws {
        let cache = cache()
        let variant = ImageKey(source: "a", variant: ImageVariant(description: "fit=1x1"))
        for key in ["a", variant, "b"] { try await cache.store(try solidImage(3, 1), forKey: key) }
        try await cache.removeAll(ofSource: "a")
        #expect(await cache.contains("a") == [])
        #expect(await cache.contains(variant) == [])
        #expect(await cache.contains("b") == .all)
    }

    @Test("without a disk there is only memory")
    func memoryOnly() async throws {
        let cache = MemoryImageCache(memory: MemoryCache(), disk: NoDiskCache(), coder: coder)
        try await cache.store(try solidImage(3, 1), forKey: "a")
        #expect(await cache.contains("a") == .memory)
        #expect(await cache.image(forKey: "a", in: .disk) == nil)
        try await cache.store(DiskCacheEntry(data: Data("png 3".utf8), created: Date()), forKey: "b")
        #expect(await cache.entry(forKey: "b") == nil)
        #expect(await cache.disk.usage() == CacheUsage())
        #expect(try await cache.disk.removeExpired() == CacheSweep())
        #expect(coder.decodes.withLock { $0 } == 0)
        try await cache.removeAll()
        #expect(await cache.image(forKey: "a") == nil)
    }

    @Test("a directory that cannot be one is refused at once")
    func impossibleDirectory() {
        #expect(throws: ImageError.self) { try ImageCache(disk: .init(directory: ""), coder: ImageCoders()) }
    }
}
