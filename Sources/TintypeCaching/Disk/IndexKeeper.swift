internal import CSQLite
internal import FoundationEssentials
internal import Glibc

/// Keeps the index: opens, replaces, and closes it, and brings into it what happened to the files.
///
/// One thread at a time uses the index. Files change first, rows follow.
final class IndexKeeper: Sendable {
    /// The number of names that make a batch.
    static let batchSize = 512
    /// The milliseconds that a thread waits for another process that uses the index.
    private static let busyTimeout: Int32 = 200

    private struct State {
        var index: DiskIndex?
        /// The file that is open, and its directory.
        var inode: UInt64 = 0
        var directory: OpenDirectory?
        /// The reason why the index is not used: it is that of a newer version, or of another program.
        var refusal: String?
    }

    let context: DiskContext
    let pending: PendingWrites
    let notes: ReadNotes
    private let state = Lock(State())
    let flags = Lock((failures: 0, needsComparison: false))

    init(_ context: DiskContext, pending: PendingWrites, notes: ReadNotes) {
        self.context = context
        self.pending = pending
        self.notes = notes
    }

    /// True if the index could not be used lately, mostly because another process holds it. Until a batch is written, neither stores nor
    /// clearing wait for it.
    var hasFailed: Bool { failures > 0 }

    /// The number of uses of the index that failed since a batch was written.
    var failures: Int { flags.withLock { $0.failures } }

    func noteFailure() { flags.withLock { $0.failures += 1 } }

    /// True if the index missed a change of the files, so that all folders have to be compared with it.
    var needsComparison: Bool {
        get { flags.withLock { $0.needsComparison } }
        set { flags.withLock { $0.needsComparison = newValue } }
    }

    /// Runs a closure with the index, after making or replacing it if need be.
    ///
    /// An index that turns out to be damaged is moved away, and the closure runs once more with a new one.
    /// - Returns: `nil` if nothing was ever stored.
    func withIndex<Result>(
        _ body: (DiskIndex, OpenDirectory) throws(SQLiteError) -> Result
    ) throws(ImageError) -> Result? {
        guard let directory = context.openDirectory() else { return nil }
        return try state.withLockUnchecked { state throws(ImageError) in
            var failure: SQLiteError?
            for _ in 0..<2 {
                do throws(SQLiteError) {
                    guard let index = try openIndex(&state, in: directory) else { break }
                    return try body(index, directory)
                } catch {
                    failure = error
                    noteFailure()
                    // Opened again, it may be writable: the volume was read-only for a while.
                    if error.primaryCode == SQLITE_READONLY { state.index = nil }
                    guard error.isDamageOfIndex else { break }
                    moveIndexAway(&state, in: directory, error)
                }
            }
            if let refusal = state.refusal { throw context.unavailable(refusal) }
            if let failure { throw context.failure(failure) }
            return nil
        }
    }

    /// Opens the index, if it is one that this version may use, and learns the totals.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` for the index of a newer version or another program.
    func checkIndex() throws(ImageError) {
        guard !hasFailed else { return }
        do throws(ImageError) {
            _ = try withIndex { index, _ throws(SQLiteError) in pending.noteIndexed(index.state.usage) }
        } catch {
            // Without an index, the journal waits.
            if error.code == .cacheUnavailable { throw error }
        }
    }

    /// - Returns: `nil` if there is none, and none may be made; ``State/refusal`` has the reason, if any.
    private func openIndex(_ state: inout State, in directory: OpenDirectory) throws(SQLiteError) -> DiskIndex? {
        let status = try? directory.status(DiskIndex.file)
        let isWritable = directory.reasonAgainstWriting == nil
        if let index = state.index, index.isReadOnly != isWritable, state.directory === directory, let status,
            status.inode == state.inode
        {
            return index
        }
        state.index = nil
        state.refusal = nil
        guard try prepareFiles(&state, status, in: directory, isWritable: isWritable) else { return nil }
        let path = "\(directory.path)/\(DiskIndex.file)"
        let opened = try Database(
            path: path, mode: isWritable ? .readWrite : .immutable, busyTimeout: Self.busyTimeout)
        let isNew: Bool
        switch try DiskIndex.identify(opened) {
        case .newer(let version):
            state.refusal =
                "index.sqlite: a newer Tintype wrote the index (version \(version)), which is left alone; use another directory"
            return nil
        case .foreign:
            state.refusal =
                "index.sqlite: the file is a database of some other program and is left alone; use another directory"
            return nil
        case .new:
            guard isWritable else { return nil }
            try DiskIndex.createTables(in: opened)
            isNew = true
        case .ours: isNew = false
        }
        do throws(SQLiteError) {
            let index = try DiskIndex(opened, isReadOnly: !isWritable)
            if isWritable {
                // Where they can't be listed, there may be entries.
                let isEmpty = (try? directory.list(EntryName.root))?.contains { EntryName.isFolder($0) } == false
                try index.begin(isNew: isNew, isEmpty: isEmpty) { Journal.dead(in: directory).isEmpty }
            }
            state.index = index
        } catch {
            guard [SQLITE_READONLY, SQLITE_CANTOPEN].contains(error.primaryCode) else { throw error }
            // Where nothing can be written, nobody changes what is read.
            let database = try Database(path: path, mode: .immutable, busyTimeout: 0)
            state.index = try DiskIndex(database, isReadOnly: true)
        }
        state.directory = directory
        state.inode = (try? directory.status(DiskIndex.file))?.inode ?? 0
        return state.index
    }

    /// Makes the file of the index if there is none, and moves aside what SQLite would stumble over.
    /// - Parameter status: that of the file, if there is one.
    /// - Returns: false if there is no index, and none may be made; ``State/refusal`` has the reason, if any.
    private func prepareFiles(
        _ state: inout State, _ status: FileStatus?, in directory: OpenDirectory, isWritable: Bool
    ) throws(SQLiteError) -> Bool {
        if let status {
            guard status.isRegular else {
                state.refusal = "index.sqlite is no file, and is left alone; use another directory"
                return false
            }
            if isWritable, status.owner != geteuid() {
                // Of a run as another user. It may be readable only.
                let error = SQLiteError(code: SQLITE_PERM, message: "it belongs to another user")
                moveIndexAway(&state, in: directory, error)
                guard !directory.exists(DiskIndex.file) else { throw error }
            }
        }
        if !directory.exists(DiskIndex.file) {
            guard isWritable, directory.exists(DiskStore.marker) else { return false }
            // SQLite would make the file readable for others. An empty one is a new database to it.
            try? directory.create(DiskIndex.file)
        }
        if isWritable {
            for file in DiskIndex.sideFiles where (try? directory.status(file))?.isRegular == false {
                // SQLite would wait for a FIFO, and fail with a folder or a link.
                try? directory.rename(file, to: "\(file).\(WriterName())")
                guard !directory.exists(file) else {
                    state.refusal = "\(file) is no file, and can't be moved away; use another directory"
                    return false
                }
            }
        }
        return true
    }

    private func moveIndexAway(_ state: inout State, in directory: OpenDirectory, _ error: SQLiteError) {
        context.note(
            "\(context.path)/index.sqlite is damaged or can't be used, and is made again from the files: \(error)",
            cause: "damaged")
        state.index = nil
        try? directory.rename(DiskIndex.file, to: DiskIndex.damagedFile)
        // Left behind, the journal of the old index would be played into the new one.
        for file in DiskIndex.sideFiles { try? directory.remove(file) }
    }

    /// Writes that all is in the index, if so, and closes it.
    func close() {
        _ = try? withIndex { index, _ throws(SQLiteError) in
            guard !index.isReadOnly, pending.isEmpty else { return }
            try index.transaction { () throws(SQLiteError) in index.state.isClosed = true }
        }
        state.withLockUnchecked { $0 = State() }
    }
}
