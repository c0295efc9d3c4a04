internal import FoundationEssentials

extension DiskCache {
    /// A place to look for files that the cache doesn't have, such as images that are shipped with a program.
    ///
    /// The files are only read, never written or removed. ``DiskCache/contains(_:)`` and removals ignore them.
    public struct SearchPath: Sendable {
        let paths: @Sendable (ImageKey) -> [String]
        /// True if files have the attributes that SDWebImage gives its files.
        let hasAttributes: Bool
        /// True to copy found images into the cache.
        var adopts = false

        /// A directory whose files are named as SDWebImage names them, with or without an extension
        /// (``SDWebImageName``). It holds originals only.
        /// - Parameters:
        ///   - path: the path of the directory.
        ///   - adopts: true to copy an image into the cache when it is read, so that the directory can be removed one day.
        public static func directory(_ path: String, adopts: Bool = false) -> SearchPath {
            SearchPath(
                paths: { key in
                    guard key.variant.isOriginal, !path.isEmpty else { return [] }
                    let (name, legacy) = (
                        SDWebImageName.fileName(forKey: key.source), SDWebImageName.legacyFileName(forKey: key.source)
                    )
                    return name == legacy ? ["\(path)/\(name)"] : ["\(path)/\(name)", "\(path)/\(legacy)"]
                }, hasAttributes: true, adopts: adopts)
        }

        /// The path of a key's file, as the program knows it; `nil` if there is none.
        public static func files(_ path: @escaping @Sendable (ImageKey) -> String?) -> SearchPath {
            SearchPath(paths: { key in path(key).map { [$0] } ?? [] }, hasAttributes: false)
        }
    }

    /// The places to look for entries that the cache doesn't have, first to last. They may change at any time.
    public var searchPaths: [SearchPath] {
        get { store.reader.searchPaths.withLock { $0 } }
        set { store.reader.searchPaths.withLock { $0 = newValue } }
    }
}

extension EntryReader {
    /// Reads the file that the search paths have for a key. Files that are larger than the cache may be are not read.
    func searchedEntry(forKey key: ImageKey) -> (entry: DiskCacheEntry, isAdopted: Bool)? {
        let limit = context.limits.withLock { $0.capacity.bytes }
        for place in searchPaths.withLock({ $0 }) {
            for path in place.paths(key) {
                if let entry = foreignEntry(path, limit: limit, hasAttributes: place.hasAttributes) {
                    return (entry, place.adopts)
                }
            }
        }
        return nil
    }

    /// Makes an entry of another program's file; `nil` if there is none of that name, it is empty, too large, or can't be read.
    func foreignEntry(_ path: String, limit: Int, hasAttributes: Bool) -> DiskCacheEntry? {
        do throws(FileError) {
            guard let file = try ForeignFile.read(path, limit: limit), !file.data.isEmpty else { return nil }
            return DiskCacheEntry(
                data: file.data, created: Date(timeIntervalSince1970: Double(file.modified)),
                mimeType: ImageFormat(sniffing: file.data)?.mimeType,
                extendedData: hasAttributes ? file.extendedData : nil)
        } catch {
            if !error.isMissing, error.code != FileError.notDirectory {
                context.note("\(error)", cause: "search \(error.operation) \(error.code)")
            }
            return nil
        }
    }
}
