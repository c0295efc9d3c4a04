internal import FoundationEssentials
internal import Glibc
internal import TintypeCore

extension ImageError.Code {
    /// A result could not be written where the user wants it.
    static let fileWriteFailed = Self(rawValue: "fileWriteFailed")
}

/// Writes files that are seen whole or not at all: first under a temporary name beside the target, then renamed.
enum OutputFile {
    /// Writes `data` to `path` in place of what is there.
    static func replace(_ path: String, with data: Data) throws(ImageError) {
        let temporary = try writeTemporary(data, beside: path)
        guard rename(temporary, path) == 0 else {
            let reason = systemError()
            unlink(temporary)
            throw failure(path, reason)
        }
    }

    /// Writes `data` to `path` unless there is something.
    /// - Returns: false if the name is taken; nothing was changed then.
    static func create(_ path: String, with data: Data) throws(ImageError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return false }
        let temporary = try writeTemporary(data, beside: path)
        // Unlike a rename, a link fails where somebody else has just put a file.
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

    /// Makes a directory and those above it; does nothing where it exists.
    static func makeDirectory(_ path: String) throws(ImageError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            var status = stat()
            let isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
            throw failure(
                path, isFile ? "is a file, not a directory" : "the directory cannot be made: \(systemError())")
        }
        guard access(path, W_OK | X_OK) == 0 else { throw failure(path, "cannot write there: \(systemError())") }
    }

    private static func writeTemporary(_ data: Data, beside path: String) throws(ImageError) -> String {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        var name = Array("\(directory).tintype-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure(path, systemError()) }
        let temporary = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        var problem: String?
        data.withUnsafeBytes { bytes in
            var rest = bytes
            while let base = rest.baseAddress, !rest.isEmpty, problem == nil {
                let written = write(descriptor, base, rest.count)
                if written > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[written...])
                } else if errno != EINTR {
                    problem = systemError()
                }
            }
        }
        // `mkstemp` makes private files; results get the mode that any new file gets.
        if problem == nil, fchmod(descriptor, 0o666 & ~creationMask) != 0 { problem = systemError() }
        if close(descriptor) != 0, problem == nil { problem = systemError() }
        if let problem {
            unlink(temporary)
            throw failure(path, problem)
        }
        return temporary
    }

    /// Read once: the only way to ask for the mask is to set it, for the whole process.
    private static let creationMask: mode_t = {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }()

    private static func systemError() -> String { String(cString: strerror(errno)) }

    private static func failure(_ path: String, _ reason: String) -> ImageError {
        ImageError(.fileWriteFailed, stage: .store, source: path, reason: "could not be written: \(reason)")
    }
}
