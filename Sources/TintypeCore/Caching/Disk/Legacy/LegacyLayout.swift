internal import CSQLite
internal import CXXHash
internal import FoundationEssentials

/// The layout of the directories whose index has version 1 or 2.
///
/// A file there is `data/XX/ID`, where `ID` has 16 hexadecimal digits: the time of storing in milliseconds, then 20 bits of a hash of the key.
/// Its folder is the last byte of the id. Files say themselves whose they are, so they are adopted one by one: renamed to where the
/// present layout has them. Of the old index, which is moved aside, only the times of the last use are read.
enum LegacyLayout {
    static let index = DiskIndex.file
    /// The old index, while files are adopted.
    static let movedIndex = "index.old"
    /// A damaged index: one is kept, for those who want to see what happened.
    static let damagedIndex = "index.damaged"
    static let files = "data"
    /// All that the old layout has besides entries.
    static let leftovers = [
        "table", "table.new", "lock", "write-lock", movedIndex + "-wal", movedIndex + "-shm", movedIndex,
    ]

    private static let tagMask: Int64 = 1 << 20 - 1

    /// The id that a file is named after; `nil` if it is none of this layout.
    static func id(ofFile name: String, inFolder folder: String) -> Int64? {
        guard name.utf8.count == 16, name.utf8.suffix(2).elementsEqual(folder.utf8), let id = Int64(name, radix: 16)
        else { return nil }
        return id
    }

    /// False if a directory has certainly no files of this layout. A folder of their name may be another program's.
    static func mayHaveFiles(_ directory: OpenDirectory) -> Bool {
        guard (try? directory.status(files))?.isDirectory == true else { return false }
        if [movedIndex, index, DiskStore.marker].contains(where: directory.exists) { return true }
        guard let folders = try? directory.list(files) else { return true }
        return folders.contains { folder in
            folder.utf8.count == 2
                && (try? directory.list("\(files)/\(folder)"))?.contains { id(ofFile: $0, inFolder: folder) != nil }
                    ?? false
        }
    }

    /// The last 20 bits of the ids of a key's files.
    static func tag(of key: ImageKey) -> Int64 {
        func hash(_ text: String) -> UInt64 {
            var text = text
            return text.withUTF8 { tintype_xxh3($0.baseAddress, $0.count) }
        }
        var value = hash(key.source) & ~0xFF_FFFF | hash(key.variant.description) >> 40
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
        return Int64(value >> 44)
    }

    /// Gives the old index another name.
    static func moveIndexAway(in directory: OpenDirectory) throws(SQLiteError) {
        try? directory.rename(index, to: movedIndex)
        guard !directory.exists(index) else {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "the old index can't be renamed")
        }
    }

    static func hasTag(_ tag: Int64, _ id: Int64) -> Bool { id & tagMask == tag }

    /// The time of storing, in microseconds since 1970.
    static func time(of id: Int64) -> Int64 { (id >> 20) * 1_000 }

    /// Brings the write-ahead log of an old index into its file, so that the file can be moved.
    static func foldLog(of database: Database) throws(SQLiteError) {
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let statement = try database.prepare("PRAGMA journal_mode = DELETE")
        guard try statement.step(), statement.isText(0, equalTo: "delete") else {
            throw SQLiteError(code: SQLITE_BUSY, message: "an older Tintype uses the index")
        }
    }
}

extension EntryReader {
    /// Looks up a key among the files of the older layout, where they are.
    func legacyEntry(forKey key: ImageKey, in directory: OpenDirectory) -> DiskCacheEntry? {
        let tag = LegacyLayout.tag(of: key)
        let folder = EntryName.hexadecimal(UInt64(tag & 0xFF), digits: 2)
        let path = "\(LegacyLayout.files)/\(folder)"
        let ids = ((try? directory.list(path)) ?? []).compactMap { name in
            LegacyLayout.id(ofFile: name, inFolder: folder).flatMap { LegacyLayout.hasTag(tag, $0) ? (name, $0) : nil }
        }
        for (file, id) in ids.sorted(by: { $0.1 > $1.1 }) {
            guard case .bytes(let bytes, let status) = try? directory.contents(of: "\(path)/\(file)"),
                case .entry(let description) = bytes.withUnsafeBytes({ EntryFile.contents($0, key: key) })
            else { continue }
            guard description.codec == payloadCodec?.identifier else { return nil }
            var entry = description.entry
            entry.data = bytes.data(prefix: description.payloadSize)
            let accessed = max(status.modified, LegacyAccessTimes(directory)?.time(of: id) ?? 0)
            let stored = LegacyLayout.time(of: id)
            guard !isExpired(entry, stored: stored, EntryName(key), modified: accessed, Aging(context)) else {
                return nil
            }
            return decoded(entry)
        }
        // A file of before version 2 may have any id.
        guard let imported = context.importedKey(key) else { return nil }
        return legacyEntry(forKey: imported, in: directory)
    }

    /// The entries of the older layout in a directory that can't be written to, in the order of storing.
    /// - Parameter cursor: the id after which to begin.
    func legacyListings(after cursor: Int64, limit: Int, in directory: OpenDirectory) -> [DiskCache.Listing] {
        let folders = ((try? directory.list(LegacyLayout.files)) ?? []).filter { $0.utf8.count == 2 }
        let files = folders.flatMap { folder in
            ((try? directory.list("\(LegacyLayout.files)/\(folder)")) ?? []).compactMap { name in
                LegacyLayout.id(ofFile: name, inFolder: folder).map { (id: $0, path: "\(folder)/\(name)") }
            }
        }
        let accessTimes = LegacyAccessTimes(directory)
        let known = files.filter { $0.id > cursor }.sorted { $0.id < $1.id }
        let listings = known.lazy.compactMap { id, path -> DiskCache.Listing? in
            let found = (try? directory.description(of: "\(LegacyLayout.files)/\(path)")) ?? nil
            guard let (description, status) = found else { return nil }
            let row = DiskIndex.Row(
                name: EntryName(description.key), id: id, size: status.allocatedSize,
                accessed: max(status.modified, accessTimes?.time(of: id) ?? 0),
                created: description.entry.created.cacheTime)
            return DiskCache.Listing(row, description)
        }
        return Array(listings.prefix(max(0, limit)))
    }
}

extension DiskStore {
    /// Adopts the files of the older layout, if there are any and the directory is the user's own.
    func adoptLegacyFilesIfNeeded() {
        guard let directory = context.openDirectory(), context.mayHaveLegacyFiles,
            directory.reasonAgainstWriting == nil, let prepared = try? directoryForWriting()
        else { return }
        adoptLegacyFiles(in: prepared)
    }

    /// Renames the files of the older layout to where they belong now, and removes what is left of that layout.
    ///
    /// An entry that was stored since stays. If the process is killed meanwhile, the next one goes on.
    func adoptLegacyFiles(in directory: OpenDirectory) {
        guard context.mayHaveLegacyFiles else { return }
        adoption.withLockUnchecked { _ in
            guard context.mayHaveLegacyFiles else { return }
            adoptAll(in: directory)
            context.mayHaveLegacyFiles = false
        }
    }

    private func adoptAll(in directory: OpenDirectory) {
        let accessTimes = LegacyAccessTimes(directory)
        // Folders of that name may belong to another program.
        var isOurs = directory.exists(LegacyLayout.movedIndex)
        for folder in (try? directory.list(LegacyLayout.files)) ?? [] where folder.utf8.count == 2 {
            if adoptLegacyFiles(inFolder: folder, directory, accessTimes) > 0 { isOurs = true }
            if isOurs { try? directory.removeDirectory("\(LegacyLayout.files)/\(folder)") }
        }
        guard isOurs else { return }
        for name in (try? directory.list(".")) ?? [] where name.hasPrefix("trash-") {
            removeLegacyTrash(name, in: directory)
        }
        try? directory.removeDirectory(LegacyLayout.files)
        for name in LegacyLayout.leftovers { try? directory.remove(name) }
    }

    /// - Returns: the number of files of a cache.
    private func adoptLegacyFiles(
        inFolder folder: String, _ directory: OpenDirectory, _ accessTimes: LegacyAccessTimes?
    ) -> Int {
        var count = 0
        let path = "\(LegacyLayout.files)/\(folder)"
        let found = ((try? directory.list(path)) ?? []).compactMap { name in
            LegacyLayout.id(ofFile: name, inFolder: folder).map { (name, $0) }
        }
        // The files of a key are in one folder, and the latest counts.
        for (file, id) in found.sorted(by: { $0.1 > $1.1 }) {
            let file = "\(path)/\(file)"
            guard let (description, status) = (try? directory.description(of: file)) ?? nil else {
                // One that a crash left behind: an entry is complete when it gets its name.
                if let status = try? directory.status(file), status.isRegular, isLegacyRemnant(file, in: directory) {
                    try? directory.remove(file)
                    count += 1
                }
                continue
            }
            count += 1
            adopt(file, EntryName(description.key), in: directory)
            let accessed = max(status.modified, accessTimes?.time(of: id) ?? 0)
            if accessed > status.modified + 1_000_000 {
                directory.setTime(accessed, of: EntryName(description.key))
            }
        }
        return count
    }

    /// Gives a file its present name, unless there is an entry of that name.
    private func adopt(_ file: String, _ name: EntryName, in directory: OpenDirectory) {
        do throws(FileError) {
            let journal = try pending.begin(name, in: directory)
            defer { pending.end(journal, name) }
            do throws(FileError) {
                try directory.renameUnlessExisting(file, to: name.path)
            } catch {
                if error.isExisting { return try directory.remove(file) }
                guard error.isMissing else { throw error }
                try directory.makeFolder(EntryName.folderPath(name.folder))
                try directory.renameUnlessExisting(file, to: name.path)
            }
        } catch {
            // It stays, for another try.
            context.note("\(context.path): \(error)", cause: error.cause)
        }
    }

    /// True if a file without a description is certainly one of a cache: empty, or damaged behind the mark of a complete file.
    private func isLegacyRemnant(_ file: String, in directory: OpenDirectory) -> Bool {
        guard let (bytes, status) = try? directory.tail(of: file, count: EntryFile.marker.count) else {
            return false
        }
        return status.size == 0 || bytes.elementsEqual(EntryFile.marker)
    }

    /// Removes what the older version had cleared.
    private func removeLegacyTrash(_ tree: String, in directory: OpenDirectory) {
        for folder in (try? directory.list(tree)) ?? [] {
            for file in (try? directory.list("\(tree)/\(folder)")) ?? []
            where LegacyLayout.id(ofFile: file, inFolder: folder) != nil {
                try? directory.remove("\(tree)/\(folder)/\(file)")
            }
            try? directory.removeDirectory("\(tree)/\(folder)")
        }
        try? directory.removeDirectory(tree)
    }
}

/// The times of the last use in an old index, in microseconds since 1970.
private final class LegacyAccessTimes {
    private let find: Statement

    /// `nil` if there is no such index, or it can't be read.
    init?(_ directory: OpenDirectory) {
        let isMoved = directory.exists(LegacyLayout.movedIndex)
        guard isMoved || directory.exists(LegacyLayout.index),
            let database = try? Database(
                path: "\(directory.path)/\(isMoved ? LegacyLayout.movedIndex : LegacyLayout.index)",
                mode: isMoved ? .immutable : .readOnly, busyTimeout: 0),
            let find = try? database.prepare("SELECT accessed FROM entries WHERE id = ?1")
        else { return nil }
        self.find = find
    }

    func time(of id: Int64) -> Int64? {
        defer { find.reset() }
        find.bind(1, id)
        guard (try? find.step()) == true else { return nil }
        return find.integer(0)
    }
}
