internal import FoundationEssentials
internal import Glibc

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

/// Finds entries by their files. It changes nothing but the times of files that are used.
final class EntryReader: Sendable {
    /// The largest file that is read on the caller's thread: half of it takes 23 to 30 µs.
    static let largestReadAtOnce = 512 << 10

    let context: DiskContext
    let payloadCodec: PayloadCodec?
    let searchPaths = Lock<[DiskCache.SearchPath]>([])

    init(_ context: DiskContext) {
        self.context = context
        payloadCodec = context.limits.withLock { $0.payloadCodec }
    }

    // MARK: Entries

    /// Looks up a key.
    /// - Parameter limit: the largest file to read on this thread. An entry that is larger, or would have to wait for the disk or a
    ///   codec, is ``DiskLookup/unknown``. `nil` to read any, and to wait.
    func lookUp(_ key: ImageKey, atOnce limit: Int?) -> DiskLookup {
        let open = limit == nil ? context.openDirectory() : context.directory.withLock { $0 }
        guard let directory = open else { return limit == nil || context.hasCertainlyNoDirectory ? .none : .unknown }
        let name = EntryName(key)
        let limit = payloadCodec == nil ? limit : limit.map { _ in 0 }
        do throws(FileError) {
            let contents = try name.withPath { path throws(FileError) in
                try directory.contents(of: path, withoutWaiting: limit)
            }
            switch consume contents {
            case .missing: return .none
            case .unavailable: return .unknown
            case .bytes(let bytes, let status):
                switch bytes.withUnsafeBytes({ EntryFile.contents($0, key: key) }) {
                case .foreign: return .none
                case .damaged: return .stale(StaleFile(name: name, status: status, isDamaged: true))
                case .entry(let description):
                    guard description.codec == payloadCodec?.identifier else { return .none }
                    var entry = description.entry
                    let aging = Aging(context)
                    guard !aging.isExpired(entry, stored: description.stored, modified: status.modified) else {
                        return .stale(StaleFile(name: name, status: status, isDamaged: false))
                    }
                    entry.data = bytes.data(prefix: description.payloadSize)
                    guard let decoded = decoded(entry) else {
                        return .stale(StaleFile(name: name, status: status, isDamaged: true))
                    }
                    noteUse(of: name, status, aging, idleLifetime: entry.idleLifetime, in: directory)
                    return .found(decoded)
                }
            }
        } catch {
            if limit != nil { return .unknown }
            if error.code == EIO, let status = try? directory.status(name.path), status.isRegular {
                // The medium is bad.
                return .stale(StaleFile(name: name, status: status, isDamaged: true))
            }
            if error.code != ELOOP { context.note("\(context.path): \(error)", cause: error.cause) }
            return .none
        }
    }

    /// Renews the time of a file that is used, unless it was renewed lately.
    private func noteUse(
        of name: EntryName, _ status: FileStatus, _ aging: Aging, idleLifetime: Duration?, in directory: OpenDirectory
    ) {
        // A time in the future is renewed, too: the hand takes it for the oldest.
        let age = aging.time - status.modified
        guard age < -EvictionHand.clockTolerance || age >= aging.tolerance(idleLifetime: idleLifetime),
            directory.reasonAgainstWriting == nil
        else { return }
        directory.setTime(aging.time, of: name)
    }

    // MARK: Questions

    /// The name of the valid entry under a key.
    func validName(forKey key: ImageKey) -> EntryName? {
        let name = EntryName(key)
        guard let directory = context.openDirectory(),
            let (description, status) = (try? directory.description(of: name.path)) ?? nil,
            description.belongs(to: key), description.codec == payloadCodec?.identifier,
            !Aging(context).isExpired(description.entry, stored: description.stored, modified: status.modified)
        else { return nil }
        return name
    }

    /// The names of all entries of a source: the source's folder knows them all.
    func names(ofSource source: String, in directory: OpenDirectory) throws(FileError) -> [EntryName] {
        let original = EntryName(source: source)
        do throws(FileError) {
            return try directory.list(EntryName.folderPath(original.folder)).compactMap { file in
                EntryName(file).flatMap { $0.belongs(toSourceOf: original) ? $0 : nil }
            }
        } catch {
            guard error.isMissing else { throw error }
            return []
        }
    }

    // MARK: Checking

    /// Reads all files of a folder completely.
    func verify(folder: Int, _ report: inout CacheVerification) -> [StaleFile] {
        guard let directory = context.openDirectory() else { return [] }
        let files = (try? directory.list(EntryName.folderPath(folder))) ?? []
        return files.compactMap { EntryName($0) }.compactMap { name in
            guard let (status, isDamaged) = check(name, in: directory) else { return nil }
            report.checked.entries += 1
            report.checked.bytes += status.allocatedSize
            guard isDamaged else { return nil }
            let description = (try? directory.description(of: name.path)) ?? nil
            report.damaged.append(description?.0.key ?? ImageKey(source: name.path))
            return StaleFile(name: name, status: status, isDamaged: true)
        }
    }

    /// Reads a file completely; `nil` if it is gone or can't be read now.
    private func check(_ name: EntryName, in directory: OpenDirectory) -> (status: FileStatus, isDamaged: Bool)? {
        do throws(FileError) {
            guard case .bytes(let bytes, let status) = try directory.contents(of: name.path) else { return nil }
            if case .damaged = bytes.withUnsafeBytes({ EntryFile.contents($0, key: nil) }) { return (status, true) }
            return (status, false)
        } catch {
            guard error.code == EIO, let status = try? directory.status(name.path), status.isRegular else { return nil }
            return (status, true)
        }
    }
}

/// The present maximum age of entries.
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

    /// Returns true if an entry has expired.
    /// - Parameters:
    ///   - stored: the time of storing, in microseconds since 1970.
    ///   - modified: the time of the file, which is the time of the last use.
    func isExpired(_ entry: DiskCacheEntry, stored: Int64, modified: Int64, sweeping: Bool = false) -> Bool {
        if let expires = entry.expires, expires.cacheTime <= time { return true }
        // A time in the future counts as now.
        let used = min(time, modified)
        if let lifetime = entry.idleLifetime, Self.isOld(used, time - lifetime.cacheTime) { return true }
        guard let bound = bound(sweeping: sweeping) else { return false }
        switch expiry {
        case .byCreation: return entry.created.cacheTime <= bound
        case .byModification: return Self.isOld(stored, bound)
        case .byAccess: return Self.isOld(used, bound)
        }
    }

    /// The latest time of entries that are too old; `nil` if no age is.
    func bound(sweeping: Bool) -> Int64? {
        guard let maximumAge, maximumAge >= .zero else { return nil }
        // With an age of zero, entries live until the next sweep.
        if maximumAge == .zero, !sweeping { return nil }
        return time - maximumAge.cacheTime
    }

    /// Returns true if a time is not after the bound, to the millisecond: entries that are stored at the same time have different times.
    static func isOld(_ time: Int64, _ bound: Int64) -> Bool { time / 1_000 <= bound / 1_000 }

    /// The most that the time of a file may lag behind the last use, in microseconds: an eighth of the age of eviction.
    func tolerance(idleLifetime: Duration?) -> Int64 {
        var tolerance = renewalAge
        if let idleLifetime { tolerance = min(tolerance, idleLifetime.cacheTime / 8) }
        if expiry == .byAccess, let maximumAge, maximumAge > .zero {
            tolerance = min(tolerance, maximumAge.cacheTime / 8)
        }
        return tolerance
    }
}
