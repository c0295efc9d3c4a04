internal import CLinux
internal import Glibc
internal import Synchronization

/// Gives a call to the system an error number, so that it fails without being made. For tests.
///
/// The operations are `look for directory`, `open directory`, `create directory`, `write`, `read`, `read at once`, `remove`, `rename`,
/// `look at`, and `list`. For `free space` the number is the answer.
typealias FileFaults = @Sendable (_ operation: String, _ path: String) -> Int32?

/// A directory that is held open, and the files below it.
///
/// All paths are relative to the open directory, and no symbolic link below it is followed, except for a look at a file's status. A directory
/// that is moved stays open.
final class OpenDirectory: Sendable {
    let path: String
    let descriptor: Int32
    /// True once the directory was checked, and has all that entries need.
    let isPrepared = Atomic(false)
    private let first: FileStatus
    private let faults: FileFaults?

    /// - Parameter descriptor: of the open directory, which is closed with this object.
    private init(_ path: String, _ descriptor: Int32, _ faults: FileFaults?) {
        (self.path, self.descriptor, self.faults) = (path, descriptor, faults)
        first = FileStatus(of: descriptor) ?? FileStatus(stat())
    }

    deinit { close(descriptor) }

    // MARK: Opening

    /// True if the kernel knows without looking that there is no such directory.
    static func isMissing(_ path: String, faults: FileFaults?) -> Bool {
        if let code = faults?("look for directory", path) { return code == ENOENT }
        let file = tintype_open_cached(path, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard file >= 0 else { return errno == ENOENT }
        close(file)
        return false
    }

    static func open(_ path: String, faults: FileFaults? = nil) throws(FileError) -> OpenDirectory {
        if let code = faults?("open directory", path) { throw FileError("open directory", path, code) }
        try FileError.check(path)
        let file = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw FileError("open directory", path) }
        return OpenDirectory(path, file, faults)
    }

    /// Opens a directory, and creates it and those above it if need be, for nobody but the user.
    static func make(_ path: String, faults: FileFaults?) throws(FileError) -> OpenDirectory {
        do throws(FileError) {
            return try open(path, faults: faults)
        } catch {
            guard error.isMissing else { throw error }
        }
        if let code = faults?("create directory", path) { throw FileError("create directory", path, code) }
        var failure: Int32 = 0
        for end in path.indices.dropFirst() where path[end] == "/" {
            if mkdir(String(path[..<end]), 0o700) != 0, errno != EEXIST, failure == 0 { failure = errno }
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            // The first directory that could not be made is the reason.
            throw FileError("create directory", path, failure == 0 ? errno : failure)
        }
        return try open(path, faults: faults)
    }

    // MARK: The directory itself

    /// The user whom it belongs to.
    var owner: UInt32 { first.owner }

    /// True if the path leads to this directory.
    var isCurrent: Bool {
        var status = stat()
        return stat(path, &status) == 0 && UInt64(status.st_ino) == first.inode
            && UInt64(status.st_dev) == first.device
    }

    /// True if the directory was removed.
    var isRemoved: Bool { (FileStatus(of: descriptor)?.links ?? 0) == 0 }

    /// The reason why nothing should be written here; `nil` if there is none.
    var reasonAgainstWriting: String? {
        guard let status = FileStatus(of: descriptor) else { return FileError("look at", path).message }
        if status.owner != geteuid() { return "it belongs to another user, so the cache only reads it" }
        guard status.mode & 0o022 != 0 else { return nil }
        return "other users may write to it, so the cache only reads it; `chmod go-w` ends that"
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
        if let code = faults(operation, path) { throw FileError(operation, path, code) }
    }

    /// Opens a file without following links.
    /// - Parameter cached: true to fail if the kernel would have to wait for the disk.
    /// - Returns: a descriptor, or -1 with `errno`.
    func open(_ path: UnsafePointer<CChar>, flags: Int32, mode: mode_t = 0, cached: Bool = false) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NOFOLLOW
        let file = tintype_open_beneath(descriptor, path, UInt64(flags), UInt64(mode), cached ? 1 : 0)
        guard file < 0, !cached, errno == ENOSYS || errno == EPERM || errno == EINVAL else { return file }
        // An old kernel, or a container that doesn't allow the call: one component after the other.
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
        return openat(folder, name, flags, mode)
    }

    /// Opens a folder; -1 with `errno` if it can't.
    func openFolder(_ path: UnsafePointer<CChar>) -> Int32 { open(path, flags: O_RDONLY | O_DIRECTORY) }
}
