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
        public var created: Date
        public var accessed: Date
        public var expires: Date?
        public var mimeType: String?
        public var validators: CacheValidators?
        /// See ``DiskCacheEntry/idleLifetime``.
        public var idleLifetime: Duration?
        /// The codec that the bytes went through (``PayloadCodec/identifier``), if any.
        public var transform: String?
        /// The position after which the listing goes on.
        public var cursor: Int64

        init(_ row: DiskIndex.Row, _ description: EntryFile.Description) {
            key = description.key
            bytes = description.payloadSize
            fileBytes = row.size
            created = description.entry.created
            accessed = Date(cacheTime: row.accessed)
            expires = description.entry.expires
            mimeType = description.entry.mimeType
            validators = description.entry.validators
            idleLifetime = description.entry.idleLifetime
            transform = description.codec
            cursor = row.id
        }
    }

    /// Returns entries in the order in which they were stored, without their images.
    /// - Parameters:
    ///   - cursor: the ``Listing/cursor`` of the last entry that is known already; 0 to begin.
    ///   - limit: the largest number of entries to return.
    public func entries(after cursor: Int64 = 0, limit: Int = 1_000) async -> [Listing] {
        await settle()
        return (try? await perform { store in store.listings(after: cursor, limit: limit) }) ?? []
    }

    /// Returns the entries of one source, its original and its variants.
    public func entries(ofSource source: String) async -> [Listing] {
        await settle()
        return (try? await perform { store in store.listings(ofSource: source) }) ?? []
    }

    /// Returns the variants of a source that there are, the original among them.
    public func variants(ofSource source: String) async -> [ImageVariant] {
        let listed = await read { store in store.reader.variants(ofSource: source) } ?? []
        return listed + order.variants(ofSource: source).filter { !listed.contains($0) }
    }

    /// Returns the path of the file of an image, for programs that take only files; `nil` if there is no valid entry under the key.
    ///
    /// The file begins with the image as it was stored, so that other programs open it, unless a
    /// ``Configuration/payloadCodec`` changed it; the data of the cache follows. The file belongs to the cache: it may only be
    /// read, and is gone when the entry is. Waits until what was stored before is on disk. Does not count as use.
    public func path(forKey key: ImageKey) async -> String? {
        let path = try? await inOrder(EntryName(key)) { store -> String? in
            store.reader.validName(forKey: key).map { "\(store.context.path)/\($0.path)" }
        }
        return path ?? nil
    }

    /// Reads every entry, discards the damaged ones, and makes the index agree with the files.
    public func verify() async throws(ImageError) -> CacheVerification {
        _ = try await perform { store throws(ImageError) in try store.settle() }
        var report = CacheVerification()
        for folder in 0..<EntryName.folders {
            let part = try await perform { store in store.reader.verify(folder: folder) }
            report.checked.entries += part.checked.entries
            report.checked.bytes += part.checked.bytes
            report.damaged += part.damaged
            if !part.damaged.isEmpty { await performDiscards() }
        }
        store.keeper.needsComparison = true
        _ = try await perform { store throws(ImageError) in try store.settle() }
        return report
    }
}

extension DiskStore {
    func listings(after cursor: Int64, limit: Int) -> [DiskCache.Listing] {
        guard let directory = context.openDirectory() else { return [] }
        var (listings, start) = ([DiskCache.Listing](), cursor)
        // Rows whose files are gone are skipped, but don't end the listing.
        while listings.count < limit {
            let (after, count) = (start, min(1_000, limit - listings.count))
            let rows = keeper.query { index throws(SQLiteError) in try index.rows(after: after, limit: count) } ?? []
            guard let last = rows.last else { break }
            start = last.id
            for row in rows {
                guard let (description, _) = (try? directory.description(of: row.name.path)) ?? nil else { continue }
                listings.append(DiskCache.Listing(row, description))
            }
        }
        return listings
    }

    func listings(ofSource source: String) -> [DiskCache.Listing] {
        guard let directory = context.openDirectory() else { return [] }
        return reader.descriptions(ofSource: source).compactMap { name, description in
            let known = keeper.query { index throws(SQLiteError) in try index.row(name) }
            if case .some(.some(let row)) = known { return DiskCache.Listing(row, description) }
            let look = PendingWrites.Change().look(at: name, in: directory, now: context.time)
            guard case .present(let row) = look else { return nil }
            return DiskCache.Listing(row, description)
        }.sorted { $0.cursor < $1.cursor }
    }
}

/// The result of a check of a whole cache.
public struct CacheVerification: Sendable, Hashable {
    /// The entries that were read.
    public var checked = CacheUsage()
    /// The keys of the entries that were damaged, and are discarded.
    public var damaged: [ImageKey] = []

    public init() {}
}
