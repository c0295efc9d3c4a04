internal import FoundationEssentials
internal import Glibc

extension DiskCache {
    /// A place to look for images that the cache doesn't have, such as images that are shipped with a program.
    ///
    /// The files are only read, never written, renewed, or removed. ``DiskCache/contains(_:)`` and removals ignore them.
    public struct SearchPath: Sendable {
        /// Finds the entry of a key whose file has at most `limit` bytes.
        let entry: @Sendable (_ key: ImageKey, _ limit: Int) throws(FileError) -> DiskCacheEntry?

        /// The directory of another disk cache, such as a cache inside a container image.
        /// - Parameter path: the path of the directory.
        public static func directory(_ path: String) -> SearchPath {
            let directory = Lock<OpenDirectory?>(nil)
            return SearchPath { key, limit throws(FileError) in
                let known = directory.withLock { $0 }
                let open: OpenDirectory
                if let known { open = known } else { open = try OpenDirectory.open(path, faults: nil) }
                directory.withLock { $0 = open }
                guard let (data, status, contents) = try open.read(EntryName(key), for: key), status.size <= limit,
                    case .entry(let description) = contents, description.codec == nil
                else { return nil }
                var entry = description.entry
                entry.data = data.prefix(description.payloadSize)
                return entry
            }
        }

        /// The path of a key's file, as the program knows it; `nil` if there is none.
        /// - Parameter path: a closure that returns the path; `nil` if there is none.
        public static func files(_ path: @escaping @Sendable (ImageKey) -> String?) -> SearchPath {
            SearchPath { key, limit throws(FileError) in
                guard let path = path(key) else { return nil }
                // Through links, and without waiting for a FIFO.
                let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard file >= 0 else { throw FileError("open", path) }
                defer { Glibc.close(file) }
                guard let status = FileStatus(of: file) else { throw FileError("read", path) }
                guard status.isRegular, (1...max(1, limit)).contains(status.size) else { return nil }
                guard let data = OpenFile.contents(of: file, count: status.size) else { throw FileError("read", path) }
                return DiskCacheEntry(
                    data: data, created: Date(cacheTime: status.modified),
                    mimeType: ImageFormat(sniffing: data)?.mimeType)
            }
        }
    }

    /// The places to look for entries that the cache doesn't have, first to last. They may change at any time.
    public var searchPaths: [SearchPath] {
        get { store.searchPaths.withLock { $0 } }
        set { store.searchPaths.withLock { $0 = newValue } }
    }
}

extension DiskStore {
    /// Reads the entry that the search paths have for a key. Files that are larger than the cache may be are not read.
    func searchedEntry(forKey key: ImageKey) -> DiskCacheEntry? {
        let limit = limits.withLock { $0.capacity.bytes }
        for place in searchPaths.withLock({ $0 }) {
            do throws(FileError) {
                if let entry = try place.entry(key, limit) { return entry }
            } catch {
                if !error.isMissing, !error.isNotADirectory {
                    note("\(error)", cause: "search \(error.operation) \(error.code)")
                }
            }
        }
        return nil
    }
}
