internal import FoundationEssentials

/// Removing entries, and clearing.
extension DiskStore {
    /// Removes the entries that a closure names.
    /// - Returns: the number of entries that there were.
    func remove(_ names: (OpenDirectory) throws(FileError) -> [EntryName]) throws(ImageError) -> Int {
        guard let directory = try directoryForRemoving() else { return 0 }
        do throws(FileError) {
            var count = 0
            for name in try names(directory) where try remove(name, in: directory) != nil { count += 1 }
            return count
        } catch {
            throw failure(error, error.operation == "list" ? .cacheUnavailable : .cacheWriteFailed)
        }
    }

    /// - Parameter isExpected: a closure that returns false for a file that is to stay.
    /// - Returns: the status of the file; `nil` if there was none, or it stays.
    func remove(
        _ name: EntryName, in directory: OpenDirectory, where isExpected: (FileStatus) -> Bool = { _ in true }
    ) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            guard let status = try directory.remove(name.path, where: isExpected) else { return nil }
            hand.withLock { $0.noteRemoval(of: status.allocatedSize, in: name.folder) }
            return status
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Removes a file that reading found to be damaged or expired.
    func remove(_ stale: StaleFile) {
        guard let directory = try? existingDirectory(), directory.reasonAgainstWriting == nil,
            (try? remove(stale.name, in: directory, where: { $0.isSameFile(as: stale.status) })) != nil
        else { return }
        if stale.isDamaged { counters.withLock { $0.corruptions += 1 } }
    }

    /// Removes the entries of a folder that have expired.
    func removeExpired(inFolder folder: Int, of directory: OpenDirectory) -> CacheUsage {
        let aging = Aging(self, sweeping: true)
        var sweep = CacheUsage()
        for name in (try? directory.names(inFolder: folder)) ?? [] {
            guard let (description, status) = directory.description(of: name),
                aging.isExpired(description, modified: status.modified),
                (try? remove(name, in: directory) { $0.isSameFile(as: status) }) != nil
            else { continue }
            sweep += CacheUsage(entries: 1, bytes: status.allocatedSize)
        }
        look(folder: folder)
        return sweep
    }

    // MARK: Clearing

    /// The beginning of the names of cleared trees. They are beside the folder of entries, because a full disk has no room for a folder to put
    /// them in.
    private static let trash = "trash."

    /// Takes all entries away from all readers at once; ``emptyTrash()`` removes the files.
    func removeAll() throws(ImageError) {
        guard let directory = try directoryForRemoving() else { return }
        do throws(FileError) {
            try directory.rename(EntryName.root, to: "\(Self.trash)\(WriterName().text)")
        } catch {
            // Another process has just cleared it.
            guard error.isMissing else { throw failure(error, .cacheWriteFailed) }
        }
        hand.withLock { $0.noteClearing() }
        try? directory.remove(Self.sizesFile)
        forget(directory)
    }

    /// Removes a part of what was cleared, and what a crash left beside the entries; true if more may be left. Files that the cache has not
    /// named stay there.
    func emptyTrash() -> Bool {
        guard let directory = try? existingDirectory(), directory.reasonAgainstWriting == nil else { return false }
        for name in (try? directory.list(".")) ?? [] {
            // The writer's name is at the end.
            guard let period = name.lastIndex(of: "."), WriterName.isValid(String(name[period...].dropFirst())) else {
                continue
            }
            switch name[...period] {
            case "\(Self.sizesFile).": _ = try? directory.remove(name) { $0.modified < time - Self.leftoverAge }
            case Self.trash[...]: if emptyTrash(name, in: directory) { return true }
            default: break
            }
        }
        return false
    }

    /// - Returns: true if files may be left.
    private func emptyTrash(_ tree: String, in directory: OpenDirectory) -> Bool {
        var removed = 0
        for folder in (try? directory.list(tree)) ?? [] where EntryName.isFolder(folder) {
            let path = "\(tree)/\(folder)"
            for file in (try? directory.list(path)) ?? [] where EntryName(file) != nil || WriterName.isUnfinished(file)
            {
                if (try? directory.remove("\(path)/\(file)")) != nil { removed += 1 }
            }
            try? directory.removeDirectory(path)
            // Files that can't be removed don't count, so that the caller doesn't try for ever.
            if removed >= 500 { return true }
        }
        try? directory.remove("\(tree)/.tintype")
        try? directory.removeDirectory(tree)
        return false
    }
}
