public import FoundationEssentials

extension DiskCache {
    /// A description of an entry, without its image.
    public struct Listing: Sendable, Hashable {
        /// The key. Without ``Configuration/keepsCompleteURLs``, its source lacks user info and query values of the URL.
        public var key: ImageKey
        /// The bytes of the image.
        public var bytes: Int
        /// The space that the file takes on the disk, in whole blocks.
        public var fileBytes: Int
        /// The time when the entry was stored.
        public var created: Date
        /// The time of the last use, to within an eighth of the age of eviction.
        public var accessed: Date
        /// The time when the entry expires; `nil` if it has no fixed end.
        public var expires: Date?
        /// The media type that the source stated, such as `image/jpeg`.
        public var mimeType: String?
        /// The values that let an HTTP server say whether the entry is still current.
        public var validators: CacheValidators?
        /// The time that the entry stays valid after a use: ``DiskCacheEntry/idleLifetime``.
        public var idleLifetime: Duration?
        /// The codec that the bytes went through (``PayloadCodec/identifier``), if any.
        public var transform: String?
        /// The position where the listing continues.
        public var cursor: String

        init(_ name: EntryName, _ status: FileStatus, _ description: EntryFile.Description) {
            key = description.key
            bytes = description.payloadSize
            fileBytes = status.allocatedSize
            created = description.entry.created
            accessed = Date(cacheTime: status.modified)
            expires = description.entry.expires
            mimeType = description.entry.mimeType
            validators = description.entry.validators
            idleLifetime = description.entry.idleLifetime
            transform = description.codec
            cursor = name.text
        }
    }

    /// Returns entries in the order of their files' names, without their images. Entries that are stored meanwhile may be left out.
    /// - Parameters:
    ///   - cursor: the ``Listing/cursor`` of the last entry that is known already; empty to start.
    ///   - limit: the largest number of entries to return.
    public func entries(after cursor: String = "", limit: Int = 1_000) async -> [Listing] {
        await drain()
        return (try? await perform(on: upkeep) { store in store.listings(after: cursor, limit: limit) }) ?? []
    }

    /// Returns the entries of a source, its original and its variants.
    /// - Parameter source: the source: the key of its original.
    public func entries(ofSource source: String) async -> [Listing] {
        await drain()
        return (try? await perform(on: reads) { store in store.listings(ofSource: source) }) ?? []
    }

    /// Returns the variants of a source that there are, the original among them.
    /// - Parameter source: the source: the key of its original.
    public func variants(ofSource source: String) async -> [ImageVariant] {
        let listed =
            (try? await perform(on: reads) { store in store.listings(ofSource: source).map(\.key.variant) }) ?? []
        return listed + order.variants(ofSource: source).filter { !listed.contains($0) }
    }

    /// Returns the path of the file of an image, for programs that take only files; `nil` if no valid entry exists under the key.
    ///
    /// The file starts with the image as it was stored, so that other programs open it, unless a
    /// ``Configuration/payloadCodec`` changed it; the data of the cache follows. The file belongs to the cache: it may only be
    /// read, and is gone when the entry is. Waits until all earlier stores are on disk. Does not count as use.
    /// - Parameter key: the key.
    public func path(forKey key: ImageKey) async -> String? {
        let path = try? await inOrder(EntryName(key)) { store -> String? in
            store.validName(forKey: key).map { "\(store.path)/\($0.path)" }
        }
        return path ?? nil
    }

    /// Reads every entry, and discards damaged entries.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` if the directory can't be read.
    public func verify() async throws(ImageError) -> CacheVerification {
        await drain()
        var report = CacheVerification()
        guard try await perform(on: upkeep, { store throws(ImageError) in try store.directoryForRemoving() }) != nil
        else { return report }
        for folder in 0..<EntryName.folders {
            let (part, stale) = try await perform(on: upkeep) { store in store.verify(folder: folder) }
            report.checked += part.checked
            report.damaged += part.damaged
            for file in stale { removeLater(file) }
        }
        await drain()
        return report
    }
}

extension DiskStore {
    func listings(after cursor: String, limit: Int) -> [DiskCache.Listing] {
        guard let directory = directoryOfEntries() else { return [] }
        var listings: [DiskCache.Listing] = []
        for folder in (EntryName(cursor)?.folder ?? 0)..<EntryName.folders where listings.count < limit {
            let names = ((try? directory.names(inFolder: folder)) ?? []).sorted { $0.text < $1.text }
            for name in names where name.text > cursor && listings.count < limit {
                guard let (description, status) = directory.description(of: name) else { continue }
                listings.append(DiskCache.Listing(name, status, description))
            }
        }
        return listings
    }

    func listings(ofSource source: String) -> [DiskCache.Listing] {
        guard let directory = directoryOfEntries(), let names = try? names(ofSource: source, in: directory)
        else { return [] }
        let listings = names.compactMap { name -> DiskCache.Listing? in
            guard let (description, status) = directory.description(of: name),
                description.belongs(to: ImageKey(source: source, variant: description.key.variant))
            else { return nil }
            return DiskCache.Listing(name, status, description)
        }
        return listings.sorted { $0.cursor < $1.cursor }
    }
}

/// The result of a check of a whole cache.
public struct CacheVerification: Sendable, Hashable {
    /// The entries that were read.
    public var checked = CacheUsage()
    /// The keys of the entries that were damaged, and are discarded.
    public var damaged: [ImageKey] = []

    /// Creates a report of no entries.
    public init() {}
}
