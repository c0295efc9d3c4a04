internal import FoundationEssentials

/// The sizes of the folders, and making room: the work on files that the ``EvictionHand`` asks for.
extension DiskStore {
    /// The file of the sizes, by which a process knows at once how full the cache is.
    static let sizesFile = "sizes"
    /// The age in microseconds from which an unfinished file is one that a crash left behind.
    static let leftoverAge: Int64 = 3_600_000_000

    // MARK: Looking

    /// Lists a folder, sets its sizes right, and removes what has expired or was left behind.
    /// - Parameter mayRemove: false to look only.
    func look(_ visit: EvictionHand.Visit, in directory: OpenDirectory, mayRemove: Bool = true) {
        let aging = Aging(context)
        let bound = aging.expiry == .byAccess ? aging.bound(sweeping: false) : nil
        let path = EntryName.folderPath(visit.folder)
        var entries: [EvictionHand.Listed] = []
        do throws(FileError) {
            for (file, status) in try directory.listFiles(path) {
                guard let name = EntryName(file) else {
                    let isLeftover = WriterName.isUnfinished(file) && status.modified < aging.time - Self.leftoverAge
                    if mayRemove, isLeftover { try? directory.remove("\(path)/\(file)") }
                    continue
                }
                if mayRemove, let bound, Aging.isOld(status.modified, bound), notes.lastUse(of: name) == nil,
                    (try? directory.remove(name.path)) != nil
                {
                    continue
                }
                entries.append(
                    EvictionHand.Listed(
                        name: name, size: status.countedSize, modified: status.modified, used: notes.lastUse(of: name)))
            }
        } catch {
            // A folder that can't be read is not an empty one.
            guard error.isMissing else { return }
        }
        hand.withLock { $0.noteListing(entries, of: visit, now: aging.time) }
    }

    /// Looks at a folder, if the directory is one to write to.
    func look(folder: Int) {
        guard let directory = preparedDirectory else { return }
        look(hand.withLock { $0.visit(folder) }, in: directory)
    }

    /// Evicts what is too much, once all folders were looked at.
    func finishLook() {
        guard let directory = preparedDirectory else { return }
        context.areSizesKnown = true
        evict(in: directory)
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
    /// - Parameter bytes: the space to free, beyond what the limits ask for.
    /// - Returns: the entries that were evicted.
    @discardableResult func evict(in directory: OpenDirectory, freeing bytes: Int = 0) -> CacheSweep {
        let configuration = context.limits.withLock { $0 }
        let limits = EvictionHand.Limits(
            bytes: max(0, configuration.capacity.bytes), entries: max(0, configuration.maximumCount ?? .max))
        let time = context.time
        var (search, evicted) = (EvictionHand.Search(), CacheSweep())
        while true {
            let isFreeing = evicted.bytes < bytes
            let step = hand.withLock { hand in
                hand.nextStep(toMeet: isFreeing ? .none : limits, &search, now: time)
            }
            switch step {
            case nil:
                context.counters.withLock { $0.evictions += evicted.files }
                return evicted
            case .list(let visit): look(visit, in: directory)
            case .evict(let entry):
                let removal = remove(entry, in: directory)
                guard removal == .removed else {
                    hand.withLock { $0.noteFailedEviction(of: entry, isRemovable: removal != .failed) }
                    continue
                }
                context.renewalAge = hand.withLock { hand in
                    hand.noteEviction(of: entry, &search, now: time)
                    return hand.renewalAge
                }
                evicted.files += 1
                evicted.bytes += entry.size
            }
        }
    }

    private enum Removal { case removed, changed, failed }

    /// Removes an entry that was listed, unless it was used or replaced since.
    private func remove(_ entry: EvictionHand.Listed, in directory: OpenDirectory) -> Removal {
        guard notes.lastUse(of: entry.name) == nil else { return .changed }
        do throws(FileError) {
            guard try directory.status(of: entry.name).modified == entry.modified else { return .changed }
            try directory.remove(entry.name.path)
            return .removed
        } catch {
            return error.isMissing ? .changed : .failed
        }
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
        guard savedSizes.withLock({ $0 != data }) else { return }
        do throws(FileError) {
            try? directory.remove(unfinished)
            try directory.create(unfinished, contents: data)
            try directory.rename(unfinished, to: Self.sizesFile)
            savedSizes.withLock { $0 = data }
        } catch {
            directory.unlinkFile(unfinished)
        }
    }

    // MARK: Upkeep

    /// Removes what crashes and former versions left in the directory, beside the entries.
    func removeLeftovers() {
        guard let directory = preparedDirectory else { return }
        let time = context.time
        for (file, status) in (try? directory.listFiles(".")) ?? [] where file.hasPrefix("\(Self.sizesFile).") {
            if status.modified < time - Self.leftoverAge { try? directory.remove(file) }
        }
        removeFormerIndex(in: directory)
    }

    /// Removes the index and the journals of former versions. A database of another program stays.
    private func removeFormerIndex(in directory: OpenDirectory) {
        let (index, journals) = ("index.sqlite", "journal")
        // The application's id in the header of a database file.
        guard let header = try? directory.head(of: index, count: 72), header.count == 72,
            header.suffix(4).elementsEqual("Tint".utf8)
        else { return }
        for file in (try? directory.list(journals)) ?? [] where WriterName(file) != nil {
            try? directory.remove("\(journals)/\(file)")
        }
        try? directory.removeDirectory(journals)
        // The index last: what is left of a removal that was cut off is known by it.
        for file in ["-journal", "-wal", "-shm"].map({ index + $0 }) + ["index.damaged", index] {
            try? directory.remove(file)
        }
    }

    /// Removes the entries of a folder that have expired.
    func removeExpired(inFolder folder: Int, of directory: OpenDirectory) -> CacheSweep {
        let aging = Aging(context)
        let visit = hand.withLock { $0.visit(folder) }
        var sweep = CacheSweep()
        for (file, status) in (try? directory.listFiles(EntryName.folderPath(folder))) ?? [] {
            guard let name = EntryName(file),
                let (description, _) = (try? directory.description(of: name.path)) ?? nil,
                reader.isExpired(
                    description.entry, stored: description.stored, name, modified: status.modified, aging,
                    sweeping: true),
                (try? directory.remove(name.path)) != nil
            else { continue }
            sweep.files += 1
            sweep.bytes += status.countedSize
        }
        look(visit, in: directory)
        return sweep
    }

    /// Renews the times of the entries that were used, and removes the files that reading found to be damaged or expired.
    func writeUses() {
        let uses = notes.uses
        guard !uses.isEmpty else { return }
        let directory = context.openDirectory()
        let mayWrite = directory?.reasonAgainstWriting == nil
        let now = context.time
        for (name, time) in uses {
            if mayWrite { directory?.setTime(time, of: name, now: now) }
            notes.finishUse(of: name, at: time)
        }
    }
}

extension EvictionHand.Limits {
    /// No limit is met.
    fileprivate static let none = Self(bytes: -1, entries: -1)
}
