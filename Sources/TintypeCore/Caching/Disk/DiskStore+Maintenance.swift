internal import FoundationEssentials

/// What is done in the background, one slice at a time.
extension DiskStore {
    /// Files without a row are taken for lost only at this age: younger ones may be about to get theirs.
    static let orphanAge = 300
    /// So many lost files are removed at a time.
    static let orphanBatch = 1_000
    /// 16 MB: pages that several transactions changed are written once, and a log that a process left when it was killed
    /// is read in 10 to 20 ms.
    static let usualLogLimit = 4_096

    /// Whether the log of the index is long enough for ``checkpoint()``; tells it once.
    func takeDueCheckpoint() -> Bool {
        isCheckpointDue.withLock { isDue in
            defer { isDue = false }
            return isDue
        }
    }

    /// Brings what the log of the index has into the index.
    ///
    /// This waits for the disk, twice. So it has a connection of its own, and takes neither ``writer`` nor the
    /// ``WriteLock``: others store and read meanwhile.
    func checkpoint() {
        do throws(SQLiteError) {
            guard let database = try openDatabase(), case .ours = try DiskIndex.identify(database) else { return }
            try database.checkpoint()
        } catch {
            if error.isCorruption { chores.withLock { $0.indexIsDamaged = true } }
            note("cannot bring the log into \(layout.index): \(error)", cause: "checkpoint \(error.code)")
        }
    }

    /// Puts the files of one directory into an index that was made anew; true if there are more directories to do.
    func rebuildSlice() throws(ImageError) -> Bool {
        let (superseded, isLeft) = try withIndex { index throws(DiskFailure) in
            let state = try indexed { () throws(SQLiteError) in try index.committedState() }
            guard state.rebuildShard < DiskIndexSchema.shards else { return ([StoredFile](), false) }
            let found = filesWithDescription(inShard: state.rebuildShard)
            let superseded = try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in
                    try index.setShards(rebuild: state.rebuildShard + 1, orphan: state.orphanShard)
                    var superseded: [StoredFile] = []
                    for row in found { superseded += try adopt(row, into: index) }
                    return superseded
                }
            }
            return (superseded, true)
        }
        removeFiles(superseded)
        if !isLeft { try enforceLimits() }
        return isLeft
    }

    /// Makes a row for a file that was found; of two files with one key the later counts. Tells the files that do not.
    /// - Parameter table: one that agrees with the index and knows the file, to see that there is no other of its key.
    func adopt(
        _ row: IndexRow, into index: DiskIndex, _ table: EntryTable? = nil
    ) throws(SQLiteError) -> [StoredFile] {
        if let table, table.isOnly(row.id, hash: DiskIndexSchema.hash(row.key)) {
            try index.insert(row)
            return []
        }
        let known = try index.files(forKey: row.key)
        guard !known.contains(where: { $0.id == row.id }) else { return [] }
        guard known.allSatisfy({ $0.id < row.id }) else {
            let file = StoredFile(id: row.id, size: row.fileSize, hash: DiskIndexSchema.hash(row.key))
            index.noteGone(file)
            return [file]
        }
        let superseded = try known + importedFiles(row.key, index)
        for file in superseded { _ = try index.remove(file) }
        try index.insert(row)
        return superseded
    }

    /// The file that a key was imported with.
    func importedFiles(_ key: ImageKey, _ index: DiskIndex) throws(SQLiteError) -> [StoredFile] {
        guard let imported = importedKey(key) else { return [] }
        return try index.files(forKey: imported)
    }

    /// What the files of one directory say of themselves, without a look at their images.
    private func filesWithDescription(inShard shard: Int64) -> [IndexRow] {
        let names = (try? files.list(layout.shard(shard))) ?? []
        return names.compactMap { name in
            guard let id = layout.id(ofFile: name) else { return nil }
            return description(ofFile: id)?.row
        }
    }

    /// What a file says of itself, without a look at its image; `nil` if it is not there or damaged.
    func description(ofFile id: Int64) -> (row: IndexRow, entry: DiskCacheEntry)? {
        let path = layout.file(id)
        guard
            let status = try? files.status(path), status.size >= EntryFile.footerSize,
            let end = try? files.read(path, from: status.size - EntryFile.footerSize, count: EntryFile.footerSize),
            let footer = EntryFile.Footer(end, fileSize: status.size),
            let bytes = try? files.read(path, from: footer.payloadSize, count: footer.descriptionSize),
            let found = EntryFile.read(description: bytes, footer: footer)
        else { return nil }
        let row = IndexRow(
            id: id, key: found.key, entry: found.entry, payloadSize: footer.payloadSize, fileSize: footer.fileSize,
            checksum: footer.payloadChecksum, accessed: Int64(status.modified) * 1_000_000, transform: found.transform)
        return (row, found.entry)
    }

    /// Removes files without a row from one directory; the next call looks at the next one.
    func removeOrphans() throws(ImageError) {
        guard (try? files.status(layout.index)) != nil else { return }
        try withIndex { index throws(DiskFailure) in
            // First the rows of files that wait for them.
            try change(index) { () throws(DiskFailure) in }
            let state = try indexed { () throws(SQLiteError) in try index.committedState() }
            // Until the rebuild is through, a file without a row is not lost.
            guard state.rebuildShard >= DiskIndexSchema.shards else { return }
            let shard = state.orphanShard & (DiskIndexSchema.shards - 1)
            let oldest = Int(now().timeIntervalSince1970) - Self.orphanAge
            var left = Self.orphanBatch
            for name in (try? files.list(layout.shard(shard))) ?? [] where left > 0 {
                let path = "\(layout.shard(shard))/\(name)"
                if let id = layout.id(ofFile: name),
                    try indexed({ () throws(SQLiteError) in try index.file(id) }) != nil
                {
                    continue
                }
                guard let status = try? files.status(path), status.modified < oldest else { continue }
                try? files.remove(path)
                left -= 1
            }
            guard left > 0 else { return }
            try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in
                    try index.setShards(rebuild: state.rebuildShard, orphan: shard + 1)
                }
            }
        }
    }

    /// Reads the next entries completely, and drops the damaged ones. Tells where to go on; `nil` at the end.
    func verify(after id: Int64, limit: Int, report: inout CacheVerification) throws(ImageError) -> Int64? {
        let rows = withReader { reader throws(SQLiteError) in try reader.rows(after: id, limit: limit) } ?? []
        for row in rows {
            let payload: Data?
            do throws(FileError) {
                payload = try self.payload(of: row)
            } catch {
                // Removed meanwhile, or not readable now; only the former is damage if the row is still there.
                guard error.isMissing else { continue }
                payload = nil
            }
            report.checked.entries += 1
            report.checked.bytes += row.fileSize
            guard payload == nil else { continue }
            drop(row, isDamaged: true)
            report.damaged.append(row.key)
        }
        try doChores()
        return rows.last?.id
    }
}
