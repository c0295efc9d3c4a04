internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// The contents of a file, in memory that is freed with it or goes over into a `Data`.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    let count: Int

    /// Reads a part of an open file.
    init(of file: Int32, from offset: Int = 0, count: Int, path: () -> String) throws(FileError) {
        guard let memory = malloc(max(1, count)) else {
            throw FileError(operation: "read", path: path(), code: ENOMEM)
        }
        do throws(FileError) {
            try OpenFile.read(file, from: offset, count: count, into: memory, path: path)
        } catch {
            free(memory)
            throw error
        }
        (self.memory, self.count) = (memory, count)
    }

    /// Reads the end of an open file.
    /// - Parameter size: the size of the file.
    init(tailOf file: Int32, size: Int, count: Int, path: () -> String) throws(FileError) {
        let count = min(max(0, count), size)
        try self.init(of: file, from: size - count, count: count, path: path)
    }

    /// Reads the start of an open file, if the kernel has it in memory.
    init?(cachedOf file: Int32, count: Int) {
        guard let memory = malloc(max(1, count)) else { return nil }
        guard tintype_read_cached(file, memory, count) == count else {
            free(memory)
            return nil
        }
        (self.memory, self.count) = (memory, count)
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

    /// Writes two parts, in order.
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

    /// The times of the last access and the last change for the calls that set them, from microseconds since 1970.
    static func times(_ time: Int64) -> [timespec] {
        let value = timespec(tv_sec: Int(time / 1_000_000), tv_nsec: Int(time % 1_000_000) * 1_000)
        return [value, value]
    }
}
