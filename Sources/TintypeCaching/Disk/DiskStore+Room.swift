internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The sizes of the folders, and making room: the work on files that the ``EvictionHand`` asks for.
extension DiskStore {
    /// The file of the sizes, by which a process knows at once how full the cache is.
    static let sizesFile = "sizes"
    /// The age in microseconds of an unfinished file that counts as left behind by a crash.
    static let leftoverAge: Int64 = 3_600_000_000

    // MARK: Looking

    /// Lists a folder, sets its sizes right, and removes what has expired or was left behind.
    /// - Parameter mayRemove: false to look only.
    func look(_ visit: EvictionHand.Visit, in directory: OpenDirectory, mayRemove: Bool = true) {
        let aging = Aging(self)
        let bound = aging.expiry == .byAccess ? aging.bound : nil
        let path = EntryName.folderPath(visit.folder)
        var entries: [EvictionHand.Listed] = []
        var leftovers: [(path: String, modified: Int64)] = []
        let isListed: Void? = try? directory.forEachName(in: path) { folder, file, type in
            // Not every file system tells the type.
            guard type == Int(DT_REG) || type == Int(DT_UNKNOWN), let status = FileStatus(of: file, in: folder),
                status.isRegular
            else { return }
            let (name, modified) = (EntryName(file), status.modified)
            let isOld = modified <= (name == nil ? aging.time - Self.leftoverAge : bound ?? .min)
            if isOld, mayRemove, name != nil || WriterName.isUnfinished(file) {
                leftovers.append(("\(path)/\(String(cString: file))", modified))
            } else if let name {
                entries.append(.init(name: name, size: status.allocatedSize, modified: modified))
            }
        }
        // A folder that can't be read may have entries.
        guard isListed != nil else { return }
        for file in leftovers { _ = try? directory.remove(file.path) { $0.modified == file.modified } }
        hand.withLock { $0.noteListing(entries, of: visit, now: aging.time) }
    }

    /// Lists a folder, if the directory may be written to.
    func look(folder: Int) {
        if let directory = preparedDirectory { look(hand.withLock { $0.visit(folder) }, in: directory) }
    }

    /// The totals after all folders were listed, so that all sizes are right.
    func countedUsage() -> CacheUsage {
        guard let directory = try? existingDirectory() else { return CacheUsage() }
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
                if evicted.entries > 0 {
                    counters.withLock { $0.evictions += evicted.entries }
                    noteRenewalAge()
                }
                return evicted
            case .list(let visit): look(visit, in: directory)
            case .evict(let entry):
                do throws(FileError) {
                    guard try directory.remove(entry.name.path, where: { $0.modified == entry.modified }) != nil else {
                        hand.withLock { $0.noteFailedEviction(of: entry) }
                        continue
                    }
                    listed = 0
                    hand.withLock { $0.noteEviction(of: entry, now: time) }
                    evicted += CacheUsage(entries: 1, bytes: entry.size)
                } catch {
                    hand.withLock { $0.noteFailedEviction(of: entry, isRemovable: error.isMissing) }
                }
            }
        }
    }

    private func noteRenewalAge() { renewalAge.store(hand.withLock { $0.renewalAge }, ordering: .relaxed) }

    /// Evicts entries until a file leaves the volume as much free space as the configuration asks for.
    func keepFree(_ space: ByteCount, after size: Int, in directory: OpenDirectory) throws(ImageError) {
        func missing() -> Int { directory.freeSpace.map { space.bytes - max(0, $0 - size) } ?? 0 }
        let needed = space.bytes > 0 ? missing() : 0
        guard needed > 0 else { return }
        evict(in: directory, freeing: needed)
        guard missing() > 0, let free = directory.freeSpace else { return }
        throw failure(
            .cacheWriteFailed, "the volume has \(ByteCount(free)) left, but \(space) must stay free",
            cause: "free space")
    }

    // MARK: The file of the sizes

    /// Reads the sizes that another process saw, unless this process knows them.
    func restoreSizes(in directory: OpenDirectory) {
        guard !hand.withLock({ $0.areSizesKnown }) else { return }
        let saved = (try? directory.read(Self.sizesFile)).flatMap { FolderSizes($0.data) }
        // Nothing to look for in a cache that was just made.
        let isNew = (try? directory.list(EntryName.root))?.allSatisfy { !EntryName.isFolder($0) } == true
        hand.withLock { hand in
            if let saved { hand.sizes = saved } else { hand.noteClearing() }
            hand.areSizesKnown = saved != nil || isNew
        }
        noteRenewalAge()
    }

    /// Writes the sizes for the next process. A failure doesn't matter: they may be lost, late, or wrong.
    func saveSizes() {
        checkDirectory()
        let data = hand.withLock { $0.areSizesKnown ? $0.sizes.encoded : nil }
        guard let data, let directory = preparedDirectory else { return }
        _ = try? directory.write([data], to: Self.sizesFile, unfinished: "\(Self.sizesFile).\(writer.text)")
    }
}
