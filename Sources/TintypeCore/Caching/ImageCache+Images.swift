public import FoundationEssentials

/// An image that a cache had.
public struct CachedImage: Sendable {
    public var image: Image
    /// The encoded bytes, if the image comes from the disk.
    public var data: Data?
    /// The layer that had it: ``CacheLayers/memory`` or ``CacheLayers/disk``.
    public var source: CacheLayers

    public init(image: Image, data: Data? = nil, source: CacheLayers) {
        self.image = image
        self.data = data
        self.source = source
    }
}

/// What a read of ``ImageCache/image(forKey:in:options:)`` is known by.
struct ImageRead: Hashable, Sendable {
    var key: ImageKey
    var layers: CacheLayers
    var options: DecodeOptions
}

extension ImageCache {
    /// The image under a key, from memory, or from disk and then kept in memory too.
    ///
    /// All who ask for an image while it is read share one decode. Decoding waits for its turn on a queue of its own, so that
    /// other reads go on meanwhile. Bytes that turn out to be no image, or a broken one, are removed from the disk.
    ///
    /// Ends with `nil` at once if the calling task is cancelled; the decode goes on only while somebody else waits for it.
    /// - Parameter options: how the bytes on disk become an image. What they say nothing of, the name at the end of the key's
    ///   source does, as in a load: a camera file's ending, and the scale of `@2x`. In memory an image is under the key of
    ///   what was made of it: ``ImageKey/decoded(with:)``.
    public func image(
        forKey key: ImageKey, in layers: CacheLayers = .all, options: DecodeOptions = DecodeOptions()
    ) async -> CachedImage? {
        if layers.contains(.memory), let image = memoryImage(forKey: key, options: options) {
            return CachedImage(image: image, source: .memory)
        }
        guard layers.contains(.disk), hasDisk else { return nil }
        let outcome = await reads.value(
            for: ImageRead(key: key, layers: layers, options: options), priority: LoadPriority(.normal)
        ) { [self] context in
            .success(await read(key, layers, options, priority: context.priority))
        }
        return try? outcome.get()
    }

    /// The decoded image under a key, at once; for options that want no more than the first frame, also that of the whole
    /// animation, which stays as it is.
    public func memoryImage(forKey key: ImageKey, options: DecodeOptions) -> Image? {
        if let image = memory.image(forKey: key.decoded(with: options)) { return image }
        return options.ofWholeAnimation.flatMap { memory.image(forKey: key.decoded(with: $0)) }?.firstFrame
    }

    private func read(
        _ key: ImageKey, _ layers: CacheLayers, _ options: DecodeOptions, priority: WorkPriority
    ) async -> CachedImage? {
        guard let entry = await disk.entry(forKey: key) else { return nil }
        let memoryKey = key.decoded(with: options)
        // Somebody else may have loaded or decoded it meanwhile.
        if layers.contains(.memory), memory.contains(memoryKey), let image = memory.image(forKey: memoryKey) {
            return CachedImage(image: image, data: entry.data, source: .memory)
        }
        do throws(ImageError) {
            let options = options.completed(fileName: key.name, mimeType: entry.mimeType)
            let image = try await processing.decode(
                limits: DecodeLimits(), pool: .shared, budget: .shared, priority: priority
            ) { [coder] context throws(ImageError) in
                try coder.decode(entry.data, options: options, context: context)
            }
            if layers.contains(.memory) { memory.store(image, forKey: memoryKey) }
            return CachedImage(image: image, data: entry.data, source: .disk)
        } catch {
            if [.corruptImage, .truncatedImage, .unknownFormat, .emptyBody].contains(error.code) {
                _ = try? await disk.remove(key)
            }
            return nil
        }
    }

    /// Keeps an image, its encoded bytes, or both.
    ///
    /// In memory the image is kept at once, before anything is encoded. The disk keeps the bytes; without them the
    /// image is encoded as ``storageFormat(for:)`` says.
    /// - Throws: ``ImageError/Code/encodeFailed``, ``ImageError/Code/formatNotEncodable``, or what the disk cache
    ///   throws. The image is in memory even then.
    public func store(
        _ image: Image?, data: Data? = nil, forKey key: ImageKey, in layers: CacheLayers = .all,
        options: EncodeOptions = EncodeOptions()
    ) async throws(ImageError) {
        if layers.contains(.memory), let image { memory.store(image, forKey: key) }
        guard layers.contains(.disk), hasDisk else { return }
        let format: ImageFormat?
        let bytes: Data
        if let data {
            (bytes, format) = (data, ImageFormat(sniffing: data))
        } else if let image {
            let target = storageFormat(for: image)
            bytes = try await processing.perform { [coder] isCancelled throws(ImageError) in
                try coder.encode(
                    image, as: target, options: options, context: EncodeContext(isCancelled: isCancelled))
            }
            format = target
        } else {
            return
        }
        let entry = DiskCacheEntry(data: bytes, created: Date(), mimeType: format?.mimeType)
        try await disk.store(entry, forKey: key)
    }

    /// The format that an image is encoded in: its own; where that is not known or cannot be written, GIF if it moves,
    /// PNG if it may be transparent, else JPEG.
    public func storageFormat(for image: Image) -> ImageFormat {
        let writable = coder.encodableFormats
        if let format = image.format, writable.contains(format) { return format }
        if image.isAnimated {
            return [.gif, .webp, .png].first { writable.contains($0) } ?? .gif
        }
        return image.hasAlpha ? .png : .jpeg
    }
}
