package import FoundationEssentials

extension DiskCache {
    /// An entry without its image, as tools list it.
    package struct Listing: Equatable, Sendable {
        /// The key. Without ``Configuration/keepsCompleteURLs``, its source lacks user info and query values of the URL.
        package let key: ImageKey
        /// The properties of the entry, without its bytes.
        package let entry: DiskCacheEntry
        /// The bytes of the image.
        package let bytes: Int
        /// The space that the file takes on the disk, in whole blocks.
        package let fileBytes: Int
        /// The time of the last use, to within an eighth of the age of eviction.
        package let accessed: Date
        /// The codec that the bytes went through (``PayloadCodec/identifier``), if any.
        package let codec: String?
    }

    /// The numbers of the folders that entries are in.
    package static let folders = 0..<EntryName.folders

    /// Returns the entries of a folder, in the order of their files' names. Entries that are stored meanwhile may be left out.
    package func entries(inFolder folder: Int) async -> [Listing] {
        (try? await perform(on: upkeep) { store in store.listings(inFolder: folder) }) ?? []
    }

    /// Returns the entries of a source, its original and its variants.
    package func entries(ofSource source: String) async -> [Listing] {
        (try? await inOrder(EntryName(source: source)) { store in store.listings(ofSource: source) }) ?? []
    }

    public func variants(ofSource source: String) async -> [ImageVariant] {
        let listed =
            (try? await perform(on: reads) { store in store.listings(ofSource: source).map(\.key.variant) }) ?? []
        return listed + order.variants(ofSource: source).filter { !listed.contains($0) }
    }

    /// Returns the path of an image's file, for programs that need a file; `nil` if there is no valid entry under the key.
    ///
    /// The file starts with the image as it was stored, unless a ``Configuration/payloadCodec`` changed it. The cache's own data follows.
    /// Viewers ignore that data, but XML parsers refuse the file of an SVG: write the ``DiskCacheEntry/data`` of its entry to another file
    /// instead.
    ///
    /// The file belongs to the cache: only read it, and expect it to be removed with the entry. Waits until all earlier stores are on disk.
    /// Doesn't count as a use.
    /// - Parameter key: the key.
    public func path(forKey key: ImageKey) async -> String? {
        try? await inOrder(EntryName(key)) { store in
            store.validName(forKey: key).map { "\(store.path)/\($0.path)" }
        }
    }

    /// Reads every entry, and discards damaged entries.
    /// - Returns: the entries that were read, and the keys of those that were damaged.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` if the directory can't be read.
    package func verify() async throws(ImageError) -> (checked: CacheUsage, damaged: [ImageKey]) {
        await drain()
        var (checked, damaged) = (CacheUsage(), [ImageKey]())
        guard try await perform(on: upkeep, { store throws(ImageError) in try store.directoryForRemoving() }) != nil
        else { return (checked, damaged) }
        for folder in 0..<EntryName.folders {
            let (read, stale) = try await perform(on: upkeep) { store in store.verify(folder: folder) }
            checked += read
            for (file, key) in stale {
                damaged.append(key)
                removeLater(file)
            }
        }
        await drain()
        return (checked, damaged)
    }
}

extension DiskStore {
    func listings(ofSource source: String) -> [DiskCache.Listing] {
        listings(inFolder: EntryName(source: source).folder, ofSource: source)
    }

    /// - Parameter source: the source whose entries are listed; `nil` for those of all sources.
    func listings(inFolder folder: Int, ofSource source: String? = nil) -> [DiskCache.Listing] {
        let (directory, hash) = (try? existingDirectory(), source.map { EntryName(source: $0).source })
        let names = ((try? directory?.names(inFolder: folder)) ?? []).filter { hash == nil || $0.source == hash }
        return names.sorted().compactMap { name in
            guard let (description, status) = directory?.description(of: name) else { return nil }
            let key = description.key
            if let source, !description.belongs(to: ImageKey(source: source, variant: key.variant)) { return nil }
            return DiskCache.Listing(
                key: key, entry: description.entry, bytes: description.payloadSize, fileBytes: status.allocatedSize,
                accessed: Date(cacheTime: status.modified), codec: description.codec)
        }
    }
}
