internal import FoundationEssentials
internal import Glibc

/// The result of a lookup.
enum DiskLookup {
    case found(DiskCacheEntry)
    case none
    /// The disk would have to be waited for.
    case unknown
}

/// Finds entries by their files: it takes no lock that anybody holds for long, and changes nothing.
///
/// Files that are damaged or expired, and the uses of others, are noted for the cache's threads.
final class EntryReader: Sendable {
    /// The largest file that is read on the caller's thread: half of it takes 23 to 30 µs.
    private static let largestReadAtOnce = 512 << 10

    let context: DiskContext
    private let notes: ReadNotes
    /// Encoded entries in memory; `nil` if none are kept.
    let encodedMemory: EncodedMemoryCache?
    let payloadCodec: PayloadCodec?
    let searchPaths = Lock<[DiskCache.SearchPath]>([])

    init(_ context: DiskContext, notes: ReadNotes) {
        self.context = context
        self.notes = notes
        let configuration = context.limits.withLock { $0 }
        payloadCodec = configuration.payloadCodec
        encodedMemory = configuration.encodedMemoryCapacity.map { EncodedMemoryCache(capacity: $0.bytes) }
    }

    // MARK: Entries

    /// Looks up a key without waiting for the disk.
    func entryAtOnce(forKey key: ImageKey) -> DiskLookup {
        guard let directory = context.directory.withLock({ $0 }) else {
            return count(context.hasCertainlyNoDirectory ? .none : .unknown)
        }
        return count(lookUp(key, in: directory, atOnce: true))
    }

    /// Looks up a key. Entries that are expired or damaged are noted, to be removed.
    func entry(forKey key: ImageKey) -> DiskCacheEntry? {
        guard let directory = context.openDirectory() else {
            _ = count(.none)
            return nil
        }
        guard case .found(let entry) = count(lookUp(key, in: directory, atOnce: false)) else { return nil }
        return entry
    }

    private func count(_ lookup: DiskLookup) -> DiskLookup {
        context.counters.withLock { counters in
            switch lookup {
            case .found: counters.hits += 1
            case .none: counters.misses += 1
            case .unknown: break
            }
        }
        return lookup
    }

    /// Looks up a key, then the digest that it may have been imported by.
    private func lookUp(_ key: ImageKey, in directory: OpenDirectory, atOnce: Bool) -> DiskLookup {
        let lookup = read(key, in: directory, atOnce: atOnce)
        guard case .none = lookup, let imported = context.importedKey(key) else { return lookup }
        return read(imported, in: directory, atOnce: atOnce)
    }

    private func read(_ key: ImageKey, in directory: OpenDirectory, atOnce: Bool) -> DiskLookup {
        let name = EntryName(key)
        let kept = encodedMemory?.entry(name, key: key)
        do throws(FileError) {
            // A codec may take its time.
            let limit = atOnce ? (payloadCodec == nil || kept != nil ? Self.largestReadAtOnce : 0) : nil
            let contents = try name.withPath { path throws(FileError) in
                try directory.contents(of: path, withoutWaiting: limit, known: kept?.status)
            }
            switch consume contents {
            case .missing: return .none
            case .unavailable: return .unknown
            case .known(let status):
                guard let kept else { return .unknown }
                return use(kept.entry, stored: kept.stored, name, status)
            case .bytes(let bytes, let status):
                switch bytes.withUnsafeBytes({ EntryFile.contents($0, key: key) }) {
                case .foreign: return .none
                case .damaged:
                    notes.discard(name, status, isDamaged: true)
                    return .none
                case .entry(let description):
                    guard description.codec == payloadCodec?.identifier else { return .none }
                    var entry = description.entry
                    entry.data = bytes.data(prefix: description.payloadSize)
                    let lookup = use(entry, stored: description.stored, name, status)
                    guard case .found = lookup, payloadCodec != nil || encodedMemory != nil else { return lookup }
                    guard let decoded = decoded(entry) else {
                        notes.discard(name, status, isDamaged: true)
                        return .none
                    }
                    encodedMemory?.keep(decoded, name: name, key: key, status: status, stored: description.stored)
                    return .found(decoded)
                }
            }
        } catch {
            if atOnce { return .unknown }
            if error.code == EIO, let status = try? directory.status(of: name) {
                // The medium is bad, or the name is that of a folder.
                notes.discard(name, status, isDamaged: true)
            } else if error.code != ELOOP {
                context.note("\(context.path): \(error)", cause: error.cause)
            }
            return .none
        }
    }

    /// Counts an entry as used, unless it has expired.
    private func use(
        _ entry: DiskCacheEntry, stored: Int64, _ name: EntryName, _ status: FileStatus
    ) -> DiskLookup {
        let aging = Aging(context)
        guard !isExpired(entry, stored: stored, name, modified: status.modified, aging) else {
            notes.discard(name, status, isDamaged: false)
            return .none
        }
        // A time in the future is renewed, too: the hand takes it for the oldest.
        let age = aging.time - status.modified
        if age < -2_000_000 || age >= aging.tolerance(idleLifetime: entry.idleLifetime) {
            notes.noteUse(of: name, at: aging.time)
        }
        return .found(entry)
    }

    // MARK: Questions

    /// False if there is certainly no entry; `nil` if that can't be told without waiting for the disk.
    func containsAtOnce(_ key: ImageKey) -> Bool? {
        guard let directory = context.directory.withLock({ $0 }) else {
            return context.hasCertainlyNoDirectory ? false : nil
        }
        guard context.importedKey(key) == nil,
            case .missing = try? directory.contents(of: EntryName(key).path, withoutWaiting: 0)
        else { return nil }
        return false
    }

    /// The name of the valid entry under a key, or under the digest that it was imported by.
    func validName(forKey key: ImageKey) -> EntryName? {
        guard let directory = context.openDirectory() else { return nil }
        let aging = Aging(context)
        for key in [key, context.importedKey(key)].compactMap(\.self) {
            let name = EntryName(key)
            guard let (description, status) = (try? directory.description(of: name.path)) ?? nil,
                description.belongs(to: key), description.codec == payloadCodec?.identifier,
                !isExpired(description.entry, stored: description.stored, name, modified: status.modified, aging)
            else { continue }
            return name
        }
        return nil
    }

    func contains(_ key: ImageKey) -> Bool { validName(forKey: key) != nil }

    /// The names of all entries of a source: the source's folder knows them all.
    func names(ofSource source: String, in directory: OpenDirectory) throws(FileError) -> [EntryName] {
        let original = EntryName(source: source)
        var files: [String] = []
        do throws(FileError) {
            files = try directory.list(EntryName.folderPath(original.folder))
        } catch {
            guard error.isMissing else { throw error }
        }
        let prefix = original.text.utf8.prefix(32)
        let names = files.compactMap { $0.utf8.starts(with: prefix) ? EntryName($0) : nil }
        guard let imported = context.importedKey(ImageKey(source: source)) else { return names }
        return names + [EntryName(imported)]
    }

    /// The entries of a source, with their names.
    func descriptions(ofSource source: String) -> [(name: EntryName, description: EntryFile.Description)] {
        guard let directory = context.openDirectory() else { return [] }
        return ((try? names(ofSource: source, in: directory)) ?? []).compactMap { name in
            ((try? directory.description(of: name.path)) ?? nil).map { (name, $0.0) }
        }
    }

    func variants(ofSource source: String) -> [ImageVariant] {
        descriptions(ofSource: source).compactMap { _, description in
            let key = ImageKey(source: source, variant: description.key.variant)
            return description.belongs(to: key) ? key.variant : nil
        }
    }

    // MARK: Checking

    /// Reads all files of a folder completely, and notes those that are damaged.
    func verify(folder: Int) -> CacheVerification {
        var report = CacheVerification()
        guard let directory = context.openDirectory() else { return report }
        let path = EntryName.folderPath(folder)
        for name in ((try? directory.list(path)) ?? []).compactMap({ EntryName($0) }) {
            guard let (size, damage) = check(name, in: directory) else { continue }
            report.checked.entries += 1
            report.checked.bytes += size
            guard let (key, status) = damage else { continue }
            report.damaged.append(key)
            notes.discard(name, status, isDamaged: true)
        }
        return report
    }

    /// Reads a file completely.
    /// - Returns: the space that it takes, and its key and status if it is damaged; `nil` if it is gone or can't be read now.
    private func check(
        _ name: EntryName, in directory: OpenDirectory
    ) -> (size: Int, damage: (key: ImageKey, status: FileStatus)?)? {
        do throws(FileError) {
            guard case .bytes(let bytes, let status) = try directory.contents(of: name.path) else { return nil }
            let contents = bytes.withUnsafeBytes { EntryFile.contents($0, key: nil) }
            guard case .damaged = contents else { return (status.allocatedSize, nil) }
            let description = (try? directory.description(of: name.path)) ?? nil
            return (status.allocatedSize, (description?.0.key ?? ImageKey(source: name.path), status))
        } catch {
            guard error.code == EIO, let status = try? directory.status(of: name) else { return nil }
            return (status.allocatedSize, (ImageKey(source: name.path), status))
        }
    }

    // MARK: Age

    /// Returns true if an entry has expired.
    /// - Parameters:
    ///   - stored: the time of storing, in microseconds since 1970.
    ///   - modified: the time of the file, which is that of the last use.
    func isExpired(
        _ entry: DiskCacheEntry, stored: Int64, _ name: EntryName, modified: Int64, _ aging: Aging,
        sweeping: Bool = false
    ) -> Bool {
        if let expires = entry.expires, expires.cacheTime <= aging.time { return true }
        // A time in the future counts as now.
        func lastAccess() -> Int64 { min(aging.time, max(modified, notes.lastUse(of: name) ?? 0)) }
        if let lifetime = entry.idleLifetime, Aging.isOld(lastAccess(), aging.time - lifetime.cacheTime) {
            return true
        }
        guard let bound = aging.bound(sweeping: sweeping) else { return false }
        switch aging.expiry {
        case .byCreation: return entry.created.cacheTime <= bound
        case .byModification: return Aging.isOld(stored, bound)
        case .byAccess: return Aging.isOld(modified, bound) && Aging.isOld(lastAccess(), bound)
        }
    }
}

/// The age at which entries expire now.
struct Aging {
    let expiry: DiskCache.Configuration.Expiry
    /// The present, in microseconds since 1970.
    let time: Int64
    private let maximumAge: Duration?
    private let renewalAge: Int64

    init(_ context: DiskContext) {
        renewalAge = context.renewalAge
        (maximumAge, expiry) = context.limits.withLock { ($0.maximumAge, $0.expiry) }
        time = context.time
    }

    /// The time at which and before which entries are too old; `nil` if no age is.
    func bound(sweeping: Bool) -> Int64? {
        guard let maximumAge, maximumAge >= .zero else { return nil }
        // With an age of zero, entries live until the next sweep.
        if maximumAge == .zero, !sweeping { return nil }
        return time - maximumAge.cacheTime
    }

    /// Returns true if a time is not after the bound, to the millisecond: entries that are stored at the same time have different times.
    static func isOld(_ time: Int64, _ bound: Int64) -> Bool { time / 1_000 <= bound / 1_000 }

    /// The microseconds by which the time of a file may be earlier than the last use: an eighth of the age at which entries go.
    func tolerance(idleLifetime: Duration?) -> Int64 {
        var tolerance = renewalAge
        if let idleLifetime { tolerance = min(tolerance, idleLifetime.cacheTime / 8) }
        if expiry == .byAccess, let maximumAge, maximumAge > .zero {
            tolerance = min(tolerance, maximumAge.cacheTime / 8)
        }
        return tolerance
    }
}
