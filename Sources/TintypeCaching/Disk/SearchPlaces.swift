internal import FoundationEssentials
internal import Glibc

/// The places to look for entries that a cache doesn't have, such as images that are shipped with a program.
///
/// Their files are only read, never written, renewed, or removed.
struct SearchPlaces {
    fileprivate var directories: [SearchDirectory] = []
    fileprivate var file: (@Sendable (ImageKey) -> String?)?

    var isEmpty: Bool { directories.isEmpty && file == nil }
}

/// The directory of another disk cache, which stays open once a lookup has found it. Only threads that read files wait for it.
private final class SearchDirectory: Sendable {
    let path: String
    private let opened = Lock<OpenDirectory?>(nil)

    init(_ path: String) { self.path = path }

    func open(_ faults: FileFaults?) throws(FileError) -> OpenDirectory {
        try opened.withLock { opened throws(FileError) in
            if let opened { return opened }
            let directory = try OpenDirectory.open(path, faults: faults)
            opened = directory
            return directory
        }
    }
}

extension DiskCache {
    /// The directories of other disk caches, such as a cache inside a container image. The cache reads them in order for entries that it
    /// doesn't have.
    ///
    /// Their files are only read. ``contains(_:)`` and removals ignore them. Entries of any age are found, unless they have expired by
    /// ``DiskCacheEntry/expires`` or ``DiskCacheEntry/idleLifetime``. Entries must have been written with this cache's
    /// ``Configuration/payloadCodec``, or without a codec if it has none. May change at any time. Set it again after a directory was
    /// replaced.
    public var searchPaths: [String] {
        get { store.searchPlaces.withLock { $0.directories.map(\.path) } }
        set {
            let old = store.searchPlaces.withLock { places in
                defer { places.directories = newValue.map { SearchDirectory($0) } }
                return places.directories
            }
            // Closed outside of the lock.
            _ = old
        }
    }

    /// A closure that returns the path of a key's image, or `nil` for none. It is called for keys that neither the cache nor
    /// ``searchPaths`` have.
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
        for directory in places.directories {
            let entry = search { () throws(FileError) in
                let directory = try directory.open(faults)
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
