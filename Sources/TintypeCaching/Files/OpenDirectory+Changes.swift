internal import FoundationEssentials
internal import Glibc

/// Listing, creating, renaming, and removing files.
extension OpenDirectory {
    /// Opens the folder that a path is in, and calls a closure with it and the last component.
    private func withFolder(
        of path: String, _ operation: String, _ body: (Int32, String) -> Bool
    ) throws(FileError) {
        guard let slash = path.lastIndex(of: "/") else {
            guard body(descriptor, path) else { throw FileError(operation: operation, path: path, code: errno) }
            return
        }
        let folder = open(String(path[..<slash]), flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw FileError(operation: operation, path: path, code: errno) }
        let isDone = body(folder, String(path[path.index(after: slash)...]))
        let code = errno
        close(folder)
        guard isDone else { throw FileError(operation: operation, path: path, code: code) }
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

    func remove(_ path: String) throws(FileError) {
        try check("remove", path)
        try withFolder(of: path, "remove") { folder, name in unlinkat(folder, name, 0) == 0 }
    }

    func unlinkFile(_ path: String) {
        try? withFolder(of: path, "remove") { folder, name in unlinkat(folder, name, 0) == 0 }
    }

    func removeDirectory(_ path: String) throws(FileError) {
        try withFolder(of: path, "remove") { folder, name in unlinkat(folder, name, Int32(AT_REMOVEDIR)) == 0 }
    }

    /// Creates a folder, for nobody but the user, unless it is there.
    func makeFolder(_ path: String) throws(FileError) {
        try check("create directory", path)
        try withFolder(of: path, "create directory") { folder, name in
            mkdirat(folder, name, 0o700) == 0 || errno == EEXIST
        }
    }

    /// Renames a file or folder; a file in its new place is replaced.
    func rename(_ path: String, to newPath: String) throws(FileError) {
        try check("rename", path)
        try withFolder(of: path, "rename") { folder, name in
            var isDone = false
            try? withFolder(of: newPath, "rename") { newFolder, newName in
                isDone = renameat(folder, name, newFolder, newName) == 0
                return isDone
            }
            return isDone
        }
    }

    /// Gives a file another name, unless there is a file of that name.
    func renameUnlessExisting(_ path: String, to newPath: String) throws(FileError) {
        try check("rename", path)
        try withFolder(of: path, "rename") { folder, name in
            var isDone = false
            try? withFolder(of: newPath, "rename") { newFolder, newName in
                isDone = linkat(folder, name, newFolder, newName, 0) == 0
                if isDone {
                    unlinkat(folder, name, 0)
                } else if errno == EPERM || errno == EOPNOTSUPP {
                    // A file system without links.
                    isDone =
                        faccessat(newFolder, newName, F_OK, Int32(AT_SYMLINK_NOFOLLOW)) != 0
                        && renameat(folder, name, newFolder, newName) == 0
                }
                return isDone
            }
            return isDone
        }
    }

    /// The names in a folder, without `.` and `..`.
    /// - Parameter onlyFiles: true to leave out folders, links, and devices, as far as the file system tells.
    func list(_ path: String, onlyFiles: Bool = false) throws(FileError) -> [String] {
        try withStream(of: path) { stream throws(FileError) in
            try OpenFile.names(in: stream, of: path, onlyFiles: onlyFiles)
        }
    }

    private func withStream<Result>(
        of path: String, _ body: (OpaquePointer) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        try check("list", path)
        let folder = open(path, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw FileError(operation: "list", path: path, code: errno) }
        guard let stream = fdopendir(folder) else {
            let code = errno
            close(folder)
            throw FileError(operation: "list", path: path, code: code)
        }
        defer { closedir(stream) }
        return try body(stream)
    }

    /// The files in a folder, with their status. Folders, links, and files that are gone meanwhile are left out.
    func listFiles(_ path: String) throws(FileError) -> [(name: String, status: FileStatus)] {
        try withStream(of: path) { stream throws(FileError) in
            let folder = dirfd(stream)
            return try OpenFile.names(in: stream, of: path, onlyFiles: true).compactMap { name in
                var information = stat()
                guard fstatat(folder, name, &information, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return nil }
                let status = FileStatus(information)
                return status.isRegular ? (name, status) : nil
            }
        }
    }

    /// The status of a file, or of a link itself.
    func status(_ path: UnsafePointer<CChar>) throws(FileError) -> FileStatus {
        try check("look at", String(cString: path))
        var status = stat()
        guard fstatat(descriptor, path, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else {
            throw FileError(operation: "look at", path: String(cString: path), code: errno)
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
