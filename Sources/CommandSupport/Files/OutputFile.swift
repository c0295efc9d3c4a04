package import FoundationEssentials
internal import Glibc
package import TintypeLoading

extension ImageError.Code {
    /// A result can't be written to the place that the user chose.
    package static let fileWriteFailed = Self(rawValue: "fileWriteFailed")
}

/// Writes files that other programs see complete or not at all: under a temporary name beside the target, then renamed.
package enum OutputFile {
    /// Writes `data` to `path`, replacing a file that is there.
    ///
    /// A symbolic link stays, and its target is replaced. The new file has the permissions and, if the system allows it, the owner
    /// of the old file. Devices and pipes are written to, and so are the descriptors that names such as `/dev/stderr` and `/dev/fd/4`
    /// stand for, and standard output for the path `-`.
    /// - Throws: ``ImageError/Code/fileWriteFailed``, or ``ImageError/Code/cancelled`` while a device or a pipe takes no bytes.
    package static func replace(_ path: String, with data: Data) throws(ImageError) {
        if path == "-" { return try write(data, toStream: STDOUT_FILENO, path: path) }
        var status = stat()
        let old: stat? = stat(path, &status) == 0 ? status : nil
        let target: String
        switch try resolvingLinks(path) {
        // Its file may have other contents, too.
        case .descriptor(let descriptor): return try write(data, toStream: descriptor, path: path)
        case .file(let path): target = path
        }
        if let old, old.st_mode & S_IFMT != S_IFREG { return try write(data, into: path) }
        let temporary = try writeTemporary(data, beside: target, like: old)
        guard rename(temporary, target) == 0 else {
            let reason = systemError()
            unlink(temporary)
            throw failure(path, reason)
        }
    }

    /// The absolute path, without links, of a file that exists; `nil` if it doesn't.
    package static func existing(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Writes `data` to `path` unless something is there.
    /// - Returns: false if the name is taken. Nothing has changed then.
    /// - Throws: ``ImageError/Code/fileWriteFailed``.
    package static func create(_ path: String, with data: Data) throws(ImageError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return false }
        let temporary = try writeTemporary(data, beside: path)
        // Unlike a rename, a link fails if another process has just created a file.
        if link(temporary, path) == 0 {
            unlink(temporary)
            return true
        }
        let error = errno
        if error == EEXIST {
            unlink(temporary)
            return false
        }
        // Some file systems have no links.
        guard [EPERM, ENOTSUP, ENOSYS, EMLINK].contains(error), rename(temporary, path) == 0 else {
            unlink(temporary)
            throw failure(path, String(cString: strerror(error)))
        }
        return true
    }

    /// Creates a directory and its parents, unless it exists.
    /// - Throws: ``ImageError/Code/fileWriteFailed``.
    package static func makeDirectory(_ path: String) throws(ImageError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            let reason = systemError()
            var status = stat()
            let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
            throw failure(
                path, isFile ? "it is a file, not a directory" : "the directory can't be created: \(reason)")
        }
        guard access(path, W_OK | X_OK) == 0 else { throw failure(path, systemError()) }
    }

    private enum Target {
        case descriptor(Int32), file(String)
    }

    /// Follows symbolic links, also to a file that does not exist, up to the name of an open descriptor.
    private static func resolvingLinks(_ path: String) throws(ImageError) -> Target {
        var target = path
        // The kernel follows as many.
        for _ in 0..<40 {
            if ["/dev/fd/", "/proc/self/fd/", "/proc/\(getpid())/fd/"].contains(directory(of: target)),
                let descriptor = Int32(target.split(separator: "/").last ?? ""), descriptor >= 0
            {
                return .descriptor(descriptor)
            }
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(target, &buffer, buffer.count)
            guard count >= 0 else { return .file(target) }
            // A repaired name would lead to another file.
            guard let link = String(validating: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
                throw failure(path, "it is a link to a name that isn't UTF-8")
            }
            target = link.hasPrefix("/") ? link : directory(of: target) + link
        }
        throw failure(path, String(cString: strerror(ELOOP)))
    }

    /// The path of the directory with its slash; empty for the current directory.
    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func write(_ data: Data, into path: String) throws(ImageError) {
        let descriptor = try Descriptor.opened(toWrite: path)
        guard descriptor >= 0 else { throw failure(path, systemError()) }
        defer { close(descriptor) }
        try write(data, toStream: descriptor, path: path)
    }

    /// Writes to a device or a pipe.
    ///
    /// A pipe that has room for bytes has it for `PIPE_BUF` at least, so that the write doesn't wait, even if the descriptor blocks.
    private static func write(_ data: Data, toStream descriptor: Int32, path: String) throws(ImageError) {
        var rest = data[...]
        while !rest.isEmpty {
            try Descriptor.wait(for: POLLOUT, of: descriptor)
            let written = rest.withUnsafeBytes { bytes in
                bytes.baseAddress.map { Glibc.write(descriptor, $0, min(bytes.count, Int(PIPE_BUF))) } ?? 0
            }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if ![EINTR, EAGAIN].contains(errno) {
                throw failure(path == "-" ? "standard output" : path, systemError())
            }
        }
    }

    /// Writes a temporary file.
    /// - Parameters:
    ///   - data: the contents.
    ///   - path: the path of the final file.
    ///   - old: the file that is going to be replaced.
    /// - Returns: the path of the temporary file.
    private static func writeTemporary(
        _ data: Data, beside path: String, like old: stat? = nil
    ) throws(ImageError) -> String {
        var name = Array("\(directory(of: path)).tintype-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure(path, systemError()) }
        let temporary = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        var problem = write(data, to: descriptor)
        if problem == nil { problem = setAttributes(descriptor, like: old) }
        if close(descriptor) != 0, problem == nil { problem = systemError() }
        if let problem {
            unlink(temporary)
            throw failure(path, problem)
        }
        return temporary
    }

    /// `mkstemp` creates private files. A new file gets the usual permissions, and a file that replaces another keeps its permissions.
    private static func setAttributes(_ descriptor: Int32, like old: stat?) -> String? {
        var mode = 0o666 & ~creationMask
        if let old {
            mode = old.st_mode & 0o777
            // Only root can give files away. Without its group, a file must not be open to another.
            if fchown(descriptor, old.st_uid, old.st_gid) != 0, fchown(descriptor, uid_t.max, old.st_gid) != 0 {
                mode &= 0o707
            }
        }
        return fchmod(descriptor, mode) == 0 ? nil : systemError()
    }

    /// Writes all bytes.
    /// - Returns: the problem, if any.
    private static func write(_ data: Data, to descriptor: Int32) -> String? {
        data.withUnsafeBytes { bytes in
            var rest = bytes
            while let base = rest.baseAddress, !rest.isEmpty {
                let written = Glibc.write(descriptor, base, rest.count)
                if written > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[written...])
                } else if errno != EINTR {
                    return systemError()
                }
            }
            return nil
        }
    }

    /// Read once, because the only way to read the mask is to set it for the whole process.
    private static let creationMask: mode_t = {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }()

    private static func systemError() -> String { String(cString: strerror(errno)) }

    private static func failure(_ path: String, _ reason: String) -> ImageError {
        ImageError(.fileWriteFailed, stage: .store, source: path, reason: "can't be written: \(reason)")
    }
}
