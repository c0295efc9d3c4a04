import FoundationEssentials

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// The least that a memory cache has to be.
final class PlainMemory: MemoryCaching {
    private let images = Lock([ImageKey: Image]())
    func image(forKey key: ImageKey) -> Image? { images.withLock { $0[key] } }
    func contains(_ key: ImageKey) -> Bool { images.withLock { $0[key] != nil } }
    func store(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool) {
        images.withLock { if isCurrent() { $0[key] = image } }
    }
    func remove(_ key: ImageKey) -> Bool { images.withLock { $0.removeValue(forKey: key) != nil } }
    func removeAll(ofSource source: String) -> Int {
        images.withLock { images in
            let count = images.count
            images = images.filter { $0.key.source != source }
            return count - images.count
        }
    }
    func removeAll() -> Bool {
        images.withLock { images in
            defer { images = [:] }
            return !images.isEmpty
        }
    }
    func trim(to bytes: ByteCount) { _ = removeAll() }
    var statistics: CacheStatistics { CacheStatistics() }
}

/// A disk cache whose stores wait until a gate opens.
final class GatedDisk: DiskCaching {
    let gate = AsyncGate()
    private let disk = PlainDisk()

    func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
        await disk.entry(forKey: key, priority: priority)
    }
    func contains(_ key: ImageKey) async -> Bool { await disk.contains(key) }
    func variants(ofSource source: String) async -> [ImageVariant] { await disk.variants(ofSource: source) }
    func store(
        _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
    ) async throws(ImageError) {
        await gate.wait()
        await disk.store(entry, forKey: key, while: isCurrent)
    }
    func remove(_ key: ImageKey) async throws(ImageError) -> Bool { await disk.remove(key) }
    func removeAll(ofSource source: String) async throws(ImageError) -> Int { await disk.removeAll(ofSource: source) }
    func removeAll() async throws(ImageError) { await disk.removeAll() }
    func removeExpired() async throws(ImageError) -> CacheUsage { await disk.removeExpired() }
    func usage() async -> CacheUsage { await disk.usage() }
}

/// The least that a disk cache has to be, in memory.
actor PlainDisk: DiskCaching {
    private var entries: [ImageKey: DiskCacheEntry] = [:]
    func entry(forKey key: ImageKey, priority: WorkPriority) -> DiskCacheEntry? { entries[key] }
    func contains(_ key: ImageKey) -> Bool { entries[key] != nil }
    func variants(ofSource source: String) -> [ImageVariant] {
        entries.keys.filter { $0.source == source }.map(\.variant)
    }
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool) {
        if isCurrent() { entries[key] = entry }
    }
    func remove(_ key: ImageKey) -> Bool { entries.removeValue(forKey: key) != nil }
    func removeAll(ofSource source: String) -> Int {
        let count = entries.count
        entries = entries.filter { $0.key.source != source }
        return count - entries.count
    }
    func removeAll() { entries = [:] }
    func removeExpired() -> CacheUsage { CacheUsage() }
    func usage() -> CacheUsage { CacheUsage(entries: entries.count) }
}
