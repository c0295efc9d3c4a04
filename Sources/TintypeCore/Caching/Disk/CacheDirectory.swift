internal import CLinux
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Gives a call to the system an error number, so that it fails without being made. For tests.
///
/// The operations are `look for directory`, `open directory`, `create directory`, `write`, `append`, `read`, `read at once`, `read contents`, `remove`, `rename`, `look at`, and `list`. For
/// `free space` and `file system` the number is the answer.
typealias FileFaults = @Sendable (_ operation: String, _ path: String) -> Int32?

/// The open directory of a cache.
///
/// All paths are relative to the open directory, and no symbolic link below it is followed. A directory that is moved goes on being the
/// same one.
final class CacheDirectory: Sendable {
    let path: String
    let device: UInt64
    let inode: UInt64
    let descriptor: Int32
    /// The users whose files are those of the cache: the owner of the directory, and the user of the process.
    private let owners: (UInt32, UInt32)
    private let faults: FileFaults?
    /// True if there may be entries that are known by the digests of their keys alone (``SDWebImageName``).
    var hasImports: Bool {
        get { imports.load(ordering: .relaxed) }
        set { imports.store(newValue, ordering: .relaxed) }
    }
    /// True unless a look found no files of an older layout.
    var mayHaveLegacyFiles: Bool {
        get { legacyFiles.load(ordering: .relaxed) }
        set { legacyFiles.store(newValue, ordering: .relaxed) }
    }
    private let imports = Atomic(false)
    private let legacyFiles = Atomic(false)

    private init(path: String, descriptor: Int32, status: FileStatus, faults: FileFaults?) {
        self.path = path
        self.descriptor = descriptor
        self.faults = faults
        device = status.device
        inode = status.inode
        owners = (status.owner, geteuid())
        checkContents()
    }

    /// Nothing is written, and no lock of others is waited for.
    deinit { close(descriptor) }

    static let importsMark = "imports"

    /// Looks whether there are imported entries, or files of an older layout.
    func checkContents() {
        hasImports = exists(Self.importsMark)
        mayHaveLegacyFiles = (try? status(LegacyLayout.files))?.isDirectory == true
    }

    // MARK: Opening

    /// True if the kernel knows without looking that there is no such directory.
    static func isMissing(_ path: String, faults: FileFaults?) -> Bool {
        if let code = faults?("look for directory", path) { return code == ENOENT }
        let file = tintype_open_cached(path, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard file >= 0 else { return errno == ENOENT }
        close(file)
        return false
    }

    /// Opens a directory.
    static func open(_ path: String, faults: FileFaults?) throws(FileError) -> CacheDirectory {
        if let code = faults?("open directory", path) {
            throw FileError(operation: "open directory", path: path, code: code)
        }
        let file = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw FileError(operation: "open directory", path: path, code: errno) }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let code = errno
            close(file)
            throw FileError(operation: "open directory", path: path, code: code)
        }
        return CacheDirectory(path: path, descriptor: file, status: FileStatus(status), faults: faults)
    }

    /// Opens a directory, and creates it and those above it if need be, for nobody but the user.
    static func make(_ path: String, faults: FileFaults?) throws(FileError) -> CacheDirectory {
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

    /// The reason why nothing may be written here; `nil` if there is none.
    var reasonAgainstWriting: String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return FileError.message(errno) }
        if status.st_uid != geteuid() {
            return "it belongs to another user, so that it is only read"
        }
        if status.st_mode & 0o022 != 0 {
            return "other users may write to it, so that it is only read; `chmod go-w` ends that"
        }
        let kind = faults?("file system", path).map { UInt32(bitPattern: $0) } ?? tintype_file_system(descriptor)
        if let name = Self.networkFileSystems[kind] {
            return "it is on a network file system (\(name)), which other computers may change at the same time; "
                + "choose a directory on a disk of this computer"
        }
        return nil
    }

    /// From statfs(2) and the kernel's `magic.h`.
    private static let networkFileSystems: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x0102_1997: "9p", 0x00C3_6400: "Ceph",
        0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x7375_7245: "Coda", 0x564C: "NCP", 0x0BD0_0BD0: "Lustre",
        0x7461_636F: "OCFS2", 0x0116_1970: "GFS2",
    ]

    /// The bytes that the user may still write on the volume.
    var freeSpace: Int? {
        // The number of the fault is the answer.
        if let space = faults?("free space", path) { return Int(space) }
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        let (bytes, overflow) = Int(status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflow ? .max : bytes
    }

    // MARK: Files

    func check(_ operation: String, _ path: @autoclosure () -> String) throws(FileError) {
        guard let faults else { return }
        let path = path()
        if let code = faults(operation, path) { throw FileError(operation: operation, path: path, code: code) }
    }

    private static let largestUnchecked = 64 << 20
    private static let readingFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

    /// Opens a file without following links.
    /// - Returns: a descriptor, or -1 with `errno`.
    func open(_ path: UnsafePointer<CChar>, flags: Int32, mode: mode_t = 0, cached: Bool = false) -> Int32 {
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
        return openat(folder, name, flags | O_NOFOLLOW, mode)
    }

    /// The contents of an entry's file.
    enum Contents: ~Copyable {
        case missing
        case bytes(FileBytes, FileStatus)
        /// The file is the known one.
        case known(FileStatus)
        /// The kernel would have to wait for the disk, or the file is larger than the limit.
        case unavailable
    }

    /// Reads the file of an entry.
    /// - Parameters:
    ///   - limit: the largest file to read without waiting for the disk; `nil` to read any, and to wait.
    ///   - known: the status of a file whose contents need not be read again.
    func contents(of name: EntryName, withoutWaiting limit: Int?, known: FileStatus?) throws(FileError) -> Contents {
        try check(limit == nil ? "read" : "read at once", name.path)
        let file = name.withPath { open($0, flags: Self.readingFlags, cached: limit != nil) }
        guard file >= 0 else {
            if errno == ENOENT { return .missing }
            // A kernel or a container without the call says so in several ways.
            if limit != nil { return .unavailable }
            throw FileError(operation: "read", path: name.path, code: errno)
        }
        defer { close(file) }
        return try contents(of: file, withoutWaiting: limit, known: known) { name.path }
    }

    /// Reads a file, waiting for the disk.
    func contents(of path: String) throws(FileError) -> Contents {
        try check("read", path)
        let file = open(path, flags: Self.readingFlags)
        guard file >= 0 else { throw FileError(operation: "read", path: path, code: errno) }
        defer { close(file) }
        return try contents(of: file, withoutWaiting: nil, known: nil) { path }
    }

    private func contents(
        of file: Int32, withoutWaiting limit: Int?, known: FileStatus?, path: () -> String
    ) throws(FileError) -> Contents {
        var information = stat()
        guard fstat(file, &information) == 0 else { throw FileError(operation: "read", path: path(), code: errno) }
        let status = FileStatus(information)
        guard status.isRegular else { throw FileError(operation: "read", path: path(), code: EIO) }
        guard status.owner == owners.0 || status.owner == owners.1 else { return .missing }
        if let known, known.isSameFile(as: status) { return .known(status) }
        if let limit, status.size > limit { return .unavailable }
        try check("read contents", path())
        // A damaged size would cost its memory: the end of a large file tells whether it is one of an entry.
        if status.size > Self.largestUnchecked {
            let end = try tail(of: file, status, count: EntryFile.footerSize, path: path)
            let isWhole = end.withUnsafeBytes { EntryFile.Footer($0, fileSize: status.size) } != nil
            if !isWhole { return .bytes(end, status) }
        }
        guard let memory = malloc(max(1, status.size)) else {
            throw FileError(operation: "read", path: path(), code: ENOMEM)
        }
        let bytes = FileBytes(memory: memory, count: status.size)
        if limit != nil {
            guard tintype_read_cached(file, memory, status.size) == status.size else { return .unavailable }
        } else {
            try OpenFile.read(file, from: 0, count: status.size, into: memory, path: path)
        }
        return .bytes(bytes, status)
    }

    /// Reads the end of a file.
    /// - Parameter count: takes the size of the file, and returns the number of bytes to read.
    func tail(of path: String, count: (Int) -> Int) throws(FileError) -> (bytes: Data, status: FileStatus) {
        try check("read", path)
        let file = open(path, flags: Self.readingFlags)
        guard file >= 0 else { throw FileError(operation: "read", path: path, code: errno) }
        defer { close(file) }
        var information = stat()
        guard fstat(file, &information) == 0 else { throw FileError(operation: "read", path: path, code: errno) }
        let status = FileStatus(information)
        guard status.isRegular else { throw FileError(operation: "read", path: path, code: EIO) }
        let wanted = count(status.size)
        return (try tail(of: file, status, count: wanted) { path }.data(prefix: wanted), status)
    }

    private func tail(
        of file: Int32, _ status: FileStatus, count: Int, path: () -> String
    ) throws(FileError) -> FileBytes {
        let count = min(max(0, count), status.size)
        guard let memory = malloc(max(1, count)) else {
            throw FileError(operation: "read", path: path(), code: ENOMEM)
        }
        let bytes = FileBytes(memory: memory, count: count)
        try OpenFile.read(file, from: status.size - count, count: count, into: memory, path: path)
        return bytes
    }

    /// Writes the file of an entry under an unfinished name, and then gives it its name.
    /// - Parameter time: the time of the last change, in microseconds since 1970.
    /// - Returns: the status of the file; `nil` if the entries were cleared meanwhile, and the file with them.
    func write(
        _ name: EntryName, writer: WriterName, parts: (Data, Data), time: Int64
    ) throws(FileError) -> FileStatus? {
        try check("write", name.path)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        func create() -> Int32 { name.withPath(writer: writer) { open($0, flags: flags, mode: 0o600) } }
        var file = create()
        if file < 0, errno == EEXIST {
            unlinkFile(writer.unfinishedPath(of: name))
            file = create()
        }
        guard file >= 0 else { throw FileError(operation: "write", path: name.path, code: errno) }
        var code = OpenFile.write(parts, to: file)
        var information = stat()
        if code == 0, fstat(file, &information) != 0 { code = errno }
        if code == 0, abs(FileStatus(information).modified - time) > 2_000_000 {
            // The program's clock counts, not the file system's.
            _ = OpenFile.setTime(time, of: file)
            fstat(file, &information)
        }
        if close(file) != 0, code == 0 { code = errno }
        if code == 0 {
            let result = name.withPath(writer: writer) { unfinished in
                name.withPath { renameat(descriptor, unfinished, descriptor, $0) }
            }
            if result == 0 { return FileStatus(information) }
            code = errno
            if code == ENOENT { return nil }
        }
        unlinkFile(writer.unfinishedPath(of: name))
        throw FileError(operation: "write", path: name.path, code: code)
    }

    /// Creates a file that is not there yet.
    func create(_ path: String, contents: Data = Data()) throws(FileError) {
        try check("write", path)
        let file = open(path, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600)
        guard file >= 0 else { throw FileError(operation: "write", path: path, code: errno) }
        let code = OpenFile.write((contents, Data()), to: file)
        close(file)
        guard code == 0 else {
            unlinkFile(path)
            throw FileError(operation: "write", path: path, code: code)
        }
    }

    /// Opens a file for appending; the caller closes it.
    func openForAppending(_ path: String, creating: Bool) throws(FileError) -> Int32 {
        try check("write", path)
        let creation = creating ? O_CREAT | O_EXCL : 0
        let file = open(path, flags: O_RDWR | O_APPEND | O_CLOEXEC | creation, mode: creating ? 0o600 : 0)
        guard file >= 0 else { throw FileError(operation: "write", path: path, code: errno) }
        return file
    }

    /// Fails an append to the journal where a test wants it.
    func checkAppend(_ path: String) throws(FileError) { try check("append", path) }

    /// Sets the time of the last use of an entry, in microseconds since 1970.
    func setTime(_ time: Int64, of name: EntryName) {
        let file = name.withPath { open($0, flags: Self.readingFlags) }
        guard file >= 0 else { return }
        _ = OpenFile.setTime(time, of: file)
        close(file)
    }
}
