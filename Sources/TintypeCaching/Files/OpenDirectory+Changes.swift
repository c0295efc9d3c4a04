internal import FoundationEssentials
internal import Glibc

/// Listing, creating, renaming, and removing files.
extension OpenDirectory {
    /// Calls a closure with the open folder of a path, and the last component. The system has no calls that both change a folder and follow no
    /// link on the way there.
    private func withFolder(
        of path: String, _ operation: String, _ body: (Int32, String) -> Bool
    ) throws(FileError) {
        try check(operation, path)
        guard let slash = path.lastIndex(of: "/") else {
            if body(descriptor, path) { return }
            throw FileError(operation, path)
        }
        let folder = openFolder(String(path[..<slash]))
        guard folder >= 0 else { throw FileError(operation, path) }
        let isDone = body(folder, String(path[path.index(after: slash)...]))
        let error = FileError(operation, path)
        close(folder)
        if !isDone { throw error }
    }

    /// Writes a file, which nobody but the user may read. If that fails, there is none.
    /// - Parameters:
    ///   - unfinished: the path of the file until it is whole, and is renamed to `path`; `nil` to write in place.
    ///   - time: the time of the last change, in microseconds since 1970; `nil` for the file system's.
    /// - Returns: the space of the file that it replaces, or zero; `nil` if its folder was moved meanwhile, and the file with it.
    @discardableResult
    func write(
        _ parts: [Data], to path: String, unfinished: String? = nil, time: Int64? = nil
    ) throws(FileError) -> Int? {
        try check("write", path)
        let file = open(unfinished ?? path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        guard file >= 0 else { throw FileError("write", path) }
        var code: Int32 = 0
        for part in parts where code == 0 { code = Self.write(part, to: file) }
        // The program's clock counts, not the file system's.
        if code == 0, let time, let status = FileStatus(of: file),
            abs(status.modified - time) > EvictionHand.clockTolerance
        {
            setTime(time, of: unfinished ?? path)
        }
        if close(file) != 0, code == 0 { code = errno }
        var replaced = 0
        if code == 0, let unfinished {
            replaced = FileStatus(of: path, in: descriptor)?.allocatedSize ?? 0
            if renameat(descriptor, unfinished, descriptor, path) != 0 { code = errno }
            if code == ENOENT { return nil }
        }
        guard code != 0 else { return replaced }
        unlinkat(descriptor, unfinished ?? path, 0)
        throw FileError("write", path, code)
    }

    /// Writes bytes completely.
    /// - Returns: zero, or the number of the error.
    private static func write(_ data: Data, to file: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(file, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 ? ENOSPC : errno }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return 0
        }
    }

    /// Sets the time of the last change of a file, in microseconds since 1970. One that replaced it meanwhile gets it, too, which changes
    /// nothing: it is as late. Where files can't be changed, nothing happens.
    func setTime(_ time: Int64, of path: String) {
        let value = timespec(tv_sec: Int(time / 1_000_000), tv_nsec: Int(time % 1_000_000) * 1_000)
        utimensat(descriptor, path, [value, value], Int32(AT_SYMLINK_NOFOLLOW))
    }

    func remove(_ path: String) throws(FileError) { _ = try remove(path) { _ in true } }

    /// - Parameter isExpected: a closure that returns false for a file that is to stay.
    /// - Returns: the status of the file; `nil` if it stays.
    func remove(_ path: String, where isExpected: (FileStatus) -> Bool) throws(FileError) -> FileStatus? {
        var removed: FileStatus?
        try withFolder(of: path, "remove") { folder, name in
            guard let status = FileStatus(of: name, in: folder) else { return false }
            guard isExpected(status) else { return true }
            removed = status
            return unlinkat(folder, name, 0) == 0
        }
        return removed
    }

    func removeDirectory(_ path: String) throws(FileError) {
        try withFolder(of: path, "remove") { folder, name in unlinkat(folder, name, Int32(AT_REMOVEDIR)) == 0 }
    }

    /// Creates a folder, for the user alone, unless it is there.
    func makeFolder(_ path: String) throws(FileError) {
        try withFolder(of: path, "create directory") { folder, name in
            mkdirat(folder, name, 0o700) == 0 || errno == EEXIST
        }
    }

    /// Renames a file or folder in the directory itself; a file in its new place is replaced.
    func rename(_ name: String, to newName: String) throws(FileError) {
        try check("rename", name)
        guard renameat(descriptor, name, descriptor, newName) == 0 else { throw FileError("rename", name) }
    }

    // MARK: Looking

    /// Returns true if there is a file, and false only if there is certainly none.
    func exists(_ path: String) throws(FileError) -> Bool {
        try check("look at", path)
        if FileStatus(of: path, in: descriptor) != nil { return true }
        guard errno == ENOENT else { throw FileError("look at", path) }
        return false
    }

    /// The names in a folder, without `.` and `..`; none if it is missing.
    func list(_ path: String) throws(FileError) -> [String] {
        var names: [String] = []
        try forEachName(in: path) { _, name, _ in names.append(String(cString: name)) }
        return names
    }

    /// Calls a closure with each name in a folder but `.` and `..`, and the type of the file where the file system tells it. A folder that
    /// is missing has no names.
    func forEachName(
        in path: String, _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>, _ type: Int) -> Void
    ) throws(FileError) {
        try check("list", path)
        let folder = openFolder(path)
        if folder < 0, errno == ENOENT { return }
        guard folder >= 0, let stream = fdopendir(folder) else {
            let error = FileError("list", path)
            if folder >= 0 { close(folder) }
            throw error
        }
        defer { closedir(stream) }
        while true {
            // At the end it stays as it is.
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError("list", path) }
                return
            }
            let type = Int(entry.pointee.d_type)
            withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    if strcmp(name, ".") != 0, strcmp(name, "..") != 0 { body(folder, name, type) }
                }
            }
        }
    }
}
