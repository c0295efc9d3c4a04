internal import FoundationEssentials
internal import Glibc

/// The places to look for entries that a cache doesn't have, such as images that are shipped with a program.
///
/// Their files are only read, never written, renewed, or removed.
struct SearchPlaces {
    /// The directories of other disk caches.
    var paths: [String] = []
    var file: (@Sendable (ImageKey) -> String?)?
    /// The directories that were opened.
    fileprivate var directories: [String: OpenDirectory] = [:]

    var isEmpty: Bool { paths.isEmpty && file == nil }
}

extension DiskCache {
    /// The directories of other disk caches, such as a cache inside a container image, which are read for entries that the cache doesn't
    /// have, first to last.
    ///
    /// Their files are only read. ``contains(_:)`` and removals ignore them. Entries of any age are found, unless they have expired by
    /// ``DiskCacheEntry/expires`` or ``DiskCacheEntry/idleLifetime``. Entries must have been written with this cache's
    /// ``Configuration/payloadCodec``, or without a codec if it has none. May change at any time; set it again when a directory was replaced
    /// by another.
    public var searchPaths: [String] {
        get { store.searchPlaces.withLock { $0.paths } }
        set { store.searchPlaces.withLock { ($0.paths, $0.directories) = (newValue, [:]) } }
    }

    /// A closure that returns the path of a key's image, for keys that neither the cache nor ``searchPaths`` have; `nil` if there is none.
    ///
    /// It runs on a thread that reads files.
    public var searchFile: (@Sendable (ImageKey) -> String?)? {
        get { store.searchPlaces.withLock { $0.file } }
        set { store.searchPlaces.withLock { $0.file = newValue } }
    }
}

extension DiskStore {
    /// Reads the entry that the search places have for a key. Files that are larger than the cache may be are not read.
    func searchedEntry(forKey key: ImageKey) -> DiskCacheEntry? {
        let (limit, places) = (limits.withLock { $0.capacity.bytes }, searchPlaces.withLock { $0 })
        func search(_ body: () throws(FileError) -> DiskCacheEntry?) -> DiskCacheEntry? {
            do throws(FileError) {
                return try body()
            } catch {
                if !error.isMissing, error.code != ENOTDIR { note("\(error)", cause: "search \(error.code)") }
                return nil
            }
        }
        for path in places.paths {
            let entry = search { () throws(FileError) in
                let directory = try searchPlaces.withLock { current throws(FileError) in
                    if let known = current.directories[path] { return known }
                    let opened = try OpenDirectory.open(path)
                    if current.paths.contains(path) { current.directories[path] = opened }
                    return opened
                }
                let name = EntryName(key)
                // Shipped entries may be of any age.
                guard let file = try directory.read(name, for: key), file.status.size <= limit,
                    case .found(let entry) = lookUp(name, in: file, Aging(self, endsOnly: true))
                else { return nil }
                return entry
            }
            if let entry { return entry }
        }
        guard let path = places.file?(key) else { return nil }
        return search { () throws(FileError) in
            try FileError.check(path)
            // Through links, and without waiting for a FIFO.
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { throw FileError("open", path) }
            defer { Glibc.close(file) }
            guard let status = FileStatus(of: file) else { throw FileError("read", path) }
            guard status.isRegular, (1...max(1, limit)).contains(status.size) else { return nil }
            guard let data = OpenDirectory.contents(of: file, count: status.size) else { throw FileError("read", path) }
            return DiskCacheEntry(
                data: data, created: Date(cacheTime: status.modified), mimeType: ImageFormat(sniffing: data)?.mimeType)
        }
    }
}
