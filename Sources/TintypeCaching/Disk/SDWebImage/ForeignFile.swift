internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// A file of another program.
struct ForeignFile: Sendable {
    var data: Data
    /// Seconds since 1970.
    var modified: Int
    /// The data that SDWebImage keeps beside an image, in the attribute `user.com.hackemist.SDDiskCache`.
    var extendedData: Data?

    /// Reads a whole file, through links.
    /// - Returns: `nil` if it is larger than `limit`, or no file but a directory or a pipe, say.
    static func read(_ path: String, limit: Int) throws(FileError) -> ForeignFile? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw FileError(operation: "open", path: path, code: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw FileError(operation: "read", path: path, code: errno) }
        let size = Int(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG, size <= limit else { return nil }
        let bytes = try FileBytes(of: file, count: size) { path }
        return ForeignFile(
            data: bytes.data(prefix: size), modified: Int(status.st_mtim.tv_sec),
            extendedData: attribute("user.com.hackemist.SDDiskCache", of: file))
    }

    /// The value of an extended attribute; `nil` if there is none, or the file system has no attributes.
    private static func attribute(_ name: String, of file: Int32) -> Data? {
        let size = tintype_attribute(file, name, nil, 0)
        // More than the kernel lets anybody store.
        guard size >= 0, size <= 64 << 10 else { return nil }
        guard size > 0 else { return Data() }
        var value = Data(count: size)
        let read = value.withUnsafeMutableBytes { tintype_attribute(file, name, $0.baseAddress, size) }
        return read == size ? value : nil
    }

    /// The status of a file, or of a link itself.
    static func status(_ path: String) -> FileStatus? {
        var status = stat()
        return lstat(path, &status) == 0 ? FileStatus(status) : nil
    }

    static func list(_ path: String) throws(FileError) -> [String] {
        guard let directory = opendir(path) else { throw FileError(operation: "list", path: path, code: errno) }
        defer { closedir(directory) }
        return try OpenFile.names(in: directory, of: path)
    }

    static func remove(_ path: String) throws(FileError) {
        guard unlink(path) == 0 else { throw FileError(operation: "remove", path: path, code: errno) }
    }

    /// Removes a directory that is empty now, and then those above it that became empty by that.
    /// - Parameter top: the last directory to remove.
    static func removeEmptyDirectories(_ path: String, upTo top: String) {
        var path = path
        while rmdir(path) == 0, path != top, let slash = path.lastIndex(of: "/") {
            path = String(path[..<slash])
        }
    }
}
