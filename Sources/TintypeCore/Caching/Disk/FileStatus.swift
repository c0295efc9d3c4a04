internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// A call to the system that failed.
struct FileError: Error, Sendable, CustomStringConvertible {
    /// The operation, such as `write`.
    var operation: String
    /// The path, relative to the directory of the cache if it is inside.
    var path: String
    var code: Int32

    /// True if there is no such file. Only this error means that.
    var isMissing: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// True if the name is that of a folder, where a file should be.
    var isOfFolder: Bool { code == EISDIR }
    /// True if the volume, or what the user may have of it, is full.
    var isOfFullDisk: Bool { code == ENOSPC || code == EDQUOT }
    /// True for errors by which a directory that can't be used shows itself.
    var isOfDirectory: Bool { operation.hasSuffix("directory") }
    static let notDirectory = ENOTDIR

    /// The part that all errors of one kind share, so that the log names each kind once.
    var cause: String { code == ENOTDIR ? "not a directory" : "\(operation) \(code)" }

    /// A sentence, such as `cannot write /tmp/x: No space left on device`.
    var description: String { "cannot \(operation) \(path): \(message)" }

    var message: String { Self.message(code) }

    /// The system's words. glibc's `strerror` gives each thread a text of its own.
    static func message(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

    /// The names that a directory stream has left, without `.` and `..`.
    /// - Parameter onlyFiles: true to leave out folders, links, and devices, as far as the file system tells.
    static func names(in stream: OpaquePointer, onlyFiles: Bool = false) -> [String] {
        var names: [String] = []
        while let entry = readdir(stream) {
            let type = Int(entry.pointee.d_type)
            if onlyFiles, type != Int(DT_REG), type != Int(DT_UNKNOWN) { continue }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// The properties of a file that the system knows without opening it.
struct FileStatus: Sendable, Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int
    /// The time of the last change, in microseconds since 1970.
    var modified: Int64
    var isDirectory: Bool
    var isRegular: Bool
    var links: Int
    var owner: UInt32

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        // Some file systems keep any number, which may come from a clock or a backup that was wrong.
        let seconds = min(max(Int64(status.st_mtim.tv_sec), -9_000_000_000_000), 9_000_000_000_000)
        modified = seconds * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1_000
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        links = Int(status.st_nlink)
        owner = status.st_uid
    }

    /// The space that the file takes on the disk: its size in whole blocks of 4 KB.
    ///
    /// The system's own number is of no use for a file that was just written: some file systems don't know it yet.
    var allocatedSize: Int { Self.allocatedSize(size) }

    static func allocatedSize(_ size: Int) -> Int { max(1, (max(0, size) + 4_095) / 4_096) * 4_096 }

    /// True if the contents are certainly the same.
    func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}

/// The contents of a file, in memory that is freed with it or goes over into a `Data`.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    let count: Int

    /// - Parameter memory: `count` bytes from `malloc`.
    init(memory: UnsafeMutableRawPointer, count: Int) {
        self.memory = memory
        self.count = count
    }

    deinit { free(memory) }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// The first bytes, without a copy.
    consuming func data(prefix count: Int) -> Data {
        let data = Data(bytesNoCopy: memory, count: min(count, self.count), deallocator: .free)
        discard self
        return data
    }
}

/// Calls to the system with an open file.
enum OpenFile {
    /// Reads a part of a file completely.
    static func read(
        _ file: Int32, from offset: Int, count: Int, into memory: UnsafeMutableRawPointer, path: () -> String
    ) throws(FileError) {
        var filled = 0
        while filled < count {
            let result = pread(file, memory + filled, count - filled, offset + filled)
            if result < 0, errno == EINTR { continue }
            guard result > 0 else {
                throw FileError(operation: "read", path: path(), code: result < 0 ? errno : EIO)
            }
            filled += result
        }
    }

    /// Writes two parts, one after the other.
    /// - Returns: zero, or the number of the error.
    static func write(_ parts: (Data, Data), to file: Int32) -> Int32 {
        parts.0.withUnsafeBytes { first in
            parts.1.withUnsafeBytes { second in
                var vectors = (
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
                )
                let total = first.count + second.count
                let written = withUnsafePointer(to: &vectors) { pointer in
                    pointer.withMemoryRebound(to: iovec.self, capacity: 2) { writev(file, $0, 2) }
                }
                if written == total { return 0 }
                if written < 0, errno != EINTR { return errno }
                var done = max(0, written)
                while done < total {
                    let rest =
                        done < first.count
                        ? UnsafeRawBufferPointer(rebasing: first[done...])
                        : UnsafeRawBufferPointer(rebasing: second[(done - first.count)...])
                    let count = Glibc.write(file, rest.baseAddress, rest.count)
                    if count < 0, errno == EINTR { continue }
                    guard count >= 0 else { return errno }
                    guard count > 0 else { return ENOSPC }
                    done += count
                }
                return 0
            }
        }
    }

    /// Sets the times of the last change and the last use, in microseconds since 1970.
    static func setTime(_ time: Int64, of file: Int32) -> Int32 {
        let value = timespec(tv_sec: Int(time / 1_000_000), tv_nsec: Int(time % 1_000_000) * 1_000)
        let times = [value, value]
        return futimens(file, times)
    }
}
