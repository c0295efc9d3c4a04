internal import FoundationEssentials
internal import Glibc

/// What a lookup came to.
enum DiskLookup {
    case found(DiskCacheEntry)
    case none
    /// It would have to wait for the disk.
    case unknown
}

extension DiskStore {
    /// The largest file that is read on the caller's thread: half of it takes 23 to 30 µs.
    static let largestReadAtOnce = 512 << 10

    // MARK: Entries

    /// The entry under a key, if that can be told without waiting.
    func entryAtOnce(forKey key: ImageKey) -> DiskLookup {
        let lookup: DiskLookup
        if let table = tableAtOnce() {
            lookup = findAnyhow(key, in: table, withoutWaiting: Self.largestReadAtOnce)
        } else {
            lookup = isEmptyAtOnce ? .none : .unknown
        }
        count(lookup)
        return lookup
    }

    /// The entry under a key, if it is there, valid and whole. Others are noted for the writer to drop.
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        var lookup = DiskLookup.unknown
        if let table = openTable() {
            lookup = findAnyhow(key, in: table, withoutWaiting: nil)
        } else if isEmpty {
            lookup = .none
        }
        if case .unknown = lookup {
            let found = readEntry(forKey: key) ?? importedKey(key).flatMap { readEntry(forKey: $0) }
            lookup = found.map(DiskLookup.found) ?? .none
        }
        count(lookup)
        if case .found(let entry) = lookup { return entry }
        return nil
    }

    private func count(_ lookup: DiskLookup) {
        counters.withLock { counters in
            switch lookup {
            case .found: counters.hits += 1
            case .none: counters.misses += 1
            case .unknown: break
            }
        }
    }

    /// Looks up a key, or the digest that it was imported by.
    private func findAnyhow(_ key: ImageKey, in table: EntryTable, withoutWaiting limit: Int?) -> DiskLookup {
        let lookup = find(key, in: table, withoutWaiting: limit)
        guard case .none = lookup, let imported = importedKey(key) else { return lookup }
        return find(imported, in: table, withoutWaiting: limit)
    }

    /// What an original is known by if it was imported without its key; `nil` if nothing was.
    func importedKey(_ key: ImageKey) -> ImageKey? {
        key.variant.isOriginal && hasImports ? SDWebImageName.importedKey(forKey: key.source) : nil
    }

    /// Looks up a key in the table and reads its file.
    /// - Returns: `unknown` if only the index can tell.
    private func find(_ key: ImageKey, in table: EntryTable, withoutWaiting limit: Int?) -> DiskLookup {
        let hash = DiskIndexSchema.hash(key)
        var bound = Int64.max
        var missing: Int64?
        while let id = table.newest(hash, before: bound) {
            if let kept = encodedMemory?.entry(id, key: key), isExpired(kept, id: id, key: nil) == false {
                noteAccess(id)
                return .found(kept)
            }
            // A transform may take its time.
            if limit != nil, payloadCodec != nil { return .unknown }
            do throws(FileError) {
                guard let bytes = try files.contents(layout.file(id), withoutWaiting: limit) else { return .unknown }
                switch bytes.withUnsafeBytes({ EntryFile.contents($0, key: key) }) {
                case .foreign: bound = id
                case .damaged:
                    drop(id, hash: hash, isDamaged: true)
                    return .none
                case .entry(var entry, let payloadSize, let transformed):
                    guard transformed == payloadCodec?.identifier else { return .none }
                    guard let isExpired = isExpired(entry, id: id, key: limit == nil ? key : nil) else {
                        return .unknown
                    }
                    guard !isExpired else {
                        drop(id, hash: hash, isDamaged: false)
                        return .none
                    }
                    noteAccess(id)
                    entry.data = bytes.data(prefix: payloadSize)
                    guard let decoded = self.decoded(entry) else {
                        drop(id, hash: hash, isDamaged: true)
                        return .none
                    }
                    encodedMemory?.keep(decoded, id: id, key: key)
                    return .found(decoded)
                }
            } catch {
                if limit != nil { return .unknown }
                guard error.isMissing || error.code == EIO else {
                    note("\(error)", cause: error.cause)
                    return .none
                }
                guard error.isMissing else {
                    drop(id, hash: hash, isDamaged: true)
                    return .none
                }
                // Somebody may have replaced the entry just now: then there is a newer file.
                guard missing == id else {
                    missing = id
                    continue
                }
                drop(id, hash: hash, isDamaged: true)
                bound = id
            }
        }
        return missing == nil ? .none : .unknown
    }

    /// Reads by way of the index.
    private func readEntry(forKey key: ImageKey) -> DiskCacheEntry? {
        var missing: Int64?
        while true {
            guard let row = withReader({ reader throws(SQLiteError) in try reader.row(forKey: key) }), let row else {
                return nil
            }
            guard row.transform == payloadCodec?.identifier else { return nil }
            guard !isExpired(row) else {
                drop(row, isDamaged: false)
                return nil
            }
            do throws(FileError) {
                guard let data = try payload(of: row), let entry = self.decoded(row.entry(data: data)) else {
                    drop(row, isDamaged: true)
                    return nil
                }
                noteAccess(row.id)
                return entry
            } catch {
                // Between the row and the file somebody may have replaced the entry: then there is another row now.
                guard error.isMissing, missing != row.id else {
                    if error.isMissing {
                        drop(row, isDamaged: true)
                    } else {
                        note("\(error)", cause: error.cause)
                    }
                    return nil
                }
                missing = row.id
            }
        }
    }

    /// The bytes of an entry; `nil` if they are not what was written.
    func payload(of row: IndexRow) throws(FileError) -> Data? {
        do throws(FileError) {
            let data = try files.read(layout.file(row.id), count: row.payloadSize, fileSize: row.fileSize)
            return EntryFile.checksum(data) == row.checksum ? data : nil
        } catch {
            // The size is wrong, or the medium is bad.
            if error.code == EIO { return nil }
            throw error
        }
    }

    // MARK: Whether there is an entry

    /// False if the table knows that there is none; `nil` if that is not as easily told.
    func containsAtOnce(_ key: ImageKey) -> Bool? {
        guard let table = tableAtOnce() else { return isEmptyAtOnce ? false : nil }
        if let imported = importedKey(key), table.newest(DiskIndexSchema.hash(imported)) != nil { return nil }
        return table.newest(DiskIndexSchema.hash(key)) == nil ? false : nil
    }

    func contains(_ key: ImageKey) -> Bool { file(ofKey: key) != nil }

    /// The id of the file under a key, or under the digest that it was imported by, if it is valid.
    func file(ofKey key: ImageKey) -> Int64? {
        file(ofExactly: key) ?? importedKey(key).flatMap { file(ofExactly: $0) }
    }

    private func file(ofExactly key: ImageKey) -> Int64? {
        if let table = openTable() {
            var bound = Int64.max
            while let id = table.newest(DiskIndexSchema.hash(key), before: bound) {
                bound = id
                guard let (row, entry) = description(ofFile: id), row.key == key else { continue }
                let isValid = row.transform == payloadCodec?.identifier && isExpired(entry, id: id, key: key) == false
                return isValid ? id : nil
            }
        }
        guard let row = withReader({ reader throws(SQLiteError) in try reader.row(forKey: key) }), let row else {
            return nil
        }
        return row.transform == payloadCodec?.identifier && !isExpired(row) ? row.id : nil
    }

    // MARK: Age

    private func isExpired(_ row: IndexRow) -> Bool {
        let time = time
        if let expires = row.expires, expires <= time { return true }
        if let lifetime = row.lifetime, lastAccess(row) <= time - lifetime { return true }
        guard let bound = ageBound(at: time, sweeping: false) else { return false }
        switch limits.withLock({ $0.expiry }) {
        case .byCreation: return row.created <= bound
        case .byModification: return row.id < DiskLayout.firstID(after: bound)
        case .byAccess: return lastAccess(row) <= bound
        }
    }

    private func lastAccess(_ row: IndexRow) -> Int64 {
        max(row.accessed, chores.withLock { $0.accessTimes[row.id] } ?? 0)
    }

    /// Whether what a file says is too old.
    /// - Parameter key: to ask the index for the last access if need be.
    /// - Returns: `nil` if the index needs to be asked and may not.
    private func isExpired(_ entry: DiskCacheEntry, id: Int64, key: ImageKey?) -> Bool? {
        let time = time
        if let expires = entry.expires, expires.cacheTime <= time { return true }
        var oldestAccess = entry.idleLifetime.map { time - $0.cacheTime }
        if let bound = ageBound(at: time, sweeping: false) {
            switch limits.withLock({ $0.expiry }) {
            case .byCreation: if entry.created.cacheTime <= bound { return true }
            case .byModification: if id < DiskLayout.firstID(after: bound) { return true }
            case .byAccess: oldestAccess = max(bound, oldestAccess ?? bound)
            }
        }
        guard let oldestAccess else { return false }
        let known = max(DiskLayout.time(of: id), chores.withLock { $0.accessTimes[id] } ?? 0)
        if known > oldestAccess { return false }
        guard let key else { return nil }
        let row = withReader { reader throws(SQLiteError) in try reader.row(forKey: key) } ?? nil
        guard let row, row.id == id else { return true }
        return isExpired(row)
    }

    /// Entries of this time and older are too old; `nil` if no age is.
    func ageBound(at time: Int64, sweeping: Bool) -> Int64? {
        guard let maximumAge = limits.withLock({ $0.maximumAge }), maximumAge >= .zero else { return nil }
        // With an age of zero entries live until the next sweep.
        if maximumAge == .zero, !sweeping { return nil }
        return time - Int64(min(maximumAge.inSeconds, 1e12) * 1e6)
    }

    // MARK: For the writer

    func drop(_ row: IndexRow, isDamaged: Bool) {
        drop(row.id, hash: DiskIndexSchema.hash(row.key), isDamaged: isDamaged)
    }

    private func drop(_ id: Int64, hash: Int64, isDamaged: Bool) {
        chores.withLock { $0.drops[id] = Drop(hash: hash, isDamaged: isDamaged) }
    }

    /// Whether the writer has something to do that should not wait for the next store. True once, until it is done.
    func takeUrgentChores() -> Bool {
        let time = time
        return chores.withLock { chores in
            guard !chores.isScheduled else { return false }
            chores.isScheduled = chores.hasDrops || chores.accessTimes.areDue(at: time)
            return chores.isScheduled
        }
    }
}
