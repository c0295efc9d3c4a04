package import FoundationEssentials
internal import Glibc
package import TintypeLoading

/// A file or standard input, which is read from its start as far as needed.
package struct InputFile: ~Copyable {
    /// The bytes that have been read.
    package private(set) var data = Data()
    /// A Boolean value that is true after the end was reached.
    package private(set) var isAtEnd = false
    /// The length of the file; `nil` for a stream.
    package let length: Int?

    private let descriptor: Int32
    private let path: String

    /// The largest file that is read.
    package static let limit = ByteCount.gigabytes(2)

    /// Opens a file.
    /// - Parameter path: a path, or `-` for standard input.
    package init(_ path: String) throws(ImageError) {
        self.path = path
        descriptor = Descriptor.opened(toRead: path)
        guard descriptor >= 0 else { throw Self.failure(path, String(cString: strerror(errno))) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure(path, String(cString: strerror(errno))) }
        let type = status.st_mode & S_IFMT
        if type == S_IFDIR {
            close(descriptor)
            throw Self.failure(path, "it is a directory")
        }
        length = type == S_IFREG ? Int(status.st_size) : nil
    }

    deinit { close(descriptor) }

    /// Reads until `count` bytes have been read, or the end is reached.
    package mutating func read(upTo count: Int) throws(ImageError) {
        let block = 1 << 20
        while data.count < count, !isAtEnd {
            if length == nil { try Descriptor.wait(for: POLLIN, of: descriptor) }
            let old = data.count
            let wanted = min(block, count - old)
            data.count = old + wanted
            let received = data.withUnsafeMutableBytes { bytes -> Int in
                guard let base = bytes.baseAddress else { return 0 }
                while true {
                    let result = Glibc.read(descriptor, base + old, wanted)
                    if result >= 0 || errno != EINTR { return result }
                }
            }
            data.count = old + max(0, received)
            if received < 0 { throw Self.failure(path, String(cString: strerror(errno))) }
            isAtEnd = received == 0 || data.count == length
        }
    }

    /// Reads the rest.
    /// - Throws: ``ImageError/Code/limitExceeded`` for a file over ``limit``.
    package mutating func readAll() throws(ImageError) {
        if length ?? 0 <= Self.limit.bytes { try read(upTo: Self.limit.bytes + 1) }
        guard isAtEnd, data.count <= Self.limit.bytes else {
            throw ImageError(
                .limitExceeded, stage: .load, source: path,
                reason: "the file is larger than the limit of \(Self.limit)")
        }
    }

    /// Returns all bytes of a file.
    package static func contents(of path: String) throws(ImageError) -> Data {
        var file = try InputFile(path)
        try file.readAll()
        return file.data
    }

    private static func failure(_ path: String, _ reason: String) -> ImageError {
        ImageError(
            .fileUnreadable, stage: .load, source: path.isEmpty ? "''" : path, reason: "can't be read: \(reason)")
    }
}
