internal import Glibc

/// The table that the readers of this process use.
struct SharedTable {
    var table: EntryTable?
    /// When it was seen last that the file is still the one in the directory.
    var checked: Int64 = .min
    /// Whether ``DiskLayout/imports`` is there, and when that was seen last.
    var hasImports = false
    var importsChecked: Int64?
}

extension DiskStore {
    /// So often a look is taken whether another process made the table again in another file.
    private static let tableCheckInterval: Int64 = 1_000_000

    // MARK: Reading

    /// The table, if this process has it in memory.
    func tableAtOnce() -> EntryTable? {
        let time = time
        let shared = tables.withLock { $0 }
        guard let table = shared.table, table.isComplete else { return nil }
        if time &- shared.checked < Self.tableCheckInterval, time >= shared.checked { return table }
        guard (try? files.status(layout.table))?.inode == table.inode else { return nil }
        tables.withLock { $0.checked = time }
        return table
    }

    /// The table, opened if need be; `nil` if there is none that knows every entry.
    func openTable() -> EntryTable? {
        if let table = tableAtOnce() { return table }
        guard !isIndexOfOthers, var table = EntryTable.open(layout.table), table.isComplete else {
            share(nil)
            return nil
        }
        if isHalfChanged(table), table.isWritable, WriteLock(layout.writeLock)?.isFree == true, isHalfChanged(table) {
            // Who did it was killed. What reads find is not to change once more, when somebody writes.
            try? withIndex { index throws(DiskFailure) in try change(index) { () throws(DiskFailure) in } }
            if let repaired = EntryTable.open(layout.table) { table = repaired }
        }
        share(table)
        return table
    }

    /// Whether somebody has changed the index and not yet the table, or has noted a file and not yet put it in.
    private func isHalfChanged(_ table: EntryTable) -> Bool {
        if table.isChanging { return true }
        guard let id = table.pending.last, let row = description(ofFile: id)?.row else { return false }
        return !table.contains(id, hash: DiskIndexSchema.hash(row.key))
    }

    /// Whether the index says that it is a newer version's, or no cache's at all. One that says nothing because it is
    /// damaged or lost keeps nobody from reading.
    private var isIndexOfOthers: Bool {
        if case .other = indexIdentity { true } else { false }
    }

    /// Whether the index is of an older version.
    var isIndexOlder: Bool {
        if case .older = indexIdentity { true } else { false }
    }

    /// Brings an index of an older version up to date. A store does so too.
    func migrate() { try? withIndex { _ in } }

    /// Whether there may be entries that were imported without their keys. Seen at most a second late.
    var hasImports: Bool {
        let time = time
        let (hasImports, checked) = tables.withLock { ($0.hasImports, $0.importsChecked) }
        if let checked, time >= checked, time - checked < Self.tableCheckInterval { return hasImports }
        return checkImports()
    }

    /// Looks whether there are such entries.
    @discardableResult
    func checkImports() -> Bool {
        let isThere = (try? files.status(layout.imports)) != nil
        let time = time
        tables.withLock { ($0.hasImports, $0.importsChecked) = (isThere, time) }
        return isThere
    }

    private func share(_ table: EntryTable?) {
        let time = time
        let old = tables.withLock { shared in
            defer { (shared.table, shared.checked) = (table, time) }
            return shared.table
        }
        _ = old  // Let go of outside the lock: it gives memory back.
    }

    /// Whether there are files whose rows are not in the index.
    var hasPending: Bool { tables.withLock { $0.table }.map { $0.pendingCount > 0 } ?? false }

    /// The same, without opening the table to see.
    var mayHavePending: Bool { tableAtOnce().map { $0.pendingCount > 0 } ?? true }

    // MARK: Writing

    /// Prepares an index that was just opened for changes.
    func attachTable(to index: DiskIndex) {
        index.writeLock = WriteLock(layout.writeLock)
        adoptTable(index)
    }

    private func adoptTable(_ index: DiskIndex) {
        let table = EntryTable.open(layout.table)
        index.table = table?.isWritable == true ? table : nil
        share(index.table)
    }

    /// Makes a table that is of no use any more known as that to every process, and removes it.
    func discardTable(_ index: DiskIndex?) {
        let table = index?.table ?? EntryTable.open(layout.table)
        if let table, table.isWritable { table.isComplete = false }
        try? files.remove(layout.table)
        index?.table = nil
        share(nil)
    }

    /// Runs `body` while no other process changes the index or the table.
    /// - Parameter mayWait: whether to wait until another process is done; else it fails with `wouldWait`.
    func exclusively<Result>(
        _ index: DiskIndex, mayWait: Bool = true, _ body: () throws(DiskFailure) -> Result
    ) throws(DiskFailure) -> Result {
        if let lock = index.writeLock, !lock.lock(mayWait: mayWait) {
            throw mayWait
                ? .refused("another process has been writing to the cache for five seconds") : .wouldWait
        }
        defer { index.writeLock?.unlock() }
        if index.table?.isComplete != true { adoptTable(index) }
        return try body()
    }

    /// The table, if stores may go into it.
    func usableTable(_ index: DiskIndex, inode: UInt64?) -> EntryTable? {
        guard index.writeLock != nil, let table = index.table, table.isComplete, !table.isChanging,
            table.indexInode == inode
        else { return nil }
        return table
    }

    /// Changes the index in one transaction, in which the files that have no row yet get theirs, and then the table.
    func change<Result>(
        _ index: DiskIndex, _ body: () throws(DiskFailure) -> Result
    ) throws(DiskFailure) -> Result {
        try exclusively(index) { () throws(DiskFailure) in try changeExclusively(index, body) }
    }

    /// As ``change(_:_:)``, for who has the lock.
    /// - Parameter isRemovingAll: whether nothing is left after that.
    func changeExclusively<Result>(
        _ index: DiskIndex, isRemovingAll: Bool = false, _ body: () throws(DiskFailure) -> Result
    ) throws(DiskFailure) -> Result {
        let table = usableTable(index, inode: index.inode)
        // Of a table that is not to be trusted the list still is: what it names is checked.
        let pending = index.table?.pending ?? []
        let rows = pending.compactMap { index.stage[$0] ?? description(ofFile: $0)?.row }
        // A table that agrees with the index says which of the files replace none.
        let guide = table?.live == table.map { $0.indexed.entries + pending.count } && !hasImports ? table : nil
        table?.isChanging = true
        var superseded: [StoredFile] = []
        var usage = CacheUsage()
        let result: Result
        do throws(DiskFailure) {
            result = try index.change { () throws(DiskFailure) in
                try indexed { () throws(SQLiteError) in
                    for row in rows { superseded += try adopt(row, into: index, guide) }
                }
                let result = try body()
                usage = try indexed { () throws(SQLiteError) in try index.state().usage }
                return result
            }
        } catch {
            table?.isChanging = false  // Nothing was changed.
            throw error
        }
        index.stage.removeAll(keepingCapacity: true)
        pendingVariants.withLock { $0.removeAll() }
        encodedMemory?.remove(index.change.removed.map(\.id))
        if let table {
            if isRemovingAll { table.removeAll() } else { apply(index.change, to: table) }
            table.removePending()
            table.indexed = usage
        }
        if let table, table.live == usage.entries, !table.isCrowded(adding: EntryTable.maximumPending) {
            table.isChanging = false
        } else {
            makeTable(index, usage)
        }
        doom(superseded)
        noteLog(of: index)
        return result
    }

    /// Asks for a checkpoint when the log of the index is long enough. If none comes in time it is made here.
    private func noteLog(of index: DiskIndex) {
        guard index.logPages >= logLimit else { return }
        isCheckpointDue.withLock { $0 = true }
        // What is wrong with it, the next transaction meets too.
        if index.logPages >= 4 * logLimit { try? index.checkpoint() }
    }

    private func apply(_ change: DiskIndex.Change, to table: EntryTable) {
        for file in change.inserted { table.insert(file.id, hash: file.hash) }
        for file in change.removed { table.remove(file.id, hash: file.hash) }
    }

    /// Makes the table again from the index.
    private func makeTable(_ index: DiskIndex, _ usage: CacheUsage) {
        guard index.writeLock != nil else { return discardTable(index) }
        var slots = EntryTable.minimumSlots
        while slots < (usage.entries + 2 * EntryTable.maximumPending) * 2 { slots *= 2 }
        guard let table = EntryTable.create(layout.newTable, slots: slots) else { return discardTable(index) }
        do throws(SQLiteError) {
            try index.forEachFile { table.insert($0, hash: $1) }
        } catch {
            return discardTable(index)
        }
        table.indexed = usage
        table.indexInode = index.inode
        if let old = index.table { table.continueEpoch(of: old) }
        // After a loss of power there is the whole table or none.
        if usage.entries > 0 { table.synchronize() }
        table.isComplete = true
        if let old = index.table { old.isComplete = false }
        guard rename(layout.newTable, layout.table) == 0 else { return discardTable(index) }
        index.table = table
        share(table)
        tablesMade.withLock { $0 += 1 }
    }
}
