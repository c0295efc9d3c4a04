internal import FoundationEssentials
internal import Glibc

/// Listing, creating, renaming, and removing files.
extension OpenDirectory {
    /// Writes a file. If that fails, there is none.
    /// - Parameter time: the time of the last change, in microseconds since 1970; `nil` for that of the file system.
    /// - Returns: zero, or the number of the error.
    func write(_ parts: (Data, Data), to path: UnsafePointer<CChar>, time: Int64? = nil) -> Int32 {
        let file = open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        guard file >= 0 else { return errno }
        var code = OpenFile.write(parts.0, to: file)
        if code == 0 { code = OpenFile.write(parts.1, to: file) }
        // The program's clock counts, not the file system's.
        if code == 0, let time, let status = FileStatus(of: file),
            abs(status.modified - time) > EvictionHand.clockTolerance
        {
            futimens(file, OpenFile.times(time))
        }
        if close(file) != 0, code == 0 { code = errno }
        if code != 0 { unlinkat(descriptor, path, 0) }
        return code
    }

    func write(_ contents: Data, to path: String) throws(FileError) {
        try check("write", path)
        let code = write((contents, Data()), to: path)
        if code != 0 { throw FileError("write", path, code) }
    }

    /// - Parameter isExpected: a closure that returns false for a file that is to stay.
    /// - Returns: the status of the file; `nil` if there is none, or it stays.
    func remove(
        _ path: String, where isExpected: (FileStatus) -> Bool = { _ in true }
    ) throws(FileError) -> FileStatus? {
        try check("remove", path)
        var removed: FileStatus?
        let result = inFolder(of: path) { folder, name in
            guard let status = FileStatus(of: name, in: folder) else { return -1 }
            guard isExpected(status) else { return 0 }
            removed = status
            return unlinkat(folder, name, 0)
        }
        if result == 0 { return removed }
        guard errno == ENOENT else { throw FileError("remove", path) }
        return nil
    }

    /// Removes a folder, if it is there and empty.
    func removeFolder(_ path: String) { _ = inFolder(of: path) { unlinkat($0, $1, Int32(AT_REMOVEDIR)) } }

    /// Creates a folder, for the user alone, unless it is there.
    func makeFolder(_ path: String) throws(FileError) {
        try check("create directory", path)
        guard inFolder(of: path, { mkdirat($0, $1, 0o700) }) == 0 || errno == EEXIST else {
            throw FileError("create directory", path)
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

    /// The names in a folder, without `.` and `..`.
    func list(_ path: String) throws(FileError) -> [String] {
        var names: [String] = []
        try forEachName(in: path) { _, name, _ in names.append(String(cString: name)) }
        return names
    }

    /// Calls a closure with the name and the status of each file in a folder. Folders, links, and files that are gone meanwhile are left
    /// out.
    func forEachFile(in path: String, _ body: (UnsafePointer<CChar>, FileStatus) -> Void) throws(FileError) {
        try forEachName(in: path) { folder, name, type in
            // Not every file system tells the type.
            guard type == Int(DT_REG) || type == Int(DT_UNKNOWN), let status = FileStatus(of: name, in: folder),
                status.isRegular
            else { return }
            body(name, status)
        }
    }

    /// Calls a closure with each name in a folder but `.` and `..`, and the type of the file where the file system tells it.
    func forEachName(
        in path: String, _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>, _ type: Int) -> Void
    ) throws(FileError) {
        try check("list", path)
        let folder = openFolder(path)
        guard folder >= 0 else { throw FileError("list", path) }
        guard let stream = fdopendir(folder) else {
            let error = FileError("list", path)
            close(folder)
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
