internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Reading and writing the files of entries.
extension OpenDirectory {
    /// The size above which the end of a file has to tell that it is one of an entry, before it is read. A damaged size would cost its memory.
    private static let largestUnchecked = 64 << 20

    /// The names of the entries in a folder.
    func names(inFolder folder: Int) throws(FileError) -> [EntryName] {
        do throws(FileError) {
            return try list(EntryName.folderPath(folder)).compactMap { EntryName($0) }
        } catch {
            guard error.isMissing else { throw error }
            return []
        }
    }

    /// Reads and verifies the file of an entry; `nil` if there is none.
    /// - Parameters:
    ///   - key: the key that is looked for; `nil` for any.
    ///   - limit: the largest file to read without waiting for the disk; `nil` to read any, and to wait.
    /// - Throws: with a limit also where there is a file, but not in the kernel's memory, or a larger one.
    func read(
        _ name: EntryName, for key: ImageKey?, withoutWaiting limit: Int? = nil
    ) throws(FileError) -> (data: Data, status: FileStatus, contents: EntryFile.Contents)? {
        do throws(FileError) {
            let file = try name.withPath { path throws(FileError) in try read(path, withoutWaiting: limit) }
            return file.map { data, status in
                (data, status, data.withUnsafeBytes { EntryFile.contents($0, key: key) })
            }
        } catch {
            // The medium is bad.
            guard limit == nil, error.code == EIO, let status = try? status(name.path), status.isRegular else {
                throw error
            }
            return (Data(), status, .damaged)
        }
    }

    /// Reads a file; `nil` if there is none. Files of other users, except for the owner of the directory, are none.
    func read(
        _ path: UnsafePointer<CChar>, withoutWaiting limit: Int? = nil
    ) throws(FileError) -> (data: Data, status: FileStatus)? {
        func failure(_ code: Int32 = errno) -> FileError { FileError("read", String(cString: path), code) }
        try check(limit == nil ? "read" : "read at once", String(cString: path))
        let file = openForReading(path, cached: limit != nil)
        guard file >= 0 else {
            guard errno == ENOENT else { throw failure() }
            return nil
        }
        defer { close(file) }
        guard let status = FileStatus(of: file) else { throw failure() }
        guard status.isRegular else { throw failure(EIO) }
        guard status.owner == owner || status.owner == geteuid() else { return nil }
        if let limit {
            guard status.size <= limit, let data = OpenFile.cachedContents(of: file, count: status.size) else {
                throw failure(EAGAIN)
            }
            return (data, status)
        }
        if status.size > Self.largestUnchecked {
            let count = EntryFile.footerSize
            guard let end = OpenFile.contents(of: file, from: status.size - count, count: count) else {
                throw failure()
            }
            let isWhole = end.withUnsafeBytes { EntryFile.Footer($0, fileSize: status.size) } != nil
            if !isWhole { return (end, status) }
        }
        guard let data = OpenFile.contents(of: file, count: status.size) else {
            // The medium is bad. The status is of the file that was read: another may have its name by now.
            guard errno == EIO else { throw failure() }
            return (Data(), status)
        }
        return (data, status)
    }

    /// Reads the description of an entry, without its payload; `nil` if it can't be read, is damaged, or of a newer version.
    func description(of name: EntryName) -> (EntryFile.Description, FileStatus)? {
        guard (try? check("read", name.path)) != nil else { return nil }
        let file = name.withPath { openForReading($0) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let status = FileStatus(of: file), status.isRegular,
            status.owner == owner || status.owner == geteuid()
        else { return nil }
        func end(_ count: Int) -> Data? {
            let count = min(count, status.size)
            return OpenFile.contents(of: file, from: status.size - count, count: count)
        }
        guard let usual = end(EntryFile.usualTail),
            let footer = usual.withUnsafeBytes({ EntryFile.Footer($0, fileSize: status.size) }),
            let whole = footer.trailerSize <= usual.count ? usual : end(footer.trailerSize)
        else { return nil }
        return whole.withUnsafeBytes { EntryFile.description($0, footer) }.map { ($0, status) }
    }

    /// Writes the file of an entry under an unfinished name, and then gives it its name.
    /// - Parameter time: the time of the last change, in microseconds since 1970.
    /// - Returns: the size of the file that it replaces, or zero; `nil` if the entries were cleared meanwhile, and the file with them.
    func write(
        _ name: EntryName, writer: WriterName, parts: (Data, Data), time: Int64
    ) throws(FileError) -> Int? {
        try check("write", name.path)
        return try name.withPath(writer: writer) { unfinished throws(FileError) in
            var (code, old) = (write(parts, to: unfinished, time: time), 0)
            if code == 0 {
                (code, old) = name.withPath { rename(unfinished, toEntry: $0) }
                if code == 0 { return old }
                if code == ENOENT { return nil }
                unlinkat(descriptor, unfinished, 0)
            }
            throw FileError("write", name.path, code)
        }
    }

    /// - Returns: zero or the number of the error, and the size of the file that was replaced, or zero.
    private func rename(_ path: UnsafePointer<CChar>, toEntry newPath: UnsafePointer<CChar>) -> (Int32, Int) {
        if tintype_rename_new(descriptor, path, newPath) == 0 { return (0, 0) }
        // Some file systems can't rename without replacing.
        guard errno == EEXIST || errno == EINVAL || errno == ENOSYS else { return (errno, 0) }
        let old = FileStatus(of: newPath, in: descriptor)
        guard renameat(descriptor, path, descriptor, newPath) == 0 else { return (errno, 0) }
        return (0, old?.allocatedSize ?? 0)
    }

    /// Sets the time of the last use of an entry, in microseconds since 1970. An entry that was stored meanwhile gets it, too, which changes
    /// nothing: it is as late. Where files can't be changed, nothing happens.
    func setTime(_ time: Int64, of name: EntryName) {
        _ = name.withPath { utimensat(descriptor, $0, OpenFile.times(time), Int32(AT_SYMLINK_NOFOLLOW)) }
    }
}
