extension DiskStore {
    /// Runs `body` with an open index; opens, makes or replaces it before that if need be.
    ///
    /// An index that turns out to be damaged is moved away, and `body` runs once more with a new one.
    func withIndex<Result>(
        _ body: (DiskIndex) throws(DiskFailure) -> Result
    ) throws(ImageError) -> Result {
        try writer.withLockUnchecked { writer throws(ImageError) in
            var attempt = 0
            while true {
                attempt += 1
                let index = try openIndex(&writer)
                do throws(DiskFailure) {
                    return try body(index)
                } catch {
                    switch error {
                    case .index(let error) where error.isCorruption && attempt == 1:
                        try replaceIndex(&writer, error)
                    case .index(let error): throw failure(error, .cacheWriteFailed)
                    case .file(let error): throw failure(error, .cacheWriteFailed)
                    case .refused(let reason):
                        note(reason, cause: reason)
                        throw ImageError(.cacheWriteFailed, stage: .cache, source: layout.directory, reason: reason)
                    case .replaced, .wouldWait:
                        // Somebody cleared the cache meanwhile. Once may happen, always does not.
                        guard attempt < 4 else {
                            throw ImageError(
                                .cacheWriteFailed, stage: .cache, source: layout.directory,
                                reason:
                                    "the files of the cache are removed by somebody else as fast as they are written")
                        }
                    }
                }
            }
        }
    }

    /// The index, if it is open and still the one in the directory.
    func openedIndex(_ writer: Writer) -> DiskIndex? {
        guard let index = writer.index, let known = writer.indexFile, let file = try? files.status(layout.index),
            file.inode == known.inode, file.device == known.device
        else { return nil }
        return index
    }

    private func openIndex(_ writer: inout Writer) throws(ImageError) -> DiskIndex {
        if let index = openedIndex(writer) { return index }
        close(&writer)
        Emptiness.mayEnd()
        defer { Emptiness.mayEnd() }
        do throws(FileError) {
            try files.makeDirectory(layout.data)
        } catch {
            throw failure(error, .cacheUnavailable)
        }
        tagDirectory()
        let lock = try lockDirectory()
        defer { withExtendedLifetime(lock) {} }
        return try openLocked(&writer, mayReplace: true)
    }

    private func lockDirectory() throws(ImageError) -> DirectoryLock {
        do throws(FileError) {
            return try DirectoryLock(layout.lock)
        } catch {
            throw failure(error, .cacheUnavailable)
        }
    }

    private func openLocked(_ writer: inout Writer, mayReplace: Bool) throws(ImageError) -> DiskIndex {
        // SQLite would make the file readable for others; an empty one is a new database to it.
        try? files.create(layout.index, parts: [])
        do throws(DiskIndexProblem) {
            let index = try DiskIndex.open(
                layout.index, hasFiles: { ((try? files.list(layout.data)) ?? []).isEmpty == false },
                rename: rename(_:to:))
            writer.index = index
            writer.indexFile = try? files.status(layout.index)
            index.inode = writer.indexFile?.inode ?? 0
            writer.isLocal = files.isLocal(layout.directory)
            attachTable(to: index)
            return index
        } catch {
            switch error {
            case .damaged(let error):
                guard mayReplace else { throw failure(error, .cacheUnavailable) }
                moveIndexAway(error)
                return try openLocked(&writer, mayReplace: false)
            case .newer(let version):
                throw unavailable(
                    "a newer Tintype wrote the index (version \(version)), which is left alone; use another directory"
                )
            case .foreign:
                throw unavailable("the file is some other program's database and is left alone; use another directory")
            case .failed(let error): throw failure(error, .cacheUnavailable)
            }
        }
    }

    /// Gives a file of an older version its new name; false if it is not there.
    private func rename(_ id: Int64, to newID: Int64) -> Bool {
        try? files.makeDirectory(layout.shard(layout.shard(of: newID)))
        // Left half done, it goes on where it was.
        return (try? files.rename(layout.file(id), to: layout.file(newID))) != nil
            || (try? files.status(layout.file(newID))) != nil
    }

    private func unavailable(_ reason: String) -> ImageError {
        note("\(layout.index): \(reason)", cause: reason)
        return ImageError(.cacheUnavailable, stage: .cache, source: layout.directory, reason: "index.sqlite: \(reason)")
    }

    /// Makes a new index in place of one that turned out to be damaged, unless another process has done so.
    private func replaceIndex(_ writer: inout Writer, _ error: SQLiteError) throws(ImageError) {
        let known = writer.indexFile
        close(&writer)
        let lock = try lockDirectory()
        defer { withExtendedLifetime(lock) {} }
        if let file = try? files.status(layout.index), file.inode == known?.inode { moveIndexAway(error) }
    }

    private func moveIndexAway(_ error: SQLiteError) {
        note("\(layout.index) is damaged and is made again from the files: \(error)", cause: "damaged")
        discardTable(nil)
        try? files.rename(layout.index, to: layout.damagedIndex)
        // Left behind, the log of the old index would be played into the new one.
        try? files.remove(layout.index + "-wal")
        try? files.remove(layout.index + "-shm")
        discardReaders()
    }

    private func close(_ writer: inout Writer) {
        writer = Writer()
        discardReaders()
    }

    /// Closes all connections.
    func close() { writer.withLock { close(&$0) } }
}

/// Why a change could not be made.
enum DiskFailure: Error {
    case index(SQLiteError)
    case file(FileError)
    /// A limit forbids it.
    case refused(String)
    /// Whoever must not wait would have to.
    case wouldWait
    /// The file was gone when its row was to be written.
    case replaced
}

extension DiskIndex {
    /// A transaction whose body may fail for other reasons than the index.
    func change<Result>(_ body: () throws(DiskFailure) -> Result) throws(DiskFailure) -> Result {
        var failure: DiskFailure?
        do throws(SQLiteError) {
            return try transaction { () throws(SQLiteError) in
                do throws(DiskFailure) {
                    return try body()
                } catch {
                    failure = error
                    if case .index(let error) = error { throw error }
                    throw SQLiteError(code: 0, message: "given up")
                }
            }
        } catch {
            throw failure ?? .index(error)
        }
    }
}

/// Runs a call to the index where other things may fail too.
func indexed<Result>(_ body: () throws(SQLiteError) -> Result) throws(DiskFailure) -> Result {
    do throws(SQLiteError) { return try body() } catch { throw .index(error) }
}
