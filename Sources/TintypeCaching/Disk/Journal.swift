internal import CXXHash
internal import FoundationEssentials
internal import Glibc

/// The names of entries that changed and whose rows are not in the index yet: a file to which only its writer appends.
///
/// The writer holds `flock` on its journal as long as it lives. A journal that can be locked without waiting is dead: its names are looked
/// at by the next batch of any process, which then removes it. A record is a hint, not a fact, so neither order nor repetition matters.
final class Journal: Sendable {
    static let folder = "journal"
    /// The three numbers of a name, and their checksum.
    private static let recordSize = 32
    /// A writer stops long before that.
    private static let maximumSize = 4 << 20
    /// The number of dead journals that are open at a time.
    static let maximumDead = 16

    let writer: WriterName
    private let directory: OpenDirectory
    private let file: Int32
    /// For the thread that appends.
    private let appending = Lock(())
    var path: String { "\(Self.folder)/\(writer)" }

    private init(_ writer: WriterName, file: Int32, directory: OpenDirectory) {
        self.writer = writer
        self.file = file
        self.directory = directory
    }

    /// Nothing is written: a journal that its writer did not remove is a dead one from now on.
    deinit {
        // A process that is being started shares the descriptor, and with it the lock, until it runs its own program.
        flock(file, LOCK_UN)
        close(file)
    }

    /// Creates the journal of a new writer.
    static func create(in directory: OpenDirectory) throws(FileError) -> Journal {
        for _ in 0..<8 {
            let writer = WriterName()
            let path = "\(folder)/\(writer)"
            let file: Int32
            do throws(FileError) {
                file = try directory.openForAppending(path, creating: true)
            } catch {
                guard error.isMissing else { throw error }
                try directory.makeFolder(folder)
                continue
            }
            let journal = Journal(writer, file: file, directory: directory)
            // Between creating and locking it, another process may have taken it for a dead one.
            if flock(file, LOCK_EX | LOCK_NB) == 0, journal.isLinked { return journal }
        }
        throw FileError(operation: "write", path: folder, code: EAGAIN)
    }

    /// False if somebody removed the file.
    private var isLinked: Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_nlink > 0
    }

    func append(_ name: EntryName) throws(FileError) {
        try directory.check("append", path)
        var record = (
            name.sourceHigh.littleEndian, name.sourceLow.littleEndian, name.variant.littleEndian, UInt64(0)
        )
        let code = withUnsafeMutableBytes(of: &record) { bytes -> Int32 in
            let checksum = tintype_xxh3(bytes.baseAddress, 24).littleEndian
            bytes.storeBytes(of: checksum, toByteOffset: 24, as: UInt64.self)
            return appending.withLockUnchecked { _ in write(UnsafeRawBufferPointer(bytes)) }
        }
        guard code == 0 else { throw FileError(operation: "write", path: path, code: code) }
    }

    /// Zero, or the number of the error.
    private func write(_ record: UnsafeRawBufferPointer) -> Int32 {
        while true {
            let count = Glibc.write(file, record.baseAddress, record.count)
            if count == record.count { return 0 }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            // A part of a record would shift those that follow.
            var status = stat()
            if fstat(file, &status) == 0 { ftruncate(file, status.st_size - status.st_size % Self.recordSize) }
            return ENOSPC
        }
    }

    /// Removes the file, once its names are in the index.
    /// - Returns: false if it can't be removed.
    @discardableResult func remove() -> Bool {
        do throws(FileError) {
            try directory.remove(path)
            return true
        } catch {
            return error.isMissing
        }
    }

    /// The names of the journal. Records that are incomplete or damaged are skipped.
    /// - Returns: `nil` for a file that is longer than any journal, or can't be read.
    private var names: [EntryName]? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size <= Self.maximumSize,
            let bytes = try? FileBytes(of: file, count: Int(status.st_size), path: { path })
        else { return nil }
        // A name is worth looking at once.
        var names: Set<EntryName> = []
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start + Self.recordSize <= bytes.count, let base = bytes.baseAddress {
                func number(_ index: Int) -> UInt64 {
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 8 * index, as: UInt64.self))
                }
                guard tintype_xxh3(base + start, 24) == number(3) else {
                    // A part of a record shifts those that follow.
                    start += 1
                    continue
                }
                names.insert(EntryName(sourceHigh: number(0), sourceLow: number(1), variant: number(2)))
                start += Self.recordSize
            }
        }
        return Array(names)
    }

    /// Some of the journals whose writers have ended, with their names; without names if they can't be read. The caller
    /// removes them when the names are in the index.
    static func dead(in directory: OpenDirectory) -> [(journal: Journal, names: [EntryName]?)] {
        var dead: [(journal: Journal, names: [EntryName]?)] = []
        for text in (try? directory.list(folder)) ?? [] where dead.count < maximumDead {
            guard let writer = WriterName(text),
                let file = try? directory.openForAppending("\(folder)/\(text)", creating: false)
            else { continue }
            let journal = Journal(writer, file: file, directory: directory)
            guard flock(file, LOCK_EX | LOCK_NB) == 0, journal.isLinked else { continue }
            dead.append((journal, journal.names))
        }
        return dead
    }
}
