internal import FoundationEssentials

/// The sizes of the folders, and making room: the work on files that the ``EvictionHand`` asks for.
extension DiskStore {
    /// The file of the sizes, which tells a process at once how full the cache is.
    static let sizesFile = "sizes"
    /// The age in microseconds at which an unfinished file counts as left by a crash.
    private static let leftoverAge: Int64 = 3_600_000_000

    // MARK: Looking

    /// Lists a folder, sets its sizes right, and removes expired entries and leftovers.
    /// - Parameter mayRemove: false to look only.
    func look(_ visit: EvictionHand.Visit, in directory: OpenDirectory, mayRemove: Bool = true) {
        let aging = Aging(context)
        let bound = aging.expiry == .byAccess ? aging.bound(sweeping: false) : nil
        let path = EntryName.folderPath(visit.folder)
        var entries: [EvictionHand.Listed] = []
        var leftovers: [(path: String, modified: Int64)] = []
        do throws(FileError) {
            try directory.forEachFile(in: path) { file, status in
                let isLeftover: Bool
                if let name = EntryName(cString: file) {
                    isLeftover = bound.map { Aging.isOld(status.modified, $0) } ?? false
                    if !isLeftover || !mayRemove {
                        entries.append(
                            EvictionHand.Listed(name: name, size: status.allocatedSize, modified: status.modified))
                    }
                } else {
                    isLeftover = status.modified < aging.time - Self.leftoverAge && WriterName.isUnfinished(file)
                }
                if isLeftover, mayRemove { leftovers.append(("\(path)/\(String(cString: file))", status.modified)) }
            }
        } catch {
            // A folder that can't be read isn't an empty folder.
            guard error.isMissing else { return }
        }
        for file in leftovers { _ = try? directory.remove(file.path) { $0.modified == file.modified } }
        hand.withLock { $0.noteListing(entries, of: visit, now: aging.time) }
    }

    /// Lists a folder, if the directory is writable.
    func look(folder: Int) {
        guard let directory = preparedDirectory else { return }
        look(hand.withLock { $0.visit(folder) }, in: directory)
    }

    /// Lists all folders, so that all sizes are right.
    func lookEverywhere(in directory: OpenDirectory, mayRemove: Bool = true) {
        for folder in 0..<EntryName.folders {
            look(hand.withLock { $0.visit(folder) }, in: directory, mayRemove: mayRemove)
        }
        context.areSizesKnown = true
    }

    // MARK: Evicting

    /// Evicts entries while the limits are exceeded.
    /// - Parameter bytes: the space to free, beyond the limits.
    /// - Returns: the entries that were evicted.
    @discardableResult func evict(in directory: OpenDirectory, freeing bytes: Int = 0) -> CacheUsage {
        let configuration = context.limits.withLock { $0 }
        let limits = EvictionHand.Limits(
            bytes: max(0, configuration.capacity.bytes), entries: max(0, configuration.maximumCount ?? .max))
        let time = context.time
        var (search, evicted) = (EvictionHand.Search(), CacheUsage())
        while true {
            let isFreeing = evicted.bytes < bytes
            let step = hand.withLock { hand in
                hand.nextStep(toMeet: isFreeing ? .none : limits, &search, now: time)
            }
            switch step {
            case nil:
                if evicted.entries > 0 { context.counters.withLock { $0.evictions += evicted.entries } }
                return evicted
            case .list(let visit): look(visit, in: directory)
            case .evict(let entry):
                var (isRemoved, isRemovable) = (false, true)
                do throws(FileError) {
                    isRemoved = try directory.remove(entry.name.path) { $0.modified == entry.modified } != nil
                } catch {
                    isRemovable = error.isMissing
                }
                guard isRemoved else {
                    hand.withLock { $0.noteFailedEviction(of: entry, isRemovable: isRemovable) }
                    continue
                }
                context.renewalAge = hand.withLock { hand in
                    hand.noteEviction(of: entry, &search, now: time)
                    return hand.renewalAge
                }
                evicted.entries += 1
                evicted.bytes += entry.size
            }
        }
    }

    /// Removes the entries of a folder that have expired.
    func removeExpired(inFolder folder: Int, of directory: OpenDirectory) -> CacheUsage {
        let aging = Aging(context)
        var sweep = CacheUsage()
        for name in ((try? directory.list(EntryName.folderPath(folder))) ?? []).compactMap({ EntryName($0) }) {
            guard let (description, status) = (try? directory.description(of: name.path)) ?? nil,
                aging.isExpired(
                    description.entry, stored: description.stored, modified: status.modified, sweeping: true),
                (try? remove(name, in: directory) { $0.isSameFile(as: status) }) != nil
            else { continue }
            sweep.entries += 1
            sweep.bytes += status.allocatedSize
        }
        look(folder: folder)
        return sweep
    }

    // MARK: The file of the sizes

    /// Reads the sizes that another process saw, unless this process knows them.
    func restoreSizes(in directory: OpenDirectory) {
        guard !context.areSizesKnown else { return }
        let saved = (try? directory.tail(of: Self.sizesFile, count: 8_192)).flatMap { FolderSizes.decode($0.bytes) }
        context.renewalAge = hand.withLock { hand in
            if let saved { hand.restore(saved.sizes, evictionAge: saved.evictionAge) } else { hand.noteClearing() }
            return hand.renewalAge
        }
        // Nothing to look for in a cache that was just made.
        let isNew = (try? directory.list(EntryName.root))?.allSatisfy { !EntryName.isFolder($0) } == true
        context.areSizesKnown = saved != nil || isNew
    }

    /// Writes the sizes for the next process. A failure doesn't matter: they may be lost, late, or wrong.
    func saveSizes() {
        guard let directory = preparedDirectory, context.areSizesKnown else { return }
        let data = hand.withLock { $0.sizes.encoded(evictionAge: $0.evictionAge) }
        let unfinished = "\(Self.sizesFile).\(writer)"
        do throws(FileError) {
            try? directory.remove(unfinished)
            try directory.create(unfinished, contents: data)
            try directory.rename(unfinished, to: Self.sizesFile)
        } catch {
            try? directory.remove(unfinished)
        }
    }

    /// Removes leftovers of crashes and former versions from the directory, beside the entries.
    func removeLeftovers() {
        guard let directory = preparedDirectory else { return }
        let bound = context.time - Self.leftoverAge
        for file in (try? directory.list(".")) ?? [] where file.hasPrefix("\(Self.sizesFile).") {
            _ = try? directory.remove(file) { $0.modified < bound }
        }
        // The index and the journals of former versions. The database of another program has another application's id in its header.
        let header = try? directory.head(of: "index.sqlite", count: 72)
        guard let header, header.suffix(4).elementsEqual("Tint".utf8) else { return }
        for file in (try? directory.list("journal")) ?? [] where WriterName(file) != nil {
            try? directory.remove("journal/\(file)")
        }
        try? directory.removeDirectory("journal")
        for suffix in ["-journal", "-wal", "-shm", ""] { try? directory.remove("index.sqlite\(suffix)") }
    }
}

extension EvictionHand.Limits {
    /// No limit is met.
    fileprivate static let none = Self(bytes: -1, entries: -1)
}
