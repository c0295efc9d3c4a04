internal import CSQLite
internal import FoundationEssentials

extension DiskStore {
    func remove(_ key: ImageKey) throws(ImageError) -> Bool {
        try !remove { index throws(SQLiteError) in
            try index.remove(index.files(forKey: key) + importedFiles(key, index))
        }.isEmpty
    }

    func removeAll(ofSource source: String) throws(ImageError) -> Int {
        try remove { index throws(SQLiteError) in
            try index.remove(index.files(ofSource: source) + importedFiles(ImageKey(source: source), index))
        }.count
    }

    /// Runs what removes rows, and then removes their files.
    func remove(
        _ removeRows: (DiskIndex) throws(SQLiteError) -> [StoredFile]
    ) throws(ImageError) -> [StoredFile] {
        // Removing from a cache that is not there makes none.
        guard (try? files.status(layout.index)) != nil else { return [] }
        let removed = try withIndex { index throws(DiskFailure) in
            try change(index) { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in try removeRows(index) }
            }
        }
        removeFiles(removed)
        return removed
    }

    /// Removes everything from sight, in a time that does not depend on how much there is; ``emptyTrash(limit:)`` gives
    /// the space back.
    func removeAll() throws(ImageError) {
        guard (try? files.status(layout.index)) != nil else { return }
        chores.withLock { $0 = Chores() }
        encodedMemory?.removeAll()
        try? files.remove(layout.imports)
        checkImports()
        try withIndex { index throws(DiskFailure) in
            try exclusively(index) { () throws(DiskFailure) in
                do throws(DiskFailure) {
                    try removeAll(index)
                } catch {
                    guard case .index(let error) = error, error.primaryCode == SQLITE_FULL else { throw error }
                    // The disk is full to the last page, and the transaction needs some. Whoever looks for a row whose
                    // file has gone finds nothing, so the files may go first.
                    try? files.rename(layout.data, to: layout.trash(DiskLayout.newID(at: time, hash: 0)))
                    while emptyTrash(limit: 1_000) {}
                    try removeAll(index)
                }
            }
            try? files.makeDirectory(layout.data)
        }
    }

    private func removeAll(_ index: DiskIndex) throws(DiskFailure) {
        try changeExclusively(index, isRemovingAll: true) { () throws(DiskFailure) in
            // Whoever writes an entry looks for its file once it is in its own transaction, so none is lost
            // unnoticed.
            let trash = layout.trash(DiskLayout.newID(at: time, hash: .random(in: .min ... .max)))
            do throws(FileError) {
                try files.rename(layout.data, to: trash)
            } catch {
                guard error.isMissing else { throw .file(error) }
            }
            do throws(SQLiteError) { try index.removeAll() } catch {
                try? files.rename(trash, to: layout.data)
                throw .index(error)
            }
        }
    }

    /// Removes up to `limit` files of what ``removeAll()`` put away; true if more may be left.
    func emptyTrash(limit: Int) -> Bool {
        var left = limit
        let names = ((try? files.list(layout.directory)) ?? []).filter { $0.hasPrefix(DiskLayout.trashPrefix) }
        for name in names {
            let trash = "\(layout.directory)/\(name)"
            for shard in (try? files.list(trash)) ?? [] {
                for file in (try? files.list("\(trash)/\(shard)")) ?? [] {
                    guard left > 0 else { return true }
                    left -= 1
                    try? files.remove("\(trash)/\(shard)/\(file)")
                }
                try? files.removeDirectory("\(trash)/\(shard)")
            }
            try? files.removeDirectory(trash)
        }
        return false
    }

    /// Removes up to `limit` entries that are too old, or whose own end has come.
    func removeExpired(limit: Int) throws(ImageError) -> CacheSweep {
        try doChores()
        let time = time
        let removed = try remove { index throws(SQLiteError) in
            if limits.withLock({ $0.expiry }) == .byCreation { try index.makeCreatedIndex() }
            var expired = try index.files(where: "expires <= ?1", time, limit: limit)
            if expired.count < limit {
                expired += try index.files(
                    where: "lifetime IS NOT NULL AND accessed + lifetime <= ?1", time, limit: limit - expired.count)
            }
            if let bound = ageBound(at: time, sweeping: true), expired.count < limit {
                let (condition, value) =
                    switch limits.withLock({ $0.expiry }) {
                    case .byAccess: ("accessed <= ?1", bound)
                    case .byCreation: ("created <= ?1", bound)
                    case .byModification: ("id < ?1", DiskLayout.firstID(after: bound))
                    }
                expired += try index.files(where: condition, value, limit: limit - expired.count)
            }
            return try index.remove(expired)
        }
        return CacheSweep(files: removed.count, bytes: removed.reduce(0) { $0 + $1.size })
    }
}
