internal import Glibc

/// A call to the system that failed.
struct FileError: Error, Sendable, CustomStringConvertible {
    /// The operation, such as `write`.
    var operation: String
    /// The path, relative to the ``OpenDirectory`` if it is inside.
    var path: String
    var code: Int32

    /// True if the file is missing. Only this error means that.
    var isMissing: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// True if the volume, or the user's quota on it, is full.
    var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
    /// True if a part of the path is a file, where a folder should be.
    var isNotADirectory: Bool { code == ENOTDIR }

    /// The part that all errors of the same kind share, so that the log names each kind once.
    var cause: String { code == ENOTDIR ? "not a directory" : "\(operation) \(code)" }

    /// A sentence, such as `cannot write /tmp/x: No space left on device`.
    var description: String { "cannot \(operation) \(path): \(message)" }

    var message: String { Self.message(code) }

    /// The system's words. glibc's `strerror` gives each thread a text of its own.
    static func message(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}

/// The properties of a file that the system knows without opening it.
struct FileStatus: Sendable, Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int
    /// The time of the last change, in microseconds since 1970.
    var modified: Int64
    var isDirectory: Bool
    var isRegular: Bool
    var owner: UInt32

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        // Some file systems keep any number, which may come from a clock or a backup that was wrong.
        let seconds = min(max(Int64(status.st_mtim.tv_sec), -9_000_000_000_000), 9_000_000_000_000)
        modified = seconds * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1_000
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        owner = status.st_uid
    }

    /// The space that the file takes on the disk: its size in whole blocks of 4 KB.
    ///
    /// The system's own number is of no use for a file that was just written: some file systems don't know it yet. The size that a damaged
    /// or sparse file claims is bounded, so that no total overflows.
    var allocatedSize: Int { Self.allocatedSize(size) }

    static func allocatedSize(_ size: Int) -> Int { max(1, (min(max(0, size), 1 << 44) + 4_095) / 4_096) * 4_096 }

    /// True if the contents are certainly the same.
    func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}
