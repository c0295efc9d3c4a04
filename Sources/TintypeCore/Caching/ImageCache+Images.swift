public import FoundationEssentials

/// An image that was found in a cache.
public struct CachedImage: Sendable {
    public var image: Image
    /// The encoded bytes, if the image comes from the disk.
    public var data: Data?
    /// The layer that contained the image: ``ImageSource/memory`` or ``ImageSource/disk``.
    public var source: ImageSource

    public init(image: Image, data: Data? = nil, source: ImageSource) {
        self.image = image
        self.data = data
        self.source = source
    }
}

/// The identity of one read by ``LayeredImageCache/image(forKey:in:options:)``. Equal reads share their work.
struct ImageRead: Hashable, Sendable {
    var key: ImageKey
    var layers: CacheLayers
    var options: DecodeOptions
    var epoch = 0
    /// The key of the decoded image.
    var memoryKey: ImageKey { key.decoded(with: options) }
}

extension LayeredImageCache {
    /// Returns the image under a key: from memory, or from disk, in which case it is stored in memory too.
    ///
    /// Concurrent callers share one decode. Decoding waits for its turn on its own queue, so other reads can continue
    /// meanwhile. Damaged entries are discarded from the disk. Entries of an unknown format, or that exceed a limit, stay
    /// there.
    ///
    /// If the calling task is canceled, the method returns `nil` at once. The decode continues only if another caller is
    /// waiting for it.
    /// - Parameters:
    ///   - key: the key of the encoded image.
    ///   - layers: the layers to look in, and to promote the image to.
    ///   - options: the options to decode with. As in a load, the file name at the end of the key's source completes them: it
    ///     can supply the format of a camera file and the scale of `@2x`. In memory, the image is stored under the key for the
    ///     decoded image, ``ImageKey/decoded(with:)``.
    /// - Returns: the image, and the layer that contained it; `nil` if neither does.
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

    /// Returns the decoded image under a key without waiting. If the options ask for only the first frame, the result may also
    /// be the first frame of a whole animation in memory, which is left unchanged.
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
        // Another load may have stored it meanwhile.
        if usesMemory, memory.contains(memoryKey), let image = memory.image(forKey: memoryKey) {
            return CachedImage(image: image, data: entry.data, source: .memory)
        }
        do throws(ImageError) {
            let options = read.options.completed(fileName: read.key.name, mimeType: entry.mimeType)
            let image = try await coding.current.decode(entry.data, options: options, priority: priority)
            if usesMemory { promote(image, forKey: memoryKey, id) }
            return CachedImage(image: image, data: entry.data, source: .disk)
        } catch {
            // If the entry was replaced meanwhile, the error belongs to the old one.
            if EntryCoder.shouldDiscardEntry(after: error), readsUnderWay.withLock({ $0.isCurrent(id) }) {
                _ = try? await disk.remove(read.key)
            }
            return nil
        }
    }

    /// Stores the image of a read in memory, unless a removal or store overtook the read.
    private func promote(_ image: Image, forKey key: ImageKey, _ id: Int) {
        guard readsUnderWay.withLock({ $0.isCurrent(id) }) else { return }
        memory.store(image, forKey: key)
        // A removal came between the check and the store, and must win.
        if !readsUnderWay.withLock({ $0.end(id) }) { memory.remove(key) }
    }

    /// Stores an image, its encoded bytes, or both.
    ///
    /// The image is in memory as soon as the call begins, before anything is encoded. The disk stores the bytes. Without bytes,
    /// the cache encodes the image, in the format of its source if that format can be written and preserves all of the image.
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
