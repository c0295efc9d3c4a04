internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The result of a lookup. It is passed on several times, so what it holds isn't in it.
indirect enum DiskLookup {
    case found(DiskCacheEntry)
    case none
    /// The disk would have to be waited for.
    case unknown
    /// A file that is damaged or expired.
    case stale(StaleFile)
}

/// A file that is to be removed, unless it was replaced since it was read.
struct StaleFile: Sendable {
    var name: EntryName
    /// The status of the file that was read. A later file of its name may even have its inode.
    var status: FileStatus
    var isDamaged: Bool
}

/// Finding entries by their files. It changes nothing but the times of files that are used.
extension DiskStore {
    /// The largest file that is read on the caller's thread: half of it takes 23 to 30 µs.
    static let largestReadAtOnce = 512 << 10

    /// Looks up a key.
    /// - Parameter limit: the largest file to read on this thread. What is larger, or would have to wait for the disk or a codec, is
    ///   ``DiskLookup/unknown``. `nil` to read any, and to wait.
    func lookUp(_ key: ImageKey, atOnce limit: Int?) -> DiskLookup {
        let open = limit == nil ? try? existingDirectory() : directory.withLock { $0 }
        guard let directory = open else {
            return limit == nil || OpenDirectory.isMissing(path, faults: faults) ? .none : .unknown
        }
        let name = EntryName(key)
        do throws(FileError) {
            let read = try directory.read(
                name, for: key, withoutWaiting: payloadCodec == nil ? limit : limit.map { _ in 0 })
            guard let file = read else { return limit != nil && wasRemoved(directory) ? .unknown : .none }
            let aging = Aging(self)
            let lookup = lookUp(name, in: file, aging)
            if case .found(let entry) = lookup,
                aging.isRenewalDue(file.status.modified, idleLifetime: entry.idleLifetime),
                directory.reasonAgainstWriting == nil
            {
                directory.setTime(aging.time, of: name.path)
            }
            return lookup
        } catch {
            if limit != nil { return .unknown }
            if error.code != ELOOP { note("\(path): \(error)", cause: error.cause) }
            return .none
        }
    }

    /// The answer that a file gives which was read: its entry only if it is valid, of the cache's codec, and can be decoded.
    func lookUp(
        _ name: EntryName, in file: (data: Data, status: FileStatus, contents: EntryFile.Contents), _ aging: Aging
    ) -> DiskLookup {
        func stale(isDamaged: Bool) -> DiskLookup {
            .stale(StaleFile(name: name, status: file.status, isDamaged: isDamaged))
        }
        switch file.contents {
        case .foreign: return .none
        case .damaged: return stale(isDamaged: true)
        case .entry(let description):
            guard description.codec == payloadCodec?.identifier else { return .none }
            if aging.isExpired(description, modified: file.status.modified) { return stale(isDamaged: false) }
            guard let entry = decoded(description.entry(with: file.data)) else { return stale(isDamaged: true) }
            return .found(entry)
        }
    }

    /// Returns true if the kept directory was removed; others may have made it anew. It asks once a second: to ask takes a fifth of a miss.
    private func wasRemoved(_ directory: OpenDirectory) -> Bool {
        guard (time &- lastQuestion.load(ordering: .relaxed)).magnitude >= 1_000_000 else { return false }
        if directory.isRemoved { return true }
        lastQuestion.store(time, ordering: .relaxed)
        return false
    }

    /// The name of the valid entry under a key.
    func validName(forKey key: ImageKey) -> EntryName? {
        let name = EntryName(key)
        guard let (description, status) = (try? existingDirectory())?.description(of: name),
            description.belongs(to: key), description.codec == payloadCodec?.identifier,
            !Aging(self).isExpired(description, modified: status.modified)
        else { return nil }
        return name
    }

    /// Reads all files of a folder completely.
    func verify(folder: Int) -> (checked: CacheUsage, damaged: [(StaleFile, ImageKey)]) {
        var (checked, damaged) = (CacheUsage(), [(StaleFile, ImageKey)]())
        guard let directory = try? existingDirectory() else { return (checked, damaged) }
        for name in (try? directory.names(inFolder: folder)) ?? [] {
            guard let (_, status, contents) = try? directory.read(name, for: nil) else { continue }
            checked += CacheUsage(entries: 1, bytes: status.allocatedSize)
            guard case .damaged = contents else { continue }
            let key = directory.description(of: name)?.0.key ?? ImageKey(source: name.path)
            damaged.append((StaleFile(name: name, status: status, isDamaged: true), key))
        }
        return (checked, damaged)
    }
}

/// The ages at which entries expire now, and at which a use renews their time.
struct Aging {
    let expiry: DiskCache.Configuration.Expiry
    /// The present, in microseconds since 1970.
    let time: Int64
    /// The time at which and before which entries are too old; `nil` if no age is.
    let bound: Int64?
    private let renewalAge: Int64

    /// - Parameters:
    ///   - sweeping: true for a sweep, which removes entries of a cache whose maximum age is zero.
    ///   - endsOnly: true to ignore the age: only an entry's own end, and its idle lifetime, count.
    init(_ store: DiskStore, sweeping: Bool = false, endsOnly: Bool = false) {
        let (limit, expiry) = store.limits.withLock { ($0.maximumAge, $0.expiry) }
        let maximumAge = endsOnly ? nil : limit
        let time = store.time
        // With an age of zero, entries live until the next sweep.
        bound = maximumAge.flatMap { $0 > .zero || $0 == .zero && sweeping ? time - $0.cacheTime : nil }
        (self.expiry, self.time) = (expiry, time)
        renewalAge = store.renewalAge.load(ordering: .relaxed)
    }

    /// Returns true if an entry has expired.
    /// - Parameter modified: the time of the file, its last use.
    func isExpired(_ description: EntryFile.Description, modified: Int64) -> Bool {
        let entry = description.entry
        if let expires = entry.expires, expires.cacheTime <= time { return true }
        // A time in the future counts as now.
        let used = min(time, modified)
        if let lifetime = entry.idleLifetime, used <= time - lifetime.cacheTime { return true }
        guard let bound else { return false }
        switch expiry {
        case .byCreation: return entry.created.cacheTime <= bound
        case .byModification: return description.stored <= bound
        case .byAccess: return used <= bound
        }
    }

    /// Returns true if a use renews the time of a file: if it is earlier by an eighth of the age at which entries go, or in the future,
    /// which the hand takes for the oldest.
    func isRenewalDue(_ modified: Int64, idleLifetime: Duration?) -> Bool {
        let expiryAge = expiry == .byAccess ? bound.map { time - $0 } : nil
        let tolerance = min(renewalAge, min(idleLifetime?.cacheTime ?? .max, expiryAge ?? .max) / 8)
        return !(-EvictionHand.clockTolerance..<tolerance).contains(time - modified)
    }
}
