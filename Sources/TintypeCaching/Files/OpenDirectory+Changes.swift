internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Listing, creating, renaming, and removing files.
extension OpenDirectory {
    /// Opens the folder that a path is in, and calls a closure with it and the last component.
    private func withFolder(
        of path: String, _ operation: String, _ body: (Int32, String) -> Bool
    ) throws(FileError) {
        try check(operation, path)
        func failure() -> FileError { FileError(operation: operation, path: path, code: errno) }
        guard let slash = path.lastIndex(of: "/") else {
            if body(descriptor, path) { return }
            throw failure()
        }
        let folder = open(String(path[..<slash]), flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure() }
        let isDone = body(folder, String(path[path.index(after: slash)...]))
        let error = failure()
        close(folder)
        if !isDone { throw error }
    }

    /// Creates a file that is not there yet.
    func create(_ path: String, contents: Data = Data()) throws(FileError) {
        try check("write", path)
        let file = open(path, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o600)
        guard file >= 0 else { throw FileError(operation: "write", path: path, code: errno) }
        let code = OpenFile.write((contents, Data()), to: file)
        close(file)
        guard code == 0 else {
            try? remove(path)
            throw FileError(operation: "write", path: path, code: code)
        }
    }

    func remove(_ path: String) throws(FileError) { _ = try remove(path) { _ in true } }

    /// Removes a file.
    /// - Parameter isExpected: a closure that returns false for a file that is to stay.
    /// - Returns: the status of the file; `nil` if it stays.
    func remove(_ path: String, where isExpected: (FileStatus) -> Bool) throws(FileError) -> FileStatus? {
        var removed: FileStatus?
        try withFolder(of: path, "remove") { folder, name in
            var information = stat()
            guard fstatat(folder, name, &information, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return false }
            let status = FileStatus(information)
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
        guard renameat(descriptor, name, descriptor, newName) == 0 else {
            throw FileError(operation: "rename", path: name, code: errno)
        }
    }

    // MARK: Listing

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
            guard type == Int(DT_REG) || type == Int(DT_UNKNOWN) else { return }
            var information = stat()
            guard fstatat(folder, name, &information, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return }
            let status = FileStatus(information)
            if status.isRegular { body(name, status) }
        }
    }

    private func forEachName(
        in path: String, _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>, _ type: Int) -> Void
    ) throws(FileError) {
        try check("list", path)
        func failure() -> FileError { FileError(operation: "list", path: path, code: errno) }
        let folder = open(path, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure() }
        guard let stream = fdopendir(folder) else {
            let error = failure()
            close(folder)
            throw error
        }
        defer { closedir(stream) }
        while true {
            // At the end it stays as it is.
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw failure() }
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

    // MARK: Looking

    /// The status of a file, or of a link itself.
    func status(_ path: String) throws(FileError) -> FileStatus {
        try check("look at", path)
        var status = stat()
        guard fstatat(descriptor, path, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else {
            throw FileError(operation: "look at", path: path, code: errno)
        }
        return FileStatus(status)
    }

    /// Returns true if there is a file, and false only if there is certainly none.
    func isPresent(_ path: String) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try status(path)
            return true
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    func exists(_ path: String) -> Bool { (try? status(path)) != nil }
}
