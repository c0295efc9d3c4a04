internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// The real files. System calls without Foundation, whose ways to the disk cost ten times as much.
struct PosixFileSystem: CacheFileSystem {
    func create(_ path: String, parts: [Data]) throws(FileError) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError(operation: "create", path: path, code: errno) }
        var failure: Int32 = 0
        if !writeAtOnce(parts, to: file) {
            // What a first try wrote of it is written over.
            lseek(file, 0, SEEK_SET)
            for part in parts where failure == 0 { failure = write(part, to: file) }
        }
        // Where the disk is a network's, only closing tells whether there was room.
        if close(file) != 0, failure == 0 { failure = errno }
        guard failure == 0 else {
            unlink(path)
            throw FileError(operation: "write", path: path, code: failure)
        }
    }

    /// Writes a payload and its trailer with one call; false if it did not take all.
    private func writeAtOnce(_ parts: [Data], to file: Int32) -> Bool {
        guard parts.count == 2 else { return false }
        return parts[0].withUnsafeBytes { first in
            parts[1].withUnsafeBytes { second in
                let vectors = [
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count),
                ]
                return writev(file, vectors, 2) == first.count + second.count
            }
        }
    }

    /// Zero, or the number of the error.
    private func write(_ data: Data, to file: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return errno }
                guard count > 0 else { return ENOSPC }
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }

    func read(_ path: String, count: Int, fileSize: Int) throws(FileError) -> Data {
        let file = try openForReading(path)
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FileError(operation: "read", path: path, code: errno) }
        guard Int(status.st_size) == fileSize else { throw FileError(operation: "read", path: path, code: EIO) }
        return try read(file, path: path, from: 0, count: count)
    }

    func contents(_ path: String, withoutWaiting limit: Int?) throws(FileError) -> FileBytes? {
        let file: Int32
        if limit == nil {
            file = try openForReading(path)
        } else {
            file = tintype_open_cached(path, UInt64(Self.readingFlags))
            guard file >= 0 else {
                // A kernel or a container without the call says so in several ways.
                if errno == ENOENT { throw FileError(operation: "open", path: path, code: ENOENT) }
                return nil
            }
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FileError(operation: "read", path: path, code: errno) }
        let size = Int(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError(operation: "read", path: path, code: EIO) }
        if let limit, size > limit { return nil }
        guard let memory = malloc(max(1, size)) else {
            throw FileError(operation: "read", path: path, code: ENOMEM)
        }
        let contents = FileBytes(memory: memory, count: size)
        if limit != nil {
            guard tintype_read_cached(file, memory, size) == size else { return nil }
            return contents
        }
        try read(file, path: path, from: 0, count: size, into: memory)
        return contents
    }

    func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> Data {
        let file = try openForReading(path)
        defer { close(file) }
        return try read(file, path: path, from: offset, count: count)
    }

    private static let readingFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

    private func openForReading(_ path: String) throws(FileError) -> Int32 {
        // Without O_NOFOLLOW and O_NONBLOCK somebody's link or pipe under an entry's name could lead or hold us
        // elsewhere.
        let file = open(path, Self.readingFlags)
        guard file >= 0 else { throw FileError(operation: "open", path: path, code: errno) }
        return file
    }

    private func read(_ file: Int32, path: String, from offset: Int, count: Int) throws(FileError) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = malloc(count) else { throw FileError(operation: "read", path: path, code: ENOMEM) }
        do throws(FileError) {
            try read(file, path: path, from: offset, count: count, into: memory)
        } catch {
            free(memory)
            throw error
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    private func read(
        _ file: Int32, path: String, from offset: Int, count: Int, into memory: UnsafeMutableRawPointer
    ) throws(FileError) {
        var filled = 0
        while filled < count {
            let result = pread(file, memory + filled, count - filled, offset + filled)
            if result < 0, errno == EINTR { continue }
            guard result > 0 else {
                throw FileError(operation: "read", path: path, code: result < 0 ? errno : EIO)
            }
            filled += result
        }
    }

    func foreignFile(_ path: String, limit: Int) throws(FileError) -> ForeignFile? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw FileError(operation: "open", path: path, code: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FileError(operation: "read", path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= limit else { return nil }
        let data = try read(file, path: path, from: 0, count: Int(status.st_size))
        return ForeignFile(
            data: data, modified: Int(status.st_mtim.tv_sec),
            extendedData: attribute("user.com.hackemist.SDDiskCache", of: file))
    }

    /// The value of an extended attribute; `nil` if there is none, or the file system has no attributes.
    private func attribute(_ name: String, of file: Int32) -> Data? {
        let size = tintype_attribute(file, name, nil, 0)
        // More than the kernel lets anybody store.
        guard size >= 0, size <= 64 << 10 else { return nil }
        guard size > 0 else { return Data() }
        var value = Data(count: size)
        let read = value.withUnsafeMutableBytes { tintype_attribute(file, name, $0.baseAddress, size) }
        return read == size ? value : nil
    }

    func remove(_ path: String) throws(FileError) {
        guard unlink(path) == 0 else { throw FileError(operation: "remove", path: path, code: errno) }
    }

    func makeDirectory(_ path: String) throws(FileError) {
        if mkdir(path, 0o700) == 0 { return }
        let code = errno
        if code == EEXIST {
            // A file in the place of the directory is told as what it is.
            guard try status(path).isDirectory else {
                throw FileError(operation: "create directory", path: path, code: ENOTDIR)
            }
            return
        }
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        guard code == ENOENT, !parent.isEmpty else {
            throw FileError(operation: "create directory", path: path, code: code)
        }
        try makeDirectory(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw FileError(operation: "create directory", path: path, code: errno)
        }
    }

    func removeDirectory(_ path: String) throws(FileError) {
        guard rmdir(path) == 0 else { throw FileError(operation: "remove", path: path, code: errno) }
    }

    func rename(_ path: String, to newPath: String) throws(FileError) {
        guard Glibc.rename(path, newPath) == 0 else { throw FileError(operation: "rename", path: path, code: errno) }
    }

    func list(_ path: String) throws(FileError) -> [String] {
        guard let directory = opendir(path) else { throw FileError(operation: "list", path: path, code: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    func status(_ path: String) throws(FileError) -> FileStatus {
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileError(operation: "look at", path: path, code: errno) }
        return FileStatus(status)
    }

    func linkStatus(_ path: String) throws(FileError) -> FileStatus {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw FileError(operation: "look at", path: path, code: errno) }
        return FileStatus(status)
    }

    func freeSpace(_ path: String) throws(FileError) -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileError(operation: "look at", path: path, code: errno) }
        let (bytes, overflow) = Int(status.f_bavail).multipliedReportingOverflow(by: Int(status.f_frsize))
        return overflow ? .max : bytes
    }

    func isLocal(_ path: String) -> Bool {
        var status = statfs()
        return statfs(path, &status) == 0 && Self.localTypes.contains(UInt32(truncatingIfNeeded: status.f_type))
    }

    /// The numbers of file systems that wait for no other machine and no other program, from statfs(2) and the kernel's
    /// `magic.h`: ext2 to 4, XFS, Btrfs, F2FS, tmpfs, ramfs, overlayfs, ZFS, bcachefs.
    private static let localTypes: Set<UInt32> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994, 0x8584_58F6, 0x794C_7630, 0x2FC1_2FC1, 0xCA45_1A4E,
    ]
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int(status.st_size),
            modified: Int(status.st_mtim.tv_sec), isDirectory: status.st_mode & S_IFMT == S_IFDIR,
            isRegular: status.st_mode & S_IFMT == S_IFREG)
    }
}
