internal import FoundationEssentials
internal import Glibc

/// What a disk cache does with files. Tests put failing ones in its place.
protocol CacheFileSystem: Sendable {
    /// Writes a file that must not be there yet. What was written of it is gone if it fails.
    func create(_ path: String, parts: [Data]) throws(FileError)
    /// Reads the first `count` bytes of a file.
    /// - Throws: ``FileError`` with `EIO` if the file's size is not `fileSize`.
    func read(_ path: String, count: Int, fileSize: Int) throws(FileError) -> Data
    /// Reads a whole file.
    /// - Parameter limit: the largest file to read without waiting; `nil` to read any, and to wait for the disk.
    /// - Returns: `nil` if the file is larger, or the kernel would wait for the disk.
    func contents(_ path: String, withoutWaiting limit: Int?) throws(FileError) -> FileBytes?
    /// Reads `count` bytes from an offset.
    func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> Data
    /// Reads a whole file of somebody else's, through links.
    /// - Returns: `nil` if it is larger than `limit`, or no file but a directory or a pipe, say.
    func foreignFile(_ path: String, limit: Int) throws(FileError) -> ForeignFile?
    func remove(_ path: String) throws(FileError)
    /// Makes a directory, and those above it, for nobody but the user.
    func makeDirectory(_ path: String) throws(FileError)
    func removeDirectory(_ path: String) throws(FileError)
    func rename(_ path: String, to newPath: String) throws(FileError)
    /// The names in a directory, without `.` and `..`.
    func list(_ path: String) throws(FileError) -> [String]
    func status(_ path: String) throws(FileError) -> FileStatus
    /// The same, of a link itself.
    func linkStatus(_ path: String) throws(FileError) -> FileStatus
    /// The bytes that the user may still write on the volume of a path.
    func freeSpace(_ path: String) throws(FileError) -> Int
    /// Whether a path is on a disk of this machine, or in its memory, and known to be.
    func isLocal(_ path: String) -> Bool
}

/// A call to the system that failed.
struct FileError: Error, Sendable, CustomStringConvertible {
    /// What was tried, such as `write`.
    var operation: String
    var path: String
    var code: Int32

    var isMissing: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    static let notDirectory = ENOTDIR

    /// What is the same for all errors that one line of the log is enough for.
    var cause: String { code == ENOTDIR ? "not a directory" : "\(operation) \(code)" }

    /// Such as `cannot write /tmp/x: No space left on device`.
    var description: String { "cannot \(operation) \(path): \(message)" }

    /// The system's words. glibc's `strerror` gives each thread a text of its own.
    var message: String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }
}

/// What is known of a file without opening it.
struct FileStatus: Sendable, Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int
    /// Seconds since 1970.
    var modified: Int
    var isDirectory: Bool
    var isRegular: Bool
}

/// A file that this library has not written.
struct ForeignFile: Sendable {
    var data: Data
    /// Seconds since 1970.
    var modified: Int
    /// What SDWebImage keeps beside an image, in the attribute `user.com.hackemist.SDDiskCache`.
    var extendedData: Data?
}
