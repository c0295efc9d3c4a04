public import FoundationEssentials

/// An image that a cache had.
public struct CachedImage: Sendable {
    public var image: Image
    /// The encoded bytes, if the image comes from the disk.
    public var data: Data?
    /// The layer that had the image: ``ImageSource/memory`` or ``ImageSource/disk``.
    public var source: ImageSource

    public init(image: Image, data: Data? = nil, source: ImageSource) {
        self.image = image
        self.data = data
        self.source = source
    }
}

/// The identity of a read of ``LayeredImageCache/image(forKey:in:options:)``: equal reads share their work.
struct ImageRead: Hashable, Sendable {
    var key: ImageKey
    var layers: CacheLayers
    var options: DecodeOptions
    var epoch = 0
    /// The key of the decoded image.
    var memoryKey: ImageKey { key.decoded(with: options) }
}

extension LayeredImageCache {
    /// Returns the image under a key: from memory, or from disk, in which case memory gets it too.
    ///
    /// Concurrent callers share one decode. Decoding waits for its turn on a queue of its own, so that other reads go on
    /// meanwhile. Damaged bytes are discarded from the disk. An entry of no known format, or one that a limit refuses, stays.
    ///
    /// Returns `nil` at once if the calling task is cancelled; the decode goes on only while somebody else waits for it.
    /// - Parameters:
    ///   - key: the key of the encoded image.
    ///   - layers: the layers to look in, and to promote the image to.
    ///   - options: the options to decode with. What they leave open, the name at the end of the key's source tells, as in a
    ///     load: a camera file's ending, and the scale of `@2x`. In memory an image is under the key of what was made of
    ///     it: ``ImageKey/decoded(with:)``.
    /// - Returns: the image, and the layer that had it; `nil` if neither has.
    public func image(
        forKey key: ImageKey, in layers: CacheLayers, options: DecodeOptions
    ) async -> CachedImage? {
        if layers.contains(.memory), let image = memoryImage(forKey: key, options: options) {
            return CachedImage(image: image, source: .memory)
        }
        guard layers.contains(.disk), hasDisk else { return nil }
        var read = ImageRead(key: key, layers: layers, options: options)
        read.epoch = readsUnderWay.withLock { $0.epoch }
        let outcome = await reads.value(for: read, priority: LoadPriority(.normal)) {
            [self, read] context in
            .success(await perform(read, priority: context.priority))
        }
        return try? outcome.get()
    }

    /// Returns the decoded image under a key without waiting; for options that ask for no more than the first frame, also that of
    /// the whole animation, which stays as it is.
    public func memoryImage(forKey key: ImageKey, options: DecodeOptions) -> Image? {
        if let image = memory.image(forKey: key.decoded(with: options)) { return image }
        return options.ofWholeAnimation.flatMap { memory.image(forKey: key.decoded(with: $0)) }?.firstFrame
    }

    private func perform(_ read: ImageRead, priority: WorkPriority) async -> CachedImage? {
        let id = readsUnderWay.withLock { $0.begin(read) }
        defer { readsUnderWay.withLock { _ = $0.end(id) } }
        guard let entry = await disk.entry(forKey: read.key, priority: priority) else { return nil }
        let memoryKey = read.memoryKey
        let usesMemory = read.layers.contains(.memory)
        // A load may have stored it in the meantime.
        if usesMemory, memory.contains(memoryKey), let image = memory.image(forKey: memoryKey) {
            return CachedImage(image: image, data: entry.data, source: .memory)
        }
        do throws(ImageError) {
            let options = read.options.completed(fileName: read.key.name, mimeType: entry.mimeType)
            let image = try await coding.current.decode(entry.data, options: options, priority: priority)
            if usesMemory { promote(image, forKey: memoryKey, id) }
            return CachedImage(image: image, data: entry.data, source: .disk)
        } catch {
            // An entry that was replaced meanwhile is another one.
            if EntryCoder.shouldDiscardEntry(after: error), readsUnderWay.withLock({ $0.isCurrent(id) }) {
                _ = try? await disk.remove(read.key)
            }
            return nil
        }
    }

    /// Stores the image of a read in memory, unless something overtook the read.
    private func promote(_ image: Image, forKey key: ImageKey, _ id: Int) {
        guard readsUnderWay.withLock({ $0.isCurrent(id) }) else { return }
        memory.store(image, forKey: key)
        // Overtaken between the two: a removal that came before the store must not be undone by it.
        if !readsUnderWay.withLock({ $0.end(id) }) { memory.remove(key) }
    }

    /// Stores an image, its encoded bytes, or both.
    ///
    /// Memory has the image at once, before anything is encoded. The disk gets the bytes; without them the image is encoded, in the
    /// format of its source if that can be written and keeps all that the image has.
    /// - Parameters:
    ///   - image: the image; `nil` to store bytes alone.
    ///   - data: the encoded image; `nil` to encode `image`.
    ///   - key: the key to store under.
    ///   - layers: the layers to store in.
    ///   - options: the options to encode with.
    /// - Throws: ``ImageError/Code/encodeFailed``, ``ImageError/Code/formatNotEncodable``, or what the disk cache
    ///   throws. The image is in memory even then.
    public func store(
        _ image: Image?, data: Data?, forKey key: ImageKey, in layers: CacheLayers, options: EncodeOptions
    ) async throws(ImageError) {
        if layers.contains(.memory), let image { storeInMemory(image, forKey: key) }
        guard layers.contains(.disk), hasDisk else { return }
        let entry: DiskCacheEntry
        if let data {
            entry = DiskCacheEntry(data: data, created: Date(), mimeType: ImageFormat(sniffing: data)?.mimeType)
        } else if let image {
            let (bytes, format) = try await coding.current.encode(image, options: options)
            entry = DiskCacheEntry(data: bytes, created: Date(), mimeType: format.mimeType)
        } else {
            return
        }
        try await store(entry, forKey: key)
    }
}
