internal import FoundationEssentials
internal import Glibc

/// Removing all entries at once.
extension DiskStore {
    /// The folder of cleared entries that are being removed.
    private static let trash = "trash"

    /// Takes all entries away from all readers at once; ``emptyTrash(limit:)`` removes the files.
    func removeAll() throws(ImageError) {
        guard let directory = try directoryForRemoving() else { return }
        notes.clear()
        reader.encodedMemory?.removeAll()
        try? directory.remove(DiskContext.importsMark)
        context.hasImports = false
        do throws(FileError) {
            try moveEntriesAway(in: directory)
        } catch {
            throw context.failure(error, .cacheWriteFailed)
        }
        hand.withLock { $0.noteClearing() }
        // On a full disk no sizes can be written, and the former ones would come back.
        try? directory.remove(Self.sizesFile)
        forgetPreparation()
        _ = try? directoryForWriting()
        saveSizes()
    }

    private func moveEntriesAway(in directory: OpenDirectory) throws(FileError) {
        while true {
            do throws(FileError) {
                try directory.makeFolder(Self.trash)
                return try directory.rename(EntryName.root, to: "\(Self.trash)/\(WriterName())")
            } catch {
                // A full disk has no room for a folder, and its name may be that of a file or a link.
                if error.isDiskFull || error.isNotADirectory { return try removeEntriesInPlace(in: directory) }
                // Another process may just have emptied the trash, and removed it.
                guard error.isMissing else { throw error }
                guard try directory.isPresent(EntryName.root) else { return }
            }
        }
    }

    private func removeEntriesInPlace(in directory: OpenDirectory) throws(FileError) {
        for folder in 0..<EntryName.folders {
            let path = EntryName.folderPath(folder)
            do throws(FileError) {
                for file in try directory.list(path) where isOfCache(file) {
                    do throws(FileError) {
                        try directory.remove("\(path)/\(file)")
                    } catch {
                        guard error.isMissing || error.isOfFolder else { throw error }
                    }
                }
            } catch {
                // A folder that can't be read is not an empty one.
                guard error.isMissing else { throw error }
            }
        }
        removeEmptyFolders(in: directory)
    }

    /// Removes folders without entries: on a volume that has no room for files, folders take it, too.
    func removeEmptyFolders(in directory: OpenDirectory) {
        for folder in 0..<EntryName.folders { try? directory.removeDirectory(EntryName.folderPath(folder)) }
    }

    /// True for the names of files in the folders of entries.
    private func isOfCache(_ file: String) -> Bool { EntryName(file) != nil || WriterName.isUnfinished(file) }

    /// Moves a folder that has the name of an entry out of the way.
    func moveToTrash(_ name: EntryName, in directory: OpenDirectory) throws(FileError) {
        let tree = "\(Self.trash)/\(WriterName())"
        try directory.makeFolder(Self.trash)
        try directory.makeFolder(tree)
        try directory.rename(name.path, to: "\(tree)/\(name.text)")
    }

    /// Removes up to `limit` files of what was cleared; true if more may be left. Files that the cache has not named are put back.
    func emptyTrash(limit: Int) -> Bool {
        guard let directory = context.openDirectory(), directory.reasonAgainstWriting == nil
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
                let files = EntryName.isFolder(folder) ? try? directory.list(path) : nil
                for file in files ?? [] where isOfCache(file) {
                    guard left > 0 else { return true }
                    // One that can't be removed doesn't count, so that the caller doesn't try for ever.
                    if (try? directory.remove("\(path)/\(file)")) != nil { left -= 1 }
                }
                if (try? directory.removeDirectory(path)) == nil { putBack(folder, from: path, in: directory) }
            }
            try? directory.removeDirectory(tree)
        }
        try? directory.removeDirectory(Self.trash)
        return false
    }

    /// Puts files of other programs back. An entry that could not be removed stays in the trash, where nobody finds it.
    private func putBack(_ name: String, from path: String, in directory: OpenDirectory) {
        let place = "\(EntryName.root)/\(name)"
        guard let status = try? directory.status(path), let prepared = try? directoryForWriting() else { return }
        guard status.isDirectory else {
            try? prepared.renameUnlessExisting(path, to: place)
            return
        }
        guard EntryName.isFolder(name) else {
            try? prepared.rename(path, to: place)
            return
        }
        let foreign = ((try? directory.list(path)) ?? []).filter { !isOfCache($0) }
        guard !foreign.isEmpty else { return }
        try? prepared.makeFolder(place)
        for file in foreign { try? prepared.renameUnlessExisting("\(path)/\(file)", to: "\(place)/\(file)") }
        try? prepared.removeDirectory(path)
    }
}
