internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Gives a call to the system an error number, so that it fails without being made. For tests.
///
/// The operations are `look for directory`, `open directory`, `create directory`, `write`, `read`, `read at once`, `read contents`,
/// `remove`, `rename`, `look at`, and `list`. For `free space` the number is the answer.
typealias FileFaults = @Sendable (_ operation: String, _ path: String) -> Int32?

/// A directory that is held open, and the files below it.
///
/// All paths are relative to the open directory, and no symbolic link below it is followed, except for a look at a file's status. A
/// directory that is moved remains the same directory.
final class OpenDirectory: Sendable {
    let path: String
    let descriptor: Int32
    let owner: UInt32
    private let device: UInt64
    private let inode: UInt64
    private let faults: FileFaults?

    /// - Parameter descriptor: of the open directory, which is closed with this object.
    private init(path: String, descriptor: Int32, faults: FileFaults?) throws(FileError) {
        var information = stat()
        let code = fstat(descriptor, &information) == 0 ? 0 : errno
        let status = FileStatus(information)
        self.path = path
        self.descriptor = descriptor
        self.faults = faults
        (device, inode, owner) = (status.device, status.inode, status.owner)
        if code != 0 { throw FileError(operation: "open directory", path: path, code: code) }
    }

    deinit { close(descriptor) }

    // MARK: Opening

    /// True if the kernel knows without looking that the directory is missing.
    static func isMissing(_ path: String, faults: FileFaults?) -> Bool {
        if let code = faults?("look for directory", path) { return code == ENOENT }
        let file = tintype_open_cached(path, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard file >= 0 else { return errno == ENOENT }
        close(file)
        return false
    }

    /// Opens a directory.
    static func open(_ path: String, faults: FileFaults?) throws(FileError) -> OpenDirectory {
        if let code = faults?("open directory", path) {
            throw FileError(operation: "open directory", path: path, code: code)
        }
        let file = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw FileError(operation: "open directory", path: path, code: errno) }
        return try OpenDirectory(path: path, descriptor: file, faults: faults)
    }

    /// Opens a directory, and creates it and its parents if need be, for the user alone.
    static func make(_ path: String, faults: FileFaults?) throws(FileError) -> OpenDirectory {
        do throws(FileError) {
            return try open(path, faults: faults)
        } catch {
            guard error.isMissing else { throw error }
        }
        if let code = faults?("create directory", path) {
            throw FileError(operation: "create directory", path: path, code: code)
        }
        try makePath(path)
        return try open(path, faults: faults)
    }

    private static func makePath(_ path: String) throws(FileError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        let code = errno
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        guard code == ENOENT, !parent.isEmpty else {
            throw FileError(operation: "create directory", path: path, code: code)
        }
        try makePath(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw FileError(operation: "create directory", path: path, code: errno)
        }
    }

    // MARK: The directory itself

    /// True if the path leads to this directory.
    var isCurrent: Bool {
        var status = stat()
        return stat(path, &status) == 0 && UInt64(status.st_ino) == inode && UInt64(status.st_dev) == device
    }

    /// True if the directory was removed.
    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// The reason why nothing should be written here; `nil` if there is none.
    var reasonAgainstWriting: String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return FileError.message(errno) }
        if status.st_uid != geteuid() {
            return "it belongs to another user, so that it is only read"
        }
        if status.st_mode & 0o022 != 0 {
            return "other users may write to it, so that it is only read; `chmod go-w` ends that"
        }
        return nil
    }

    /// The bytes that the user may still write on the volume.
    var freeSpace: Int? {
        // The number of the fault is the answer.
        if let space = faults?("free space", path) { return Int(space) }
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        let (bytes, overflow) = Int(status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflow ? .max : bytes
    }

    // MARK: Opening files

    /// Fails an operation where a test wants it.
    @inline(__always)
    func check(_ operation: String, _ path: @autoclosure () -> String) throws(FileError) {
        guard let faults else { return }
        let path = path()
        if let code = faults(operation, path) { throw FileError(operation: operation, path: path, code: code) }
    }

    /// Opens a file without following links.
    /// - Parameter cached: true to fail if the kernel would have to wait for the disk.
    /// - Returns: a descriptor, or -1 with `errno`.
    func open(_ path: UnsafePointer<CChar>, flags: Int32, mode: mode_t = 0, cached: Bool = false) -> Int32 {
        let file = tintype_open_beneath(descriptor, path, UInt64(flags), UInt64(mode), cached ? 1 : 0)
        guard file < 0, !cached, errno == ENOSYS || errno == EPERM || errno == EINVAL else { return file }
        // An old kernel, or a container that doesn't allow the call: component by component.
        var parts = String(cString: path).split(separator: "/").map(String.init)
        let name = parts.popLast() ?? "."
        var folder = descriptor
        defer { if folder != descriptor { close(folder) } }
        for part in parts {
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard next >= 0 else { return -1 }
            if folder != descriptor { close(folder) }
            folder = next
        }
        return openat(folder, name, flags | O_NOFOLLOW, mode)
    }

    /// Opens a file for reading without following links, or waiting for a FIFO; -1 with `errno` if it can't.
    func openForReading(_ path: UnsafePointer<CChar>, cached: Bool = false) -> Int32 {
        open(path, flags: O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, cached: cached)
    }

    /// Reads the start of a file.
    func head(of path: String, count: Int) throws(FileError) -> Data {
        let file = openForReading(path)
        guard file >= 0 else { throw FileError(operation: "read", path: path, code: errno) }
        defer { close(file) }
        return try FileBytes(of: file, count: count) { path }.data(prefix: count)
    }

    /// Reads the end of a file.
    func tail(of path: String, count: Int) throws(FileError) -> (bytes: Data, status: FileStatus) {
        try check("read", path)
        let file = openForReading(path)
        guard file >= 0 else { throw FileError(operation: "read", path: path, code: errno) }
        defer { close(file) }
        var information = stat()
        guard fstat(file, &information) == 0 else { throw FileError(operation: "read", path: path, code: errno) }
        let status = FileStatus(information)
        guard status.isRegular else { throw FileError(operation: "read", path: path, code: EIO) }
        let bytes = try FileBytes(tailOf: file, size: status.size, count: count) { path }
        return (bytes.data(prefix: count), status)
    }
}
