internal import FoundationEssentials
internal import Glibc

/// The result of a lookup.
enum DiskLookup {
    case found(DiskCacheEntry)
    case none
    /// The disk would have to be waited for.
    case unknown
}

extension DiskStore {
    /// The largest file that is read on the caller's thread: half of it takes 23 to 30 µs.
    static let largestReadAtOnce = 512 << 10

    // MARK: Entries

    /// Looks up a key without waiting for the disk.
    func entryAtOnce(forKey key: ImageKey) -> DiskLookup {
        guard let directory = directory.withLock({ $0 }) else {
            return CacheDirectory.isMissing(path, faults: faults) ? count(.none) : .unknown
        }
        return count(lookUp(key, in: directory, atOnce: true))
    }

    /// Looks up a key. Entries that are expired or damaged are noted, to be removed.
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        guard let directory = openDirectory() else {
            _ = count(.none)
            return nil
        }
        guard case .found(let entry) = count(lookUp(key, in: directory, atOnce: false)) else { return nil }
        return entry
    }

    private func count(_ lookup: DiskLookup) -> DiskLookup {
        counters.withLock { counters in
            switch lookup {
            case .found: counters.hits += 1
            case .none: counters.misses += 1
            case .unknown: break
            }
        }
        return lookup
    }

    /// Looks up a key, then the digest that it may have been imported by, then the files of an older layout.
    private func lookUp(_ key: ImageKey, in directory: CacheDirectory, atOnce: Bool) -> DiskLookup {
        let lookup = read(key, in: directory, atOnce: atOnce)
        guard case .none = lookup else { return lookup }
        if let imported = importedKey(key, in: directory) {
            let lookup = read(imported, in: directory, atOnce: atOnce)
            guard case .none = lookup else { return lookup }
        }
        guard directory.mayHaveLegacyFiles.withLock({ $0 }) else { return .none }
        if atOnce { return .unknown }
        return legacyEntry(forKey: key, in: directory).map(DiskLookup.found) ?? .none
    }

    /// The key of an original that was imported without its key; `nil` if nothing was imported.
    func importedKey(_ key: ImageKey, in directory: CacheDirectory) -> ImageKey? {
        guard key.variant.isOriginal, directory.hasImports.withLock({ $0 }) else { return nil }
        return SDWebImageName.importedKey(forKey: key.source)
    }

    private func read(_ key: ImageKey, in directory: CacheDirectory, atOnce: Bool) -> DiskLookup {
        let name = EntryName(key)
        let kept = encodedMemory?.entry(name, key: key)
        do throws(FileError) {
            // A codec may take its time.
            let limit = atOnce ? (payloadCodec == nil || kept != nil ? Self.largestReadAtOnce : 0) : nil
            switch try directory.contents(of: name, withoutWaiting: limit, known: kept?.status) {
            case .unavailable: return .unknown
            case .known(let status):
                guard let kept else { return .unknown }
                return use(kept.entry, stored: kept.stored, name, status)
            case .bytes(let bytes, let status):
                switch bytes.withUnsafeBytes({ EntryFile.contents($0, key: key) }) {
                case .foreign: return .none
                case .damaged:
                    discard(name, inode: status.inode, isDamaged: true)
                    return .none
                case .entry(let description):
                    guard description.codec == payloadCodec?.identifier else { return .none }
                    var entry = description.entry
                    entry.data = bytes.data(prefix: description.payloadSize)
                    let lookup = use(entry, stored: description.stored, name, status)
                    guard case .found = lookup else { return lookup }
                    guard let decoded = decoded(entry) else {
                        discard(name, inode: status.inode, isDamaged: true)
                        return .none
                    }
                    encodedMemory?.keep(decoded, name: name, key: key, status: status, stored: description.stored)
                    return .found(decoded)
                }
            }
        } catch {
            if error.isMissing { return .none }
            if atOnce { return .unknown }
            if error.code == EIO, let status = try? directory.status(of: name) {
                // The medium is bad, or the name is that of a folder.
                discard(name, inode: status.inode, isDamaged: true)
            } else if error.code != ELOOP {
                note("\(path): \(error)", cause: error.cause)
            }
            return .none
        }
    }

    /// Counts an entry as used, unless it has expired.
    private func use(
        _ entry: DiskCacheEntry, stored: Int64, _ name: EntryName, _ status: FileStatus
    ) -> DiskLookup {
        let time = time
        guard !isExpired(entry, stored: stored, name, modified: status.modified, at: time) else {
            discard(name, inode: status.inode, isDamaged: false)
            return .none
        }
        noteAccess(name, modified: status.modified, idleLifetime: entry.idleLifetime, at: time)
        return .found(entry)
    }

    // MARK: Whether there is an entry

    /// False if there is certainly no entry; `nil` if that can't be told without waiting for the disk.
    func containsAtOnce(_ key: ImageKey) -> Bool? {
        guard let directory = directory.withLock({ $0 }) else {
            return CacheDirectory.isMissing(path, faults: faults) ? false : nil
        }
        guard !directory.mayHaveLegacyFiles.withLock({ $0 }), importedKey(key, in: directory) == nil else { return nil }
        do throws(FileError) {
            _ = try directory.contents(of: EntryName(key), withoutWaiting: 0, known: nil)
            return nil
        } catch {
            return error.isMissing ? false : nil
        }
    }

    /// The name of the valid entry under a key, or under the digest that it was imported by.
    func validName(forKey key: ImageKey) -> EntryName? {
        guard let directory = openDirectory() else { return nil }
        for key in [key, importedKey(key, in: directory)].compactMap(\.self) {
            let name = EntryName(key)
            guard let (description, status) = (try? directory.description(of: name.path)) ?? nil,
                description.belongs(to: key), description.codec == payloadCodec?.identifier,
                !isExpired(
                    description.entry, stored: description.stored, name, modified: status.modified, at: time)
            else { continue }
            return name
        }
        return nil
    }

    func contains(_ key: ImageKey) -> Bool {
        if validName(forKey: key) != nil { return true }
        guard let directory = openDirectory(), directory.mayHaveLegacyFiles.withLock({ $0 }) else { return false }
        return legacyEntry(forKey: key, in: directory) != nil
    }

    /// The entries of a source, with their names: the source's folder knows them all.
    func descriptions(ofSource source: String) -> [(name: EntryName, EntryFile.Description, FileStatus)] {
        guard let directory = openDirectory() else { return [] }
        var names = names(ofSource: source, in: directory)
        if let imported = importedKey(ImageKey(source: source), in: directory) { names.append(EntryName(imported)) }
        return names.compactMap { name in
            guard let (description, status) = (try? directory.description(of: name.path)) ?? nil else { return nil }
            return (name, description, status)
        }
    }

    /// The names of all variants of a source.
    func names(ofSource source: String, in directory: CacheDirectory) -> [EntryName] {
        let original = EntryName(source: source)
        let files = (try? directory.list(EntryName.folderPath(original.folder))) ?? []
        let prefix = original.text.utf8.prefix(32)
        return files.compactMap { $0.utf8.starts(with: prefix) ? EntryName($0) : nil }
    }

    // MARK: Age

    /// Returns true if an entry has expired.
    /// - Parameters:
    ///   - stored: the time of storing, in microseconds since 1970.
    ///   - modified: the time of the file, which is that of the last use.
    func isExpired(
        _ entry: DiskCacheEntry, stored: Int64, _ name: EntryName, modified: Int64, at time: Int64
    ) -> Bool {
        if let expires = entry.expires, expires.cacheTime <= time { return true }
        let (bound, expiry) = limits.withLock { (ageBound($0, at: time, sweeping: false), $0.expiry) }
        if entry.idleLifetime == nil, bound == nil { return false }
        // A time in the future counts as now.
        func lastAccess() -> Int64 { min(time, max(modified, notes.withLock { $0.accesses[name]?.time } ?? 0)) }
        if let lifetime = entry.idleLifetime, lastAccess() <= time - lifetime.cacheTime { return true }
        guard let bound else { return false }
        switch expiry {
        case .byCreation: return entry.created.cacheTime <= bound
        case .byModification: return stored / 1_000 <= bound / 1_000
        case .byAccess: return lastAccess() <= bound
        }
    }

    /// The time at which and before which entries are too old; `nil` if no age is.
    func ageBound(_ configuration: DiskCache.Configuration, at time: Int64, sweeping: Bool) -> Int64? {
        guard let maximumAge = configuration.maximumAge, maximumAge >= .zero else { return nil }
        // With an age of zero, entries live until the next sweep.
        if maximumAge == .zero, !sweeping { return nil }
        return time - maximumAge.cacheTime
    }

    // MARK: Notes for the writing threads

    /// Notes that an entry was used. Its file gets the time of the use with the next batch, if its own is older than a minute, or than an
    /// eighth of the time that the entry may be idle.
    private func noteAccess(_ name: EntryName, modified: Int64, idleLifetime: Duration?, at time: Int64) {
        var tolerance: Int64 = 60_000_000
        if let idleLifetime { tolerance = min(tolerance, idleLifetime.cacheTime / 8) }
        let maximumAge = limits.withLock { $0.expiry == .byAccess ? $0.maximumAge : nil }
        if let maximumAge, maximumAge > .zero { tolerance = min(tolerance, maximumAge.cacheTime / 8) }
        let needsFileTime = modified > time || time - modified >= tolerance
        notes.withLock { notes in
            let known = notes.accesses[name]
            guard known != nil || notes.accesses.count < Self.maximumAccesses else { return }
            if notes.accesses.isEmpty { notes.firstAccess = time }
            notes.accesses[name] = Access(time: time, needsFileTime: needsFileTime || known?.needsFileTime == true)
            // The clock may be set back.
            if notes.accesses.count >= Self.dueAccesses || !(0..<60_000_000).contains(time &- notes.firstAccess) {
                notes.isDue = true
            }
        }
    }

    func discard(_ name: EntryName, inode: UInt64, isDamaged: Bool) {
        notes.withLock { notes in
            notes.discards[name] = Discard(inode: inode, isDamaged: isDamaged)
            notes.isDue = true
        }
    }

    /// Returns true, once, if the writing threads should look at the notes now.
    func takeDueNotes() -> Bool {
        notes.withLock { notes in
            defer { notes.isDue = false }
            return notes.isDue
        }
    }
}
