internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Reading and writing the files of entries.
extension OpenDirectory {
    /// The size above which the end of a file has to be recognized as an entry's before it is read. A damaged size would cost its
    /// memory.
    private static let largestUnchecked = 64 << 20

    /// The contents of an entry's file.
    enum Contents: ~Copyable {
        case missing
        case bytes(FileBytes, FileStatus)
        /// The kernel would have to wait for the disk, or the file is larger than the limit.
        case unavailable
    }

    /// Reads the file of an entry. Files of other users, except for the owner of the directory, aren't entries.
    /// - Parameter limit: the largest file to read without waiting for the disk; `nil` to read any, and to wait.
    func contents(of path: UnsafePointer<CChar>, withoutWaiting limit: Int? = nil) throws(FileError) -> Contents {
        func failure(_ code: Int32) -> FileError {
            FileError(operation: "read", path: String(cString: path), code: code)
        }
        try check(limit == nil ? "read" : "read at once", String(cString: path))
        let file = openForReading(path, cached: limit != nil)
        guard file >= 0 else {
            if errno == ENOENT { return .missing }
            // A kernel or a container without the call says so in several ways.
            if limit != nil { return .unavailable }
            throw failure(errno)
        }
        defer { close(file) }
        var information = stat()
        guard fstat(file, &information) == 0 else { throw failure(errno) }
        let status = FileStatus(information)
        guard status.isRegular else { throw failure(EIO) }
        guard status.owner == owner || status.owner == geteuid() else { return .missing }
        if let limit, status.size > limit { return .unavailable }
        try check("read contents", String(cString: path))
        if limit != nil {
            guard let bytes = FileBytes(cachedOf: file, count: status.size) else { return .unavailable }
            return .bytes(bytes, status)
        }
        if status.size > Self.largestUnchecked {
            let end = try FileBytes(tailOf: file, size: status.size, count: EntryFile.footerSize) {
                String(cString: path)
            }
            let isWhole = end.withUnsafeBytes { EntryFile.Footer($0, fileSize: status.size) } != nil
            if !isWhole { return .bytes(end, status) }
        }
        return .bytes(try FileBytes(of: file, count: status.size) { String(cString: path) }, status)
    }

    /// The end of a store.
    enum WriteResult {
        /// The file is there, in place of an earlier file of some size, if any.
        case written(replacing: Int?)
        /// The entries were cleared meanwhile, and the file with them.
        case cleared
    }

    /// Writes the file of an entry under an unfinished name, and then gives it its name.
    /// - Parameter time: the time of the last change, in microseconds since 1970.
    func write(
        _ name: EntryName, writer: WriterName, parts: (Data, Data), time: Int64
    ) throws(FileError) -> WriteResult {
        try check("write", name.path)
        return try name.withPath(writer: writer) { unfinished throws(FileError) in
            func create() -> Int32 { open(unfinished, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600) }
            var file = create()
            if file < 0, errno == EEXIST {
                unlinkat(descriptor, unfinished, 0)
                file = create()
            }
            guard file >= 0 else { throw FileError(operation: "write", path: name.path, code: errno) }
            var code = OpenFile.write(parts, to: file)
            var information = stat()
            if code == 0, fstat(file, &information) != 0 { code = errno }
            // The program's clock counts, not the file system's.
            if code == 0, abs(FileStatus(information).modified - time) > EvictionHand.clockTolerance {
                futimens(file, OpenFile.times(time))
            }
            if close(file) != 0, code == 0 { code = errno }
            if code == 0 {
                let (result, old) = name.withPath { rename(unfinished, toEntry: $0) }
                if result == 0 { return .written(replacing: old) }
                if result == ENOENT { return .cleared }
                code = result
            }
            unlinkat(descriptor, unfinished, 0)
            throw FileError(operation: "write", path: name.path, code: code)
        }
    }

    /// - Returns: zero or the number of the error, and the size of the file that was replaced.
    private func rename(_ path: UnsafePointer<CChar>, toEntry newPath: UnsafePointer<CChar>) -> (Int32, Int?) {
        if tintype_rename_new(descriptor, path, newPath) == 0 { return (0, nil) }
        // Some file systems can't rename without replacing.
        guard errno == EEXIST || errno == EINVAL || errno == ENOSYS else { return (errno, nil) }
        var information = stat()
        let isThere = fstatat(descriptor, newPath, &information, Int32(AT_SYMLINK_NOFOLLOW)) == 0
        let isDone = renameat(descriptor, path, descriptor, newPath) == 0
        return (isDone ? 0 : errno, isThere ? FileStatus(information).allocatedSize : nil)
    }

    /// Sets the time of the last use of an entry, in microseconds since 1970. An entry that was stored meanwhile gets it, too, which
    /// changes nothing: it is as late. Where files can't be changed, nothing happens.
    func setTime(_ time: Int64, of name: EntryName) {
        _ = name.withPath { utimensat(descriptor, $0, OpenFile.times(time), Int32(AT_SYMLINK_NOFOLLOW)) }
    }

    /// Reads the description of a file, without its payload; `nil` if it is damaged, or of a newer version.
    func description(of path: String) throws(FileError) -> (EntryFile.Description, FileStatus)? {
        func read(_ count: Int) throws(FileError) -> (Int?, (EntryFile.Description, FileStatus)?) {
            let (bytes, status) = try tail(of: path, count: count)
            return bytes.withUnsafeBytes { bytes in
                guard let footer = EntryFile.Footer(bytes, fileSize: status.size) else { return (nil, nil) }
                guard footer.trailerSize <= bytes.count else { return (footer.trailerSize, nil) }
                return (nil, EntryFile.description(bytes, footer).map { ($0, status) })
            }
        }
        let (needed, found) = try read(EntryFile.usualTail)
        guard let needed else { return found }
        return try read(needed).1
    }
}
