internal import FoundationEssentials
internal import Glibc

/// The work that needs no hurry: comparing the index with the files, checking all entries, and clearing.
extension DiskStore {
    /// The age in microseconds from which an unfinished file is one that a crash left behind.
    private static let leftoverAge: Int64 = 3_600_000_000
    /// The folder of cleared entries that are being removed.
    private static let trash = "trash"

    // MARK: The index and the files

    /// Makes the index agree with the files: adopts the files of an older layout, writes what waits, and compares what was not compared
    /// since the index was made or the computer lost power.
    /// - Returns: the entries that were evicted.
    @discardableResult func settle() throws(ImageError) -> CacheSweep {
        adoptLegacyFilesIfNeeded()
        let evicted = try writeIndex()
        while try compareSlice() {}
        return evicted
    }

    /// Compares some folders with an index that was made anew; true if more are left.
    func compareSlice() throws(ImageError) -> Bool {
        let isLeft = try withIndex { index, directory, _ throws(SQLiteError) in
            var folder = index.state.nextFolder
            guard folder < EntryName.folders, !index.isReadOnly else { return false }
            var names = 0
            while folder < EntryName.folders, names < Self.sliceSize {
                names += try compare(folder, with: index, directory)
                folder += 1
            }
            try index.transaction { () throws(SQLiteError) in index.state.nextFolder = folder }
            return folder < EntryName.folders
        }
        guard let isLeft else { return false }
        // What was found may be too much.
        if !isLeft { try writeIndex() }
        return isLeft
    }

    /// Compares the next folders with the index, whatever their state, and removes unfinished files that a crash left behind.
    func sweepFolders(_ count: Int) throws(ImageError) {
        _ = try withIndex { index, directory, _ throws(SQLiteError) in
            guard !index.isReadOnly else { return }
            for _ in 0..<count {
                let folder = index.state.sweepFolder & (EntryName.folders - 1)
                removeLeftovers(inFolder: folder, directory)
                _ = try compare(folder, with: index, directory)
                try index.transaction { () throws(SQLiteError) in index.state.sweepFolder = folder + 1 }
            }
        }
    }

    /// Gives the files of a folder rows, and removes rows without files.
    /// - Returns: the number of files.
    private func compare(
        _ folder: Int, with index: DiskIndex, _ directory: CacheDirectory
    ) throws(SQLiteError) -> Int {
        let files: [String]
        do throws(FileError) {
            files = try directory.list(EntryName.folderPath(folder))
        } catch {
            // A folder that can't be read is not an empty one.
            guard error.isMissing else { return 0 }
            files = []
        }
        let names = Set(files.compactMap { EntryName($0) })
        let rows = Set(try index.names(inFolder: folder))
        let different = Array(names.symmetricDifference(rows))
        let time = time
        for start in stride(from: 0, to: different.count, by: Self.sliceSize) {
            try index.transaction { () throws(SQLiteError) in
                for name in different[start..<min(start + Self.sliceSize, different.count)] {
                    // Either may have changed meanwhile.
                    switch look(at: name, in: directory, now: time) {
                    case .present(let row): if try index.row(name) == nil { try index.put(row) }
                    case .absent: try index.remove(name)
                    case .unknown: break
                    }
                }
            }
        }
        return names.count
    }

    private func removeLeftovers(inFolder folder: Int, _ directory: CacheDirectory) {
        let path = EntryName.folderPath(folder)
        for file in (try? directory.list(path)) ?? [] where WriterName.unfinished(file) != nil {
            guard let status = try? directory.status("\(path)/\(file)"), status.modified < time - Self.leftoverAge
            else { continue }
            try? directory.remove("\(path)/\(file)")
        }
    }

    // MARK: Verifying

    /// Reads all entries of a folder, removes those that are damaged, and makes the index agree with the folder.
    func verify(folder: Int) throws(ImageError) -> CacheVerification {
        var report = CacheVerification()
        guard let directory = openDirectory() else { return report }
        let path = EntryName.folderPath(folder)
        for name in ((try? directory.list(path)) ?? []).compactMap({ EntryName($0) }) {
            guard let (size, damage) = check(name, in: directory) else { continue }
            report.checked.entries += 1
            report.checked.bytes += size
            guard let (key, inode) = damage else { continue }
            report.damaged.append(key)
            discard(name, inode: inode, isDamaged: true)
        }
        performDiscards()
        _ = try withIndex { index, directory, _ throws(SQLiteError) in
            guard !index.isReadOnly else { return }
            _ = try compare(folder, with: index, directory)
        }
        return report
    }

    /// Reads a file completely.
    /// - Returns: the space that it takes, and its key and inode if it is damaged; `nil` if it is gone or can't be read now.
    private func check(
        _ name: EntryName, in directory: CacheDirectory
    ) -> (size: Int, damage: (key: ImageKey, inode: UInt64)?)? {
        do throws(FileError) {
            guard case .bytes(let bytes, let status) = try directory.contents(of: name.path) else { return nil }
            let contents = bytes.withUnsafeBytes { EntryFile.contents($0, key: nil) }
            guard case .damaged = contents else { return (status.allocatedSize, nil) }
            let description = (try? directory.description(of: name.path)) ?? nil
            return (status.allocatedSize, (description?.0.key ?? ImageKey(source: name.path), status.inode))
        } catch {
            guard error.code == EIO, let status = try? directory.status(of: name) else { return nil }
            return (status.allocatedSize, (ImageKey(source: name.path), status.inode))
        }
    }

    // MARK: Clearing

    /// Takes all entries away from all readers at once; ``emptyTrash(limit:)`` removes the files.
    func removeAll() throws(ImageError) {
        guard let directory = try directoryForRemoving() else { return }
        notes.withLock { $0 = Notes() }
        encodedMemory?.removeAll()
        try? directory.remove(CacheDirectory.imports)
        directory.hasImports.withLock { $0 = false }
        var failure: FileError?
        var isMoved = false
        func move() {
            do throws(FileError) {
                try directory.makeFolder(Self.trash)
                // With the lock, so that no store of this process is half done.
                try writer.withLockUnchecked { writer throws(FileError) in
                    try directory.rename("entries", to: "\(Self.trash)/\(WriterName())")
                    writer.prepared = nil
                    writer.pending = [:]
                    writer.pendingBytes = 0
                    writer.indexed = CacheUsage()
                }
            } catch {
                if !error.isMissing { failure = error }
            }
            isMoved = true
        }
        do throws(ImageError) {
            _ = try withIndex { index, _, _ throws(SQLiteError) in
                // In the transaction: rows that another process writes later are those of later files.
                try index.transaction { () throws(SQLiteError) in
                    if !isMoved { move() }
                    try index.removeAll()
                }
            }
        } catch {
            // Another process holds the index, or the disk is full. Rows without files heal; images that should be gone would not.
            if !isMoved { move() }
            needsComparison.withLock { $0 = true }
        }
        if let failure { throw self.failure(failure, .cacheWriteFailed) }
        noteUsage(CacheUsage())
        _ = try? directoryForWriting()
    }

    /// Removes up to `limit` files of what was cleared; true if more may be left. Files that the cache has not named are put back.
    func emptyTrash(limit: Int) -> Bool {
        guard let directory = directory.withLock({ $0 }) ?? openDirectory(), directory.reasonAgainstWriting == nil
        else { return false }
        var left = limit
        for tree in (try? directory.list(Self.trash)) ?? [] where WriterName(tree) != nil {
            let tree = "\(Self.trash)/\(tree)"
            for folder in (try? directory.list(tree)) ?? [] {
                let path = "\(tree)/\(folder)"
                guard folder != ".tintype" else {
                    try? directory.remove(path)
                    continue
                }
                for file in (try? directory.list(path)) ?? [] {
                    guard left > 0 else { return true }
                    if EntryName(file) != nil || WriterName.unfinished(file) != nil {
                        left -= 1
                        try? directory.remove("\(path)/\(file)")
                    }
                }
                do throws(FileError) { try directory.removeDirectory(path) } catch {
                    putBack(path, as: "entries/\(folder)", in: directory)
                }
            }
            try? directory.removeDirectory(tree)
        }
        try? directory.removeDirectory(Self.trash)
        return false
    }

    /// Puts what is left of a folder back: files of other programs.
    private func putBack(_ path: String, as place: String, in directory: CacheDirectory) {
        guard let directory = try? directoryForWriting() else { return }
        guard let files = try? directory.list(path) else {
            // No folder.
            if !directory.exists(place) { try? directory.rename(path, to: place) }
            return
        }
        try? directory.makeFolder(place)
        for file in files where !directory.exists("\(place)/\(file)") {
            try? directory.rename("\(path)/\(file)", to: "\(place)/\(file)")
        }
        try? directory.removeDirectory(path)
    }
}
