internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// Calls to the system with an open file.
enum OpenFile {
    /// Reads a part of a file completely; `nil` with `errno`.
    static func contents(of file: Int32, from offset: Int = 0, count: Int) -> Data? {
        guard let memory = malloc(max(1, count)) else { return nil }
        var filled = 0
        while filled < count {
            let result = pread(file, memory + filled, count - filled, offset + filled)
            if result < 0, errno == EINTR { continue }
            guard result > 0 else {
                // A file that is shorter by now.
                if result == 0 { errno = EIO }
                free(memory)
                return nil
            }
            filled += result
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    /// Reads the beginning of a file, if the kernel has it in memory.
    static func cachedContents(of file: Int32, count: Int) -> Data? {
        guard let memory = malloc(max(1, count)) else { return nil }
        guard tintype_read_cached(file, memory, count) == count else {
            free(memory)
            return nil
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    /// Writes two parts, one after the other.
    /// - Returns: zero, or the number of the error.
    static func write(_ parts: (Data, Data), to file: Int32) -> Int32 {
        parts.0.withUnsafeBytes { first in
            parts.1.withUnsafeBytes { second in
                var rest = [first, second]
                while !rest.isEmpty {
                    let vectors = rest.map {
                        iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
                    }
                    var written = writev(file, vectors, Int32(vectors.count))
                    if written < 0, errno == EINTR { continue }
                    guard written >= 0 else { return errno }
                    let isStuck = written == 0
                    while let part = rest.first, written >= part.count {
                        written -= part.count
                        rest.removeFirst()
                    }
                    if isStuck, !rest.isEmpty { return ENOSPC }
                    if let part = rest.first { rest[0] = UnsafeRawBufferPointer(rebasing: part[written...]) }
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
