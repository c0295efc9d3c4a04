internal import Glibc

/// The properties of a file that the system knows without opening it.
struct FileStatus: Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    /// The time of the last change, in microseconds since 1970.
    let modified: Int64
    let owner: UInt32
    let mode: UInt32
    let links: UInt64

    init(_ status: stat) {
        (device, inode, links) = (UInt64(status.st_dev), UInt64(status.st_ino), UInt64(status.st_nlink))
        (size, owner, mode) = (Int(status.st_size), status.st_uid, status.st_mode)
        // Some file systems keep any number, which may come from a clock or a backup that was wrong.
        let seconds = min(max(Int64(status.st_mtim.tv_sec), -9_000_000_000_000), 9_000_000_000_000)
        modified = seconds * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1_000
    }

    /// The status of an open file; `nil` with `errno`.
    init?(of file: Int32) {
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of a file in a folder, or of a link itself; `nil` with `errno`.
    init?(of path: UnsafePointer<CChar>, in folder: Int32) {
        var status = stat()
        guard fstatat(folder, path, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return nil }
        self.init(status)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }

    /// The space that the file takes on the disk: its size in whole blocks of 4 KB.
    ///
    /// The system's own number is of no use for a file that was just written: some file systems don't know it yet. The size that a damaged
    /// or sparse file claims is bounded, so that no total overflows.
    var allocatedSize: Int { Self.allocatedSize(size) }

    static func allocatedSize(_ size: Int) -> Int { max(1, (min(max(0, size), 1 << 44) + 4_095) / 4_096) * 4_096 }

    func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}

/// A call to the system that failed.
struct FileError: Error, Sendable, CustomStringConvertible {
    let operation: String
    /// The path, relative to the ``OpenDirectory`` if it is inside.
    let path: String
    let code: Int32

    /// - Parameter code: the number of the error; without it, the error of the last system call.
    init(_ operation: String, _ path: String, _ code: Int32 = errno) {
        (self.operation, self.path, self.code) = (operation, path, code)
    }

    /// Refuses a path of the program with a NUL, which the system would cut there, and open another file.
    static func check(_ path: String) throws(FileError) {
        if path.utf8.contains(0) { throw FileError("open", path, EINVAL) }
    }

    /// True if there is no such file. Only this error means that.
    var isMissing: Bool { code == ENOENT }
    /// True if the volume, or what the user may have of it, is full.
    var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
    /// The kind of the error: the log names each kind once.
    var cause: String { code == ENOTDIR ? "not a directory" : "\(operation) \(code)" }

    /// A sentence, such as `cannot write /tmp/x: No space left on device`.
    var description: String { "cannot \(operation) \(path): \(message)" }

    /// The system's words. glibc's `strerror` gives each thread a text of its own.
    var message: String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}
