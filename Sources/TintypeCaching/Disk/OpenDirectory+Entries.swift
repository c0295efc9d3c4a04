internal import FoundationEssentials
internal import Glibc

/// Reading and writing the files of entries.
extension OpenDirectory {
    /// The size above which the end of a file has to tell that it is one of an entry, before it is read. A damaged size would cost its memory.
    private static let largestUnchecked = 64 << 20

    /// The names of the entries in a folder, or only of those of a source. A folder may have thousands, so no text is made of them.
    func names(inFolder folder: Int, ofSource source: UInt128? = nil) throws(FileError) -> [EntryName] {
        var names: [EntryName] = []
        do throws(FileError) {
            try forEachName(in: EntryName.folderPath(folder)) { _, text, _ in
                if let name = EntryName(text), source == nil || name.source == source { names.append(name) }
            }
        } catch {
            guard error.isMissing else { throw error }
        }
        return names
    }

    /// Reads and verifies the file of an entry; `nil` if there is none.
    /// - Parameters:
    ///   - key: the key that is looked for; `nil` for any.
    ///   - limit: the largest file to read without waiting for the disk; `nil` to read any, and to wait.
    /// - Throws: with a limit also where there is a file, but not in the kernel's memory, or a larger one.
    func read(
        _ name: EntryName, for key: ImageKey?, withoutWaiting limit: Int? = nil
    ) throws(FileError) -> (data: Data, status: FileStatus, contents: EntryFile.Contents)? {
        let file = try name.withPath { path throws(FileError) in try read(path, withoutWaiting: limit) }
        return file.map { data, status in
            (data, status, data.withUnsafeBytes { EntryFile.contents($0, key: key) })
        }
    }

    /// Reads a file; `nil` if there is none. Files of other users, except for the owner of the directory, are none. Where the medium is bad, a
    /// file is empty.
    func read(
        _ path: UnsafePointer<CChar>, withoutWaiting limit: Int? = nil
    ) throws(FileError) -> (data: Data, status: FileStatus)? {
        func failure(_ code: Int32 = errno) -> FileError { FileError("read", String(cString: path), code) }
        let file = openForReading(path, cached: limit != nil)
        guard file >= 0 else {
            guard errno == ENOENT else { throw failure() }
            return nil
        }
        defer { close(file) }
        guard let status = FileStatus(of: file) else { throw failure() }
        guard status.isRegular else { throw failure(EINVAL) }
        guard status.owner == owner || status.owner == geteuid() else { return nil }
        do throws(FileError) {
            try check(limit == nil ? "read" : "read at once", String(cString: path))
            if let limit {
                guard status.size <= limit, let data = OpenFile.cachedContents(of: file, count: status.size) else {
                    throw failure(EAGAIN)
                }
                return (data, status)
            }
            let end = max(0, status.size - EntryFile.footerSize)
            if status.size > Self.largestUnchecked {
                guard let footer = OpenFile.contents(of: file, from: end, count: EntryFile.footerSize) else {
                    throw failure()
                }
                let isWhole = footer.withUnsafeBytes { EntryFile.Footer($0, fileSize: status.size) } != nil
                if !isWhole { return (footer, status) }
            }
            guard let data = OpenFile.contents(of: file, count: status.size) else { throw failure() }
            return (data, status)
        } catch {
            // The status is of the file that was read: another may have its name by now.
            guard limit == nil, error.code == EIO else { throw error }
            return (Data(), status)
        }
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
            var code = write(parts, to: unfinished, time: time)
            var old: FileStatus?
            if code == 0 {
                code = name.withPath { path -> Int32 in
                    old = FileStatus(of: path, in: descriptor)
                    return renameat(descriptor, unfinished, descriptor, path) == 0 ? 0 : errno
                }
                if code == 0 { return old?.allocatedSize ?? 0 }
                if code == ENOENT { return nil }
                unlinkat(descriptor, unfinished, 0)
            }
            throw FileError("write", name.path, code)
        }
    }

    /// Sets the time of the last use of an entry, in microseconds since 1970. An entry that was stored meanwhile gets it, too, which changes
    /// nothing: it is as late. Where files can't be changed, nothing happens.
    func setTime(_ time: Int64, of name: EntryName) {
        _ = name.withPath { utimensat(descriptor, $0, OpenFile.times(time), Int32(AT_SYMLINK_NOFOLLOW)) }
    }
}
