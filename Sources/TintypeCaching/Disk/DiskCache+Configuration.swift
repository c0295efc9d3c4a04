internal import FoundationEssentials
internal import Glibc

extension DiskCache {
    /// The directory and the limits of a disk cache. The limits hold after every store, not only after sweeps.
    public struct Configuration: Sendable {
        /// The path of the directory. The directory and its missing parents are created when the first entry is stored, readable only by
        /// the user. A relative path starts at the working directory when the cache is created. The path isn't a URL, and `~` isn't
        /// expanded.
        ///
        /// The directory must belong to the user, and other users must not be able to write to it; otherwise the cache only reads it.
        public var directory: String
        /// The disk space that files may take, in whole blocks of 4 KB; 1 GB by default.
        ///
        /// A single process never exceeds it after a store. Several processes that store at the same time may exceed it by a few percent.
        public var capacity: ByteCount
        /// The maximum age of an entry, 7 days by default; `nil` for any age, and zero for entries that every sweep removes.
        public var maximumAge: Duration?
        /// The event that starts the age of an entry; the last access by default.
        public var expiry: Expiry
        /// The largest number of entries; `nil` for any number, 0 or less for none.
        public var maximumCount: Int?
        /// The space to leave free on the volume, 100 MB by default. The cache evicts older entries for it, and stores nothing if that
        /// isn't enough.
        public var minimumFreeSpace: ByteCount
        /// The transformation of encoded images on their way to the disk and back, such as encryption; `nil`, the default, for none.
        /// A change has no effect on an existing cache.
        public var payloadCodec: PayloadCodec?
        /// True, the default, to write a `CACHEDIR.TAG` file to the directory (Cache Directory Tagging Specification), so that borg,
        /// restic, `tar --exclude-caches`, and others exclude it from backups; false removes an existing tag. It takes effect at the first
        /// store.
        public var isExcludedFromBackup = true

        /// True to store user info and query values of URLs in the files, which may be credentials. The default is false.
        ///
        /// Entries are found either way, by a digest of the whole URL. Only listings show less.
        public var keepsCompleteURLs = false

        /// The event that starts the age of an entry.
        public enum Expiry: String, Sendable, Hashable, CaseIterable {
            /// When the entry was last read or written.
            case byAccess
            /// When the entry was written.
            case byModification
            /// The ``DiskCacheEntry/created`` date of the entry: for a loaded image, the end of its load or of its last revalidation.
            case byCreation
        }

        /// Creates a configuration. Each parameter sets the property of the same name. The default directory is ``defaultDirectory``.
        public init(
            directory: String? = nil, capacity: ByteCount = .gigabytes(1), maximumAge: Duration? = .days(7),
            expiry: Expiry = .byAccess, maximumCount: Int? = nil, minimumFreeSpace: ByteCount = .megabytes(100),
            payloadCodec: PayloadCodec? = nil
        ) {
            self.directory = directory ?? Self.defaultDirectory
            (self.capacity, self.minimumFreeSpace, self.maximumCount) = (capacity, minimumFreeSpace, maximumCount)
            (self.maximumAge, self.expiry, self.payloadCodec) = (maximumAge, expiry, payloadCodec)
        }

        /// - Throws: ``ImageError/Code/cacheUnavailable`` if nothing could ever be kept like this.
        func validate() throws(ImageError) {
            guard directory.isEmpty || directory.utf8.contains(0) else { return }
            throw ImageError(
                .cacheUnavailable, stage: .cache, source: directory,
                reason: directory.isEmpty
                    ? "the path of the cache is empty; without a home directory, set HOME or XDG_CACHE_HOME"
                    : "the path of the cache contains a NUL character")
        }

        /// `$XDG_CACHE_HOME/PROGRAM/tintype`, or `~/.cache/PROGRAM/tintype`, where `PROGRAM` is the name of the running program (XDG Base
        /// Directory Specification 0.8). Each program has its own, so that it can clear its cache without affecting others.
        ///
        /// Empty for a user without a home directory, because a predictable name in a directory that all users share wouldn't be safe. A
        /// cache with an empty path stores nothing, and its errors say why.
        public static var defaultDirectory: String {
            directory(
                of: ProcessInfo.processInfo.processName, environment: { getenv($0).map { String(cString: $0) } },
                home: homeDirectory)
        }

        static func directory(
            of program: String, environment: (String) -> String?, home: () -> String? = { nil }
        ) -> String {
            let name = program.split(separator: "/").last.map(String.init) ?? ""
            let path = ["", ".", ".."].contains(name) ? "tintype" : "\(name)/tintype"
            // The specification says that a relative path is to be ignored.
            if let caches = environment("XDG_CACHE_HOME"), caches.hasPrefix("/") { return "\(caches)/\(path)" }
            if let home = environment("HOME") ?? home(), home.hasPrefix("/") { return "\(home)/.cache/\(path)" }
            return ""
        }

        /// The home directory in the user database, for services that run without an environment.
        private static func homeDirectory() -> String? {
            var (entry, result) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            var buffer = [CChar](repeating: 0, count: 16_384)
            guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &result) == 0, result != nil,
                let home = entry.pw_dir
            else { return nil }
            return String(cString: home)
        }
    }
}

extension DiskCache.Configuration {
    /// The configuration with a directory that stays the same when the program changes its working directory, and has no slashes at its end.
    var withAbsoluteDirectory: Self {
        guard !directory.isEmpty, let base = directory.hasPrefix("/") ? "" : Self.workingDirectory else { return self }
        var configuration = self
        configuration.directory = "/" + "\(base)/\(directory)".split(separator: "/").joined(separator: "/")
        return configuration
    }

    /// `nil` if its path isn't UTF-8: the directory stays relative, because the string would name another directory.
    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(validatingCString: path)
    }
}
