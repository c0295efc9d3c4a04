#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import TintypeCore

/// The files of interrupted transfers in a directory.
///
/// A file begins with two lines, the validator and the total size or `-`, then the text of the key with its length before it, and then
/// the bytes of the body. Bytes are only appended, so a process that ends at any time leaves a shorter file.
struct PartialFiles: Sendable {
    let directory: String
    let limit: Int

    private static let maximumAge = 7 * 86_400
    private static let fileExtension = ".partial"

    /// Reads the beginning of a body; `nil` if there is none, or another transfer writes it.
    func read(_ key: PartialBodyKey) async -> PartialBody? {
        try? await WorkQueue.files.perform { _ in readNow(key) }
    }

    func remove(_ key: PartialBodyKey) async {
        let path = path(key)
        _ = try? await WorkQueue.files.perform { _ in unlink(path) }
    }

    func open(_ key: PartialBodyKey, validator: String, total: Int?, continuing partial: PartialBody?) async
        -> PartialFile?
    {
        let opened: PartialFile?? = try? await WorkQueue.files.perform { _ in
            openNow(key, validator: validator, total: total, continuing: partial)
        }
        return opened ?? nil
    }

    private func path(_ key: PartialBodyKey) -> String {
        directory + "/" + MD5.hexadecimal(key.text.utf8) + Self.fileExtension
    }

    private func readNow(_ key: PartialBodyKey) -> PartialBody? {
        let descriptor = Glibc.open(path(key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0, fstat(descriptor, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit
        else { return nil }
        var data = Data(count: Int(status.st_size))
        var count = 0
        while count < data.count {
            let start = count
            let done = data.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + start }, $0.count - start)
            }
            if done < 0, errno == EINTR { continue }
            guard done > 0 else { break }
            count += done
        }
        return Self.parse(data.prefix(count), key)
    }

    static func parse(_ data: Data, _ key: PartialBodyKey) -> PartialBody? {
        var rest = data[...]
        func line() -> String? {
            guard let end = rest.prefix(4_096).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
        guard let validator = line(), !validator.isEmpty, let total = line(), let length = line().flatMap({ Int($0) }),
            total == "-" || Int(total).map({ $0 > 0 }) == true, length >= 0, length <= rest.count,
            // Different keys may have the same name of 128 bits, if somebody wants it.
            rest.prefix(length).elementsEqual(key.text.utf8)
        else { return nil }
        let body = Data(rest.dropFirst(length))
        guard !body.isEmpty, Int(total).map({ body.count < $0 }) ?? true else { return nil }
        return PartialBody(data: body, validator: validator, total: Int(total))
    }

    private func openNow(
        _ key: PartialBodyKey, validator: String, total: Int?, continuing partial: PartialBody?
    ) -> PartialFile? {
        mkdir(directory, 0o700)
        clean()
        let path = path(key)
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        let file = PartialFile(descriptor: descriptor, path: path)
        let text = key.text
        let head = Data("\(validator)\n\(total.map(String.init) ?? "-")\n\(text.utf8.count)\n\(text)".utf8)
        if let partial {
            // The file has the bytes already, unless another process has changed it.
            guard lseek(descriptor, 0, SEEK_END) == head.count + partial.data.count else { return file.removedNow() }
            return file
        }
        guard ftruncate(descriptor, 0) == 0, file.appendNow(head) else { return file.removedNow() }
        return file
    }

    /// Deletes old files, and the oldest ones above the limit.
    private func clean() {
        guard let folder = opendir(directory) else { return }
        defer { closedir(folder) }
        var files: [(path: String, time: Int, size: Int)] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            let path = directory + "/" + name
            guard name.hasSuffix(Self.fileExtension), lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { continue }
            files.append((path, status.st_mtim.tv_sec, Int(status.st_size)))
        }
        let oldest = time(nil) - Self.maximumAge
        var total = 0
        for file in files.sorted(by: { $0.time > $1.time }) {
            let (sum, overflow) = total.addingReportingOverflow(file.size)
            total = overflow ? .max : sum
            if file.time < oldest || total > limit { unlink(file.path) }
        }
    }
}

/// A file to which the bytes of a body are appended while they arrive. Only one transfer at a time has it.
// Sendable: the descriptor is constant, and the system orders calls with it.
final class PartialFile: Sendable {
    private let descriptor: Int32
    private let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    /// - Returns: false if they could not be written. The file is then removed.
    func append(_ bytes: Data) async -> Bool {
        (try? await WorkQueue.files.perform { _ in self.appendNow(bytes) }) ?? false
    }

    /// Removes the file, because its body is complete or useless.
    func remove() async {
        // The path may already belong to another transfer only after this one has released its lock.
        _ = try? await WorkQueue.files.perform { _ in unlink(self.path) }
    }

    fileprivate func appendNow(_ bytes: Data) -> Bool {
        let isWritten = bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        if !isWritten { unlink(path) }
        return isWritten
    }

    fileprivate func removedNow() -> PartialFile? {
        unlink(path)
        return nil
    }
}
#endif
