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

    /// Writes bytes completely.
    /// - Returns: zero, or the number of the error.
    static func write(_ data: Data, to file: Int32) -> Int32 {
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

    /// The times of the last access and the last change for the calls that set them, from microseconds since 1970.
    static func times(_ time: Int64) -> [timespec] {
        let value = timespec(tv_sec: Int(time / 1_000_000), tv_nsec: Int(time % 1_000_000) * 1_000)
        return [value, value]
    }
}
