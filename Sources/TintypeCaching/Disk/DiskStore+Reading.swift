internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The result of a lookup.
enum DiskLookup {
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
        let open = limit == nil ? openDirectory() : directory.withLock { $0 }
        guard let directory = open else { return limit == nil || hasCertainlyNoDirectory ? .none : .unknown }
        let name = EntryName(key)
        do throws(FileError) {
            let file = try directory.read(
                name, for: key, withoutWaiting: payloadCodec == nil ? limit : limit.map { _ in 0 })
            guard let (data, status, contents) = file else {
                // The kept descriptor may be of a directory that was removed, and made anew by others.
                return limit != nil && directory.isRemoved ? .unknown : .none
            }
            func stale(isDamaged: Bool) -> DiskLookup {
                .stale(StaleFile(name: name, status: status, isDamaged: isDamaged))
            }
            switch contents {
            case .foreign: return .none
            case .damaged: return stale(isDamaged: true)
            case .entry(let description):
                guard description.codec == payloadCodec?.identifier else { return .none }
                let aging = Aging(self)
                if aging.isExpired(description, modified: status.modified) { return stale(isDamaged: false) }
                guard let decoded = decoded(description.entry(with: data)) else { return stale(isDamaged: true) }
                // A time in the future is renewed, too: the hand takes it for the oldest.
                let age = aging.time - status.modified
                let isOld =
                    age < -EvictionHand.clockTolerance || age >= aging.tolerance(idleLifetime: decoded.idleLifetime)
                if isOld, directory.reasonAgainstWriting == nil { directory.setTime(aging.time, of: name) }
                return .found(decoded)
            }
        } catch {
            if limit != nil { return .unknown }
            if error.code != ELOOP { note("\(path): \(error)", cause: error.cause) }
            return .none
        }
    }

    /// The name of the valid entry under a key.
    func validName(forKey key: ImageKey) -> EntryName? {
        let name = EntryName(key)
        guard let (description, status) = openDirectory()?.description(of: name), description.belongs(to: key),
            description.codec == payloadCodec?.identifier,
            !Aging(self).isExpired(description, modified: status.modified)
        else { return nil }
        return name
    }

    /// The names of all entries of a source: the source's folder knows them all.
    func names(ofSource source: String, in directory: OpenDirectory) throws(FileError) -> [EntryName] {
        let original = EntryName(source: source)
        return try directory.names(inFolder: original.folder, ofSource: original.source)
    }

    /// Reads all files of a folder completely.
    func verify(folder: Int) -> (checked: CacheUsage, damaged: [(StaleFile, ImageKey)]) {
        var (checked, damaged) = (CacheUsage(), [(StaleFile, ImageKey)]())
        guard let directory = openDirectory() else { return (checked, damaged) }
        for name in (try? directory.names(inFolder: folder)) ?? [] {
            guard let (_, status, contents) = (try? directory.read(name, for: nil)) ?? nil else { continue }
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
    private let maximumAge: Duration?
    private let renewalAge: Int64

    init(_ store: DiskStore) {
        renewalAge = store.renewalAge.load(ordering: .relaxed)
        (maximumAge, expiry) = store.limits.withLock { ($0.maximumAge, $0.expiry) }
        time = store.time
    }

    /// Returns true if an entry has expired.
    /// - Parameter modified: the time of the file, its last use.
    func isExpired(_ description: EntryFile.Description, modified: Int64, sweeping: Bool = false) -> Bool {
        let entry = description.entry
        if let expires = entry.expires, expires.cacheTime <= time { return true }
        // A time in the future counts as now.
        let used = min(time, modified)
        if let lifetime = entry.idleLifetime, Self.isOld(used, time - lifetime.cacheTime) { return true }
        guard let bound = bound(sweeping: sweeping) else { return false }
        switch expiry {
        case .byCreation: return entry.created.cacheTime <= bound
        case .byModification: return Self.isOld(description.stored, bound)
        case .byAccess: return Self.isOld(used, bound)
        }
    }

    /// The time at which and before which entries are too old; `nil` if no age is.
    func bound(sweeping: Bool) -> Int64? {
        guard let maximumAge, maximumAge >= .zero else { return nil }
        // With an age of zero, entries live until the next sweep.
        return maximumAge == .zero && !sweeping ? nil : time - maximumAge.cacheTime
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
