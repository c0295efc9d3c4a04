internal import FoundationEssentials
internal import Synchronization

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
        let aging = Aging(self)
        let bound = aging.expiry == .byAccess ? aging.bound(sweeping: false) : nil
        let path = EntryName.folderPath(visit.folder)
        var entries: [EvictionHand.Listed] = []
        var leftovers: [(path: String, modified: Int64)] = []
        do throws(FileError) {
            try directory.forEachFile(in: path) { file, status in
                let isLeftover: Bool
                if let name = EntryName(file) {
                    isLeftover = bound.map { Aging.isOld(status.modified, $0) } ?? false
                    if !isLeftover || !mayRemove {
                        entries.append(.init(name: name, size: status.allocatedSize, modified: status.modified))
                    }
                } else {
                    isLeftover = status.modified < aging.time - Self.leftoverAge && WriterName.isUnfinished(file)
                }
                if isLeftover, mayRemove { leftovers.append(("\(path)/\(String(cString: file))", status.modified)) }
            }
        } catch {
            // A folder that can't be read is not an empty one.
            guard error.isMissing else { return }
        }
        for file in leftovers { _ = try? directory.remove(file.path) { $0.modified == file.modified } }
        hand.withLock { $0.noteListing(entries, of: visit, now: aging.time) }
    }

    /// Lists a folder, if the directory is one to write to.
    func look(folder: Int) {
        if let directory = preparedDirectory { look(hand.withLock { $0.visit(folder) }, in: directory) }
    }

    /// The totals after all folders were listed, so that all sizes are right.
    func countedUsage() -> CacheUsage {
        guard let directory = openDirectory() else { return CacheUsage() }
        for folder in 0..<EntryName.folders {
            look(hand.withLock { $0.visit(folder) }, in: directory, mayRemove: false)
        }
        return hand.withLock { hand in
            hand.areSizesKnown = true
            return hand.sizes.total
        }
    }

    // MARK: Evicting

    /// Evicts entries while the limits are exceeded.
    /// - Parameter bytes: the space to free, beyond what the limits ask for.
    /// - Returns: the entries that were evicted.
    @discardableResult func evict(in directory: OpenDirectory, freeing bytes: Int = 0) -> CacheUsage {
        let limits = limits.withLock {
            CacheUsage(entries: max(0, $0.maximumCount ?? .max), bytes: max(0, $0.capacity.bytes))
        }
        let time = time
        var (listed, evicted) = (0, CacheUsage())
        while true {
            // While space is to be freed, no limit is met.
            let target = evicted.bytes < bytes ? CacheUsage(entries: -1, bytes: -1) : limits
            switch hand.withLock({ $0.nextStep(toMeet: target, listed: &listed, now: time) }) {
            case nil:
                if evicted.entries > 0 { counters.withLock { $0.evictions += evicted.entries } }
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
                listed = 0
                changeHand { $0.noteEviction(of: entry, now: time) }
                evicted += CacheUsage(entries: 1, bytes: entry.size)
            }
        }
    }

    /// Changes the hand in a way that may change the age from which uses are noted.
    private func changeHand(_ body: (inout EvictionHand) -> Void) {
        let age = hand.withLock { hand in
            body(&hand)
            return hand.renewalAge
        }
        renewalAge.store(age, ordering: .relaxed)
    }

    /// Evicts entries until a file leaves the volume as much free space as the configuration asks for.
    func keepFree(_ space: ByteCount, after size: Int, in directory: OpenDirectory) throws(ImageError) {
        func missing() -> Int? {
            guard space.bytes > 0, let free = directory.freeSpace, free - size < space.bytes else { return nil }
            return space.bytes - max(0, free - size)
        }
        guard let needed = missing() else { return }
        evict(in: directory, freeing: needed)
        guard missing() != nil, let free = directory.freeSpace else { return }
        let reason = "the volume has \(ByteCount(free)) left, but \(space) must stay free"
        note("\(path): \(reason)", cause: "free space")
        throw ImageError(.cacheWriteFailed, stage: .cache, source: path, reason: reason)
    }

    // MARK: The file of the sizes

    /// Reads the sizes that another process saw, unless this process knows them.
    func restoreSizes(in directory: OpenDirectory) {
        guard !hand.withLock({ $0.areSizesKnown }) else { return }
        let saved = ((try? directory.read(Self.sizesFile)) ?? nil).flatMap { FolderSizes.decode($0.data) }
        // Nothing to look for in a cache that was just made.
        let isNew = (try? directory.list(EntryName.root))?.allSatisfy { !EntryName.isFolder($0) } == true
        changeHand { hand in
            if let saved { hand.restore(saved.sizes, evictionAge: saved.evictionAge) } else { hand.noteClearing() }
            hand.areSizesKnown = saved != nil || isNew
        }
    }

    /// Writes the sizes for the next process. A failure doesn't matter: they may be lost, late, or wrong.
    func saveSizes() {
        let data = hand.withLock { $0.areSizesKnown ? $0.sizes.encoded(evictionAge: $0.evictionAge) : nil }
        guard let data, let directory = preparedDirectory else { return }
        let unfinished = "\(Self.sizesFile).\(writer)"
        guard (try? directory.write(data, to: unfinished)) != nil else { return }
        if (try? directory.rename(unfinished, to: Self.sizesFile)) == nil { try? directory.remove(unfinished) }
    }
}
