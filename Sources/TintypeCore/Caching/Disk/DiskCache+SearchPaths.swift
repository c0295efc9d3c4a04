internal import FoundationEssentials

extension DiskCache {
    /// Where files are looked for that the cache does not have, such as images that are shipped with a program.
    ///
    /// They are read, and nothing else: they are never written or removed, ``DiskCache/contains(_:)`` does not look at
    /// them, and what is found there is not copied into the cache.
    public struct SearchPath: Sendable {
        let paths: @Sendable (ImageKey) -> [String]
        /// Whether files have the attributes that SDWebImage gives its files.
        let hasAttributes: Bool

        /// A directory whose files are named as SDWebImage names them, with or without an extension
        /// (``SDWebImageName``). It holds originals only.
        public static func directory(_ path: String) -> SearchPath {
            SearchPath(
                paths: { key in
                    guard key.variant.isOriginal, !path.isEmpty else { return [] }
                    let (name, legacy) = (
                        SDWebImageName.fileName(forKey: key.source), SDWebImageName.legacyFileName(forKey: key.source)
                    )
                    return name == legacy ? ["\(path)/\(name)"] : ["\(path)/\(name)", "\(path)/\(legacy)"]
                }, hasAttributes: true)
        }

        /// The path of a key's file, as the program knows it; `nil` if there is none.
        public static func files(_ path: @escaping @Sendable (ImageKey) -> String?) -> SearchPath {
            SearchPath(paths: { key in path(key).map { [$0] } ?? [] }, hasAttributes: false)
        }
    }

    /// Where to look for what the cache does not have, first to last. May change at any time.
    public var searchPaths: [SearchPath] {
        get { store.searchPaths.withLock { $0 } }
        set { store.searchPaths.withLock { $0 = newValue } }
    }
}

extension DiskStore {
    /// What a file of the search paths has for a key. Files that are larger than the cache may be are not read.
    func searchedEntry(forKey key: ImageKey) -> DiskCacheEntry? {
        let limit = limits.withLock { $0.capacity.bytes }
        for place in searchPaths.withLock({ $0 }) {
            for path in place.paths(key) {
                if let entry = foreignEntry(path, limit: limit, hasAttributes: place.hasAttributes) { return entry }
            }
        }
        return nil
    }

    /// The entry that somebody else's file makes; `nil` if there is none of that name, it is empty, too large, or cannot
    /// be read.
    func foreignEntry(_ path: String, limit: Int, hasAttributes: Bool) -> DiskCacheEntry? {
        do throws(FileError) {
            guard let file = try files.foreignFile(path, limit: limit), !file.data.isEmpty else { return nil }
            return DiskCacheEntry(
                data: file.data, created: Date(timeIntervalSince1970: Double(file.modified)),
                mimeType: ImageFormat(sniffing: file.data)?.mimeType,
                extendedData: hasAttributes ? file.extendedData : nil)
        } catch {
            if !error.isMissing, error.code != FileError.notDirectory {
                note("\(error)", cause: "search \(error.operation) \(error.code)")
            }
            return nil
        }
    }
}
