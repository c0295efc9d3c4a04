#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

/// The files of interrupted transfers in a directory.
///
/// A file begins with five lines: the validator, the digest of the body's URL, the total size or `-`, the digest of the key, and a checksum of
/// these. Then follow the bytes of the
/// body in pieces, each with its length and a checksum. Pieces are only appended, so a process that ends at any time leaves a shorter file. The
/// first piece that is cut or damaged ends the body.
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

    func open(_ key: PartialBodyKey, _ head: Head, continuing partial: PartialBody?) async -> PartialFile? {
        let opened: PartialFile?? = try? await WorkQueue.files.perform { _ in
            openNow(key, head, continuing: partial)
        }
        return opened ?? nil
    }

    private func path(_ key: PartialBodyKey) -> String {
        directory + "/" + key.digest.prefix(32) + Self.fileExtension
    }

    /// True for the names that ``path(_:)`` makes. Files of other programs may be in the directory too.
    private static func isName(_ name: String) -> Bool {
        name.hasSuffix(fileExtension) && name.utf8.count == 32 + fileExtension.utf8.count
            && name.utf8.prefix(32).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private func readNow(_ key: PartialBodyKey) -> PartialBody? {
        let descriptor = Glibc.open(path(key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { PartialFile.unlockAndClose(descriptor) }
        var status = stat()
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0, fstat(descriptor, &status) == 0,
            Self.isOurs(status), status.st_size <= limit
        else { return nil }
        var start = [UInt8](repeating: 0, count: Self.maximumHead)
        let count = start.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0, let head = Head(start.prefix(count)), head.digest == key.digest else { return nil }
        let bytes = ArrivingBytes(expected: head.total ?? Int(status.st_size))
        var offset = head.count
        while let (piece, end) = PartialPiece.read(descriptor, at: offset) {
            // More than the whole body is none of it.
            guard bytes.count + piece.count < head.total ?? .max, piece.withUnsafeBytes({ bytes.append($0) }) else {
                return nil
            }
            offset = end
        }
        guard bytes.count > 0 else { return nil }
        return PartialBody(bytes: bytes, validator: head.validator, owner: head.owner, total: head.total)
    }

    /// True for a file of this user that nobody else can write, and that has one name.
    private static func isOurs(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
            && status.st_nlink == 1
    }

    /// The longest beginning of a file in front of the body.
    private static let maximumHead = 1_024

    /// The lines in front of a body.
    struct Head {
        var validator: String
        /// ``PartialBody/owner``.
        var owner: String
        var total: Int?
        var digest: String
        /// The number of their bytes.
        var count: Int

        init(validator: String, owner: String, total: Int?, digest: String) {
            (self.validator, self.owner, self.total, self.digest) = (validator, owner, total, digest)
            count = 0
            count = text.utf8.count
        }

        /// Parses the lines; `nil` if they aren't there, or damaged.
        init?(_ bytes: some Collection<UInt8>) {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 5, omittingEmptySubsequences: false)
            guard lines.count == 6 else { return nil }
            let total = String(decoding: lines[2], as: UTF8.self)
            guard !lines[0].isEmpty, lines[1].count == 64, total == "-" || Int(total).map({ $0 > 0 }) == true,
                lines[3].count == 64
            else { return nil }
            self.init(
                validator: String(decoding: lines[0], as: UTF8.self),
                owner: String(decoding: lines[1], as: UTF8.self), total: Int(total),
                digest: String(decoding: lines[3], as: UTF8.self))
            guard bytes.starts(with: text.utf8) else { return nil }
        }

        var text: String {
            let lines = "\(validator)\n\(owner)\n\(total.map(String.init) ?? "-")\n\(digest)\n"
            return "\(lines)\(PartialPiece.checksum(Array(lines.utf8)))\n"
        }
    }

    private func openNow(_ key: PartialBodyKey, _ head: Head, continuing partial: PartialBody?) -> PartialFile? {
        mkdir(directory, 0o700)
        clean()
        let path = path(key)
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        var status = stat()
        // The bytes of a body are nobody else's, and nothing is written to a file that has another name.
        guard fstat(descriptor, &status) == 0, Self.isOurs(status) else {
            PartialFile.unlockAndClose(descriptor)
            return nil
        }
        let file = PartialFile(descriptor: descriptor, path: path)
        let head = Data(head.text.utf8)
        if let partial {
            // The file has the bytes already, unless another process has changed it: perhaps to as many of another version.
            var present = [UInt8](repeating: 0, count: head.count)
            let count = present.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
            guard count == head.count, present.elementsEqual(head),
                let end = PartialPiece.end(descriptor, from: head.count, bodyBytes: partial.bytes.count),
                // A piece that was cut or damaged goes.
                ftruncate(descriptor, off_t(end)) == 0, lseek(descriptor, 0, SEEK_END) == end
            else { return file.removedNow() }
            return file
        }
        guard ftruncate(descriptor, 0) == 0, file.writeNow(head) else { return file.removedNow() }
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
            guard Self.isName(name), lstat(path, &status) == 0, Self.isOurs(status) else { continue }
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
#endif
