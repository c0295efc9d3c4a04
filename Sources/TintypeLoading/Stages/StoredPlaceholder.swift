public import FoundationEssentials

/// The placeholder in a cache entry. It is a field beside those of ``StoredImageProperties``; entries of originals have no others.
struct StoredPlaceholder: Codable {
    var thumbHash: Data?

    /// The placeholder of an entry; `nil` if it has none.
    static func of(_ entry: DiskCacheEntry) -> ThumbHash? {
        guard let properties = entry.imageProperties,
            let stored = try? JSONDecoder().decode(Self.self, from: properties), let bytes = stored.thumbHash
        else { return nil }
        return try? ThumbHash(bytes: bytes)
    }
}

extension LoadEnvironment {
    /// Makes the placeholder of an image that is being stored, if the configuration asks for one.
    func placeholder(of image: Image) async -> StoredPlaceholder? {
        guard configuration.storesPlaceholders else { return nil }
        // An image without a placeholder is stored nevertheless.
        let hash = try? await configuration.processing.perform(priority: WorkPriority(.low)) {
            _ throws(ImageError) in try ThumbHash(image)
        }
        return hash.map { StoredPlaceholder(thumbHash: $0.bytes) }
    }
}

extension ImageManager {
    /// Returns the placeholder that the disk cache has for an image, without decoding the image; `nil` if there is none.
    ///
    /// Placeholders are stored with images while ``Configuration-swift.struct/storesPlaceholders`` is true. That of a stored thumbnail or
    /// transformed image comes before that of the original.
    public func placeholder(for request: ImageRequest) async -> ThumbHash? {
        let (request, environment) = prepared(request)
        let key = environment.key(for: request)
        if !key.variant.isOriginal, let entry = await environment.cache.entry(forKey: key),
            let hash = StoredPlaceholder.of(entry)
        {
            return hash
        }
        return await environment.originals.entry(forKey: key.original).flatMap { StoredPlaceholder.of($0) }
    }

    /// Returns the placeholder that the disk cache has for the image at a URL. See ``placeholder(for:)-(ImageRequest)``.
    public func placeholder(for url: URL) async -> ThumbHash? { await placeholder(for: ImageRequest(url)) }
}
