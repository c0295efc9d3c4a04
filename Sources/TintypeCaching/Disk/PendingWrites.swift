internal import FoundationEssentials

/// The changes of files that are not in the index yet, and the journals that name them on the disk.
///
/// A name is in a journal before its file changes, and stays there until a batch has looked at the file. Stores don't wait for each other
/// here: the lock is held for a moment.
final class PendingWrites: Sendable {
    /// A name that a batch has to look at.
    struct Change {
        /// The row and the file that it describes; `nil` if only the file tells.
        var row: DiskIndex.Row?
        var inode: UInt64 = 0

        /// The result of a look at a file.
        enum Look {
            case present(DiskIndex.Row)
            case absent
            /// The file can't be looked at now, such as without free descriptors.
            case unknown
        }
    }

    /// A journal, and the number of changes under way that it names.
    fileprivate struct Use {
        var journal: Journal
        var count = 0
    }

    fileprivate struct State {
        var current: Use?
        /// Journals that get no more names, and go once their names are in the index.
        var retired: [Use] = []
        var changes: [EntryName: Change] = [:]
        /// The space that the entries of the changes take.
        var bytes = 0
        /// The changes that a batch has taken, and the index doesn't have yet.
        var taken = CacheUsage()
        /// The usage when the index was written last.
        var indexed = CacheUsage()
        /// Keeps the ids of entries apart that are stored at the same time.
        var sequence = 0
    }

    /// The changes of a batch, and the journals that name no others.
    struct Batch {
        var changes: [EntryName: Change]
        var journals: [Journal]
    }

    private let state = Lock(State())
    /// For those who have to make a journal.
    private let creation = Lock(())

    // MARK: Changes

    /// Announces the change of a file in the journal.
    /// - Returns: the journal, which ``end(_:_:_:)`` takes.
    func begin(_ name: EntryName, in directory: OpenDirectory) throws(FileError) -> Journal {
        let journal = try use(in: directory)
        do throws(FileError) {
            try journal.append(name)
        } catch {
            end(journal)
            throw error
        }
        return journal
    }

    private func use(in directory: OpenDirectory) throws(FileError) -> Journal {
        func useCurrent() -> Journal? {
            state.withLock { state in
                state.current?.count += 1
                return state.current?.journal
            }
        }
        if let journal = useCurrent() { return journal }
        return try creation.withLockUnchecked { _ throws(FileError) in
            if let journal = useCurrent() { return journal }
            let journal = try Journal.create(in: directory)
            state.withLock { $0.current = Use(journal: journal, count: 1) }
            return journal
        }
    }

    /// Ends a change that was announced.
    /// - Parameters:
    ///   - name: the name of the file, if it was changed.
    ///   - change: the change.
    func end(_ journal: Journal, _ name: EntryName? = nil, _ change: Change = Change()) {
        state.withLock { state in
            if state.current?.journal === journal {
                state.current?.count -= 1
            } else if let place = state.retired.firstIndex(where: { $0.journal === journal }) {
                state.retired[place].count -= 1
            }
            if let name { state.note(name, change) }
        }
    }

    /// Lets a batch look at a file, though no journal names it.
    func note(_ name: EntryName) { state.withLock { $0.note(name, Change()) } }

    /// A number for the id of an entry.
    func nextSequence() -> Int {
        state.withLock { state in
            state.sequence += 1
            return state.sequence
        }
    }

    // MARK: Batches

    /// Takes all changes; later ones go into another journal.
    func takeBatch() -> Batch {
        state.withLock { state in
            // Where batches fail, journals would become more and more.
            if let current = state.current, !state.changes.isEmpty, state.retired.count < 4 {
                state.retired.append(current)
                state.current = nil
            }
            state.taken = state.waiting
            defer {
                state.changes = [:]
                state.bytes = 0
            }
            return Batch(changes: state.changes, journals: state.retired.filter { $0.count == 0 }.map(\.journal))
        }
    }

    /// Removes the journals of a batch that is in the index.
    func finish(_ batch: Batch) {
        state.withLock { state in
            state.retired.removeAll { use in batch.journals.contains { $0 === use.journal } }
        }
        for journal in batch.journals { journal.remove() }
    }

    /// Lets changes of a batch that failed wait for another one; later changes of the same names count.
    func restore(_ changes: [EntryName: Change]) {
        state.withLock { state in
            state.taken = CacheUsage()
            if state.current == nil { state.current = state.retired.popLast() }
            for (name, change) in changes where state.changes[name] == nil { state.note(name, change) }
        }
    }

    /// Forgets all changes, because all entries were cleared.
    func clear() {
        state.withLock { state in
            state.changes = [:]
            state.bytes = 0
            state.indexed = CacheUsage()
        }
    }

    /// Leaves what waits to whoever takes the journals over: another process, or the next batch of this one.
    /// - Parameter removesJournals: true to remove those that name nothing that waits.
    func abandon(removesJournals: Bool) {
        let journals = state.withLock { state in
            let uses = state.retired + [state.current].compactMap(\.self)
            // A batch that another thread is writing may yet fail.
            let isDone =
                state.changes.isEmpty && state.taken == CacheUsage() && uses.allSatisfy { $0.count == 0 }
            state.current = nil
            state.retired = []
            state.changes = [:]
            state.bytes = 0
            return isDone ? uses.map(\.journal) : []
        }
        if removesJournals { for journal in journals { journal.remove() } }
    }

    /// The rows that wait, those that were used least recently first.
    var oldestRows: [DiskIndex.Row] {
        state.withLock { $0.changes.values.compactMap(\.row) }.sorted { $0.accessed < $1.accessed }
    }

    // MARK: Numbers

    var isEmpty: Bool { state.withLock { $0.changes.isEmpty && $0.retired.isEmpty } }

    /// The number of names that wait for a batch, and the space that their files take.
    var waiting: CacheUsage { state.withLock { $0.waiting } }

    /// The same, with those that a batch is writing.
    var unwritten: CacheUsage { state.withLock { $0.taken + $0.waiting } }

    /// The usage as far as this process knows it, without a look at the disk. Entries that are about to be replaced count twice.
    var usage: CacheUsage { state.withLock { $0.indexed + $0.taken + $0.waiting } }

    /// Notes the totals of the index, which has what the last batch took.
    func noteIndexed(_ usage: CacheUsage) {
        state.withLock { state in
            state.indexed = usage
            state.taken = CacheUsage()
        }
    }
}

extension PendingWrites.State {
    fileprivate var waiting: CacheUsage { CacheUsage(entries: changes.count, bytes: bytes) }

    fileprivate mutating func note(_ name: EntryName, _ new: PendingWrites.Change) {
        let old = changes.updateValue(new, forKey: name)
        bytes += (new.row?.size ?? 0) - (old?.row?.size ?? 0)
    }
}

extension PendingWrites.Change {
    /// Looks at the file of a name. Only ENOENT means that there is none.
    func look(at name: EntryName, in directory: OpenDirectory, now time: Int64) -> Look {
        do throws(FileError) {
            let status = try directory.status(of: name)
            guard status.isRegular else { return .absent }
            let modified = min(time, status.modified)
            if var row, inode == status.inode {
                row.size = status.allocatedSize
                row.accessed = max(min(time, row.accessed), modified)
                return .present(row)
            }
            // A damaged file takes space too.
            var found = DiskIndex.Row(
                name: name, id: DiskIndex.id(at: modified, sequence: Int(name.sourceLow & 0xFFF)),
                size: status.allocatedSize, accessed: modified, created: modified)
            if let (description, _) = try readableDescription(of: name, in: directory) {
                found.id = DiskIndex.id(at: description.stored, sequence: Int(name.sourceLow & 0xFFF))
                found.created = description.entry.created.cacheTime
                found.expires = description.entry.expires?.cacheTime
                found.lifetime = description.entry.idleLifetime?.cacheTime
            }
            return .present(found)
        } catch {
            return error.isMissing ? .absent : .unknown
        }
    }

    /// The description of a file; `nil` if it is damaged, or the disk is. Other errors may pass.
    private func readableDescription(
        of name: EntryName, in directory: OpenDirectory
    ) throws(FileError) -> (EntryFile.Description, FileStatus)? {
        do throws(FileError) {
            return try directory.description(of: name.path)
        } catch {
            guard error.isPermanent else { throw error }
            return nil
        }
    }
}

extension CacheUsage {
    fileprivate static func + (one: Self, other: Self) -> Self {
        Self(entries: one.entries + other.entries, bytes: one.bytes + other.bytes)
    }
}
