internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Reading the files of entries.
extension OpenDirectory {
    /// The size above which the end of a file is checked before the rest is read: a damaged size would cost its memory.
    private static let largestUnchecked = 64 << 20

    /// The names of the entries in a folder. It may have thousands, so no text is made of them.
    func names(inFolder folder: Int) throws(FileError) -> [EntryName] {
        var names: [EntryName] = []
        try forEachName(in: EntryName.folderPath(folder)) { _, text, _ in
            if let name = EntryName(text) { names.append(name) }
        }
        return names
    }

    /// The names of all entries of a source: the source's folder knows them all.
    func names(ofSource source: String) throws(FileError) -> [EntryName] {
        let original = EntryName(source: source)
        return try names(inFolder: original.folder).filter { $0.source == original.source }
    }

    /// Reads and verifies the file of an entry; `nil` if there is none.
    /// - Parameters:
    ///   - key: the key that is looked for; `nil` for any.
    ///   - limit: the largest file to read without waiting for the disk; `nil` to read any, and to wait.
    /// - Throws: with a limit also where there is a file, but not in the kernel's memory, or a larger one.
    func read(
        _ name: EntryName, for key: ImageKey?, withoutWaiting limit: Int? = nil
    ) throws(FileError) -> (data: Data, status: FileStatus, contents: EntryFile.Contents)? {
        guard let (data, status) = try read(name.path, withoutWaiting: limit) else { return nil }
        return (data, status, data.withUnsafeBytes { EntryFile.contents($0, key: key) })
    }

    /// Reads a file; `nil` if there is none. Where the medium is bad, a file is empty.
    func read(
        _ path: String, withoutWaiting limit: Int? = nil
    ) throws(FileError) -> (data: Data, status: FileStatus)? {
        try withFile(path, cached: limit != nil) { file, status throws(FileError) in
            do throws(FileError) {
                try check(limit == nil ? "read" : "read at once", path)
                guard status.size <= limit ?? .max else { throw FileError("read", path, EAGAIN) }
                var start = 0
                if status.size > Self.largestUnchecked, Self.tail(of: file, status) == nil {
                    start = status.size - EntryFile.footerSize
                }
                guard
                    let data = Self.contents(of: file, from: start, count: status.size - start, cached: limit != nil)
                else { throw FileError("read", path, limit == nil ? errno : EAGAIN) }
                return (data, status)
            } catch {
                // The status is of the file that was read: another may have its name by now.
                guard limit == nil, error.code == EIO else { throw error }
                return (Data(), status)
            }
        }
    }

    /// Reads the description of an entry, without its payload; `nil` if it can't be read, is damaged, or of a newer version.
    func description(of name: EntryName) -> (EntryFile.Description, FileStatus)? {
        let path = name.path
        return try? withFile(path) { file, status throws(FileError) in
            try check("read", path)
            guard let (bytes, footer) = Self.tail(of: file, status) else { return nil }
            return bytes.withUnsafeBytes { EntryFile.description($0, footer) }.map { ($0, status) }
        }
    }

    /// Reads the end of the file of an entry, with the whole description; `nil` if it can't be read, or is no entry's.
    private static func tail(of file: Int32, _ status: FileStatus) -> (Data, EntryFile.Footer)? {
        func end(_ count: Int) -> Data? {
            let count = min(count, status.size)
            return Self.contents(of: file, from: status.size - count, count: count)
        }
        guard let usual = end(EntryFile.usualTail),
            let footer = usual.withUnsafeBytes({ EntryFile.Footer($0, fileSize: status.size) }),
            let whole = footer.trailerSize <= usual.count ? usual : end(footer.trailerSize)
        else { return nil }
        return (whole, footer)
    }

    /// Reads a part of a file completely; `nil` with `errno`.
    /// - Parameter cached: true to read the beginning, and only if the kernel has it in memory.
    static func contents(of file: Int32, from offset: Int = 0, count: Int, cached: Bool = false) -> Data? {
        guard let memory = malloc(max(1, count)) else { return nil }
        var filled = 0
        while filled < count {
            let result =
                cached
                ? tintype_read_cached(file, memory, count)
                : pread(file, memory + filled, count - filled, offset + filled)
            if result < 0, errno == EINTR { continue }
            guard result > 0, !cached || result == count else {
                // A file that is shorter by now.
                if result == 0 { errno = EIO }
                free(memory)
                return nil
            }
            filled += result
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    /// Calls a closure with an open file and its status; `nil` if there is none. Files of other users, except for the owner of the directory,
    /// are none.
    private func withFile<Result>(
        _ path: String, cached: Bool = false, _ body: (Int32, FileStatus) throws(FileError) -> Result?
    ) throws(FileError) -> Result? {
        // Without waiting for a FIFO.
        let file = open(path, flags: O_RDONLY | O_NONBLOCK, cached: cached)
        guard file >= 0 else {
            guard errno == ENOENT else { throw FileError("read", path) }
            return nil
        }
        defer { close(file) }
        guard let status = FileStatus(of: file) else { throw FileError("read", path) }
        guard status.isRegular else { throw FileError("read", path, EINVAL) }
        guard status.owner == owner || status.owner == geteuid() else { return nil }
        return try body(file, status)
    }
}
