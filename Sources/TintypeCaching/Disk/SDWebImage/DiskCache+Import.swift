internal import FoundationEssentials

/// The result of an import of SDWebImage's files.
public struct CacheImport: Sendable, Hashable, Codable {
    /// The files that were taken over, and their bytes.
    public var imported = CacheUsage()
    /// Files for which the cache had an entry already, which stays.
    public var existing = 0
    /// Files with other names, links, and files that are empty or cannot be read.
    public var foreign = 0
    /// Files for which there was no room: an import evicts nothing.
    public var withoutRoom = 0
    /// The number of files that have been examined, and the number of all.
    public var done = 0
    public var total = 0

    public init() {}
}

extension DiskCache {
    /// Takes over the images of a disk cache of SDWebImage 3, 4 or 5: of a directory and those in it, four levels deep.
    ///
    /// File names are digests of keys, so the keys are not known: an image is found by the digest of the key that is
    /// asked for, for an original. SDWebImage's keys are URLs unless the program said otherwise; its thumbnails and
    /// transformed images have keys that are none here, and age. The date of the file becomes
    /// ``DiskCacheEntry/created``, and what SDWebImage kept beside the image becomes ``DiskCacheEntry/extendedData``.
    ///
    /// The latest files come first. Entries that are there win. An import that was cut off goes on where it was when it
    /// is called again.
    /// - Parameters:
    ///   - directory: the path of the cache of SDWebImage.
    ///   - removingFiles: whether files are removed once they are entries, and directories once they are empty.
    ///   - progress: called after each file, on any thread.
    /// - Throws: ``ImageError/Code/cacheUnavailable`` if the directory cannot be listed, ``ImageError/Code/cancelled``,
    ///   and what ``store(_:forKey:)`` throws.
    /// - Complexity: keeps the names and dates of all files in memory, and one image at a time.
    @discardableResult
    public func importSDWebImage(
        directory: String, removingFiles: Bool = false, progress: (@Sendable (CacheImport) -> Void)? = nil
    ) async throws(ImageError) -> CacheImport {
        let reads = WorkQueue.files
        var emptied: Set<String> = []
        let (found, foreign) = try await reads.perform { [store] isCancelled throws(ImageError) in
            try store.importableFiles(in: directory, isCancelled: isCancelled)
        }
        var report = CacheImport()
        report.foreign = foreign
        report.done = foreign
        report.total = foreign + found.count
        if !found.isEmpty { try await write { store throws(ImageError) in try store.noteImports() } }
        for file in found {
            guard !Task.isCancelled else {
                throw ImageError(.cancelled, stage: .cache, source: directory, reason: "cancelled before the end")
            }
            if try await take(file, removingFiles: removingFiles, &report) { emptied.insert(file.directory) }
            report.done += 1
            progress?(report)
        }
        // Clearing meanwhile takes the mark away that later files need.
        if report.imported.entries > 0 { try await write { store throws(ImageError) in try store.noteImports() } }
        if !emptied.isEmpty {
            try await reads.perform { [emptied] _ in
                for folder in emptied { ForeignFile.removeEmptyDirectories(folder, upTo: directory) }
            }
        }
        return report
    }

    /// - Returns: true if the file was removed.
    private func take(
        _ file: ImportableFile, removingFiles: Bool, _ report: inout CacheImport
    ) async throws(ImageError) -> Bool {
        let key = SDWebImageName.importedKey(digest: file.digest)
        if await contains(key) {
            report.existing += 1
        } else {
            guard await hasRoom(for: file.size) else {
                report.withoutRoom += 1
                return false
            }
            let entry = try await WorkQueue.files.perform { [store] _ in
                store.reader.foreignEntry(file.path, limit: file.size, hasAttributes: true)
            }
            guard let entry else {
                report.foreign += 1
                return false
            }
            try await self.store(entry, forKey: key)
            report.imported.entries += 1
            report.imported.bytes += entry.data.count
        }
        guard removingFiles else { return false }
        return try await WorkQueue.files.perform { [store] _ in store.removeForeign(file.path) }
    }

    /// Returns true if another file fits without an eviction.
    private func hasRoom(for size: Int) async -> Bool {
        let limits = configuration
        // What goes with an image is not known before it is read.
        let usage = await approximateUsage()
        let (sum, overflow) = usage.bytes.addingReportingOverflow(FileStatus.allocatedSize(size + 1_024))
        return !overflow && sum <= limits.capacity.bytes && usage.entries < limits.maximumCount ?? .max
    }
}

/// A file that SDWebImage named.
struct ImportableFile: Sendable {
    var path: String
    var directory: String
    var digest: String
    var size: Int
    /// In microseconds since 1970.
    var modified: Int64
}

extension DiskStore {
    /// The files that can be imported, latest first, and how many others there are.
    func importableFiles(
        in directory: String, isCancelled: () -> Bool
    ) throws(ImageError) -> (files: [ImportableFile], foreign: Int) {
        var found: [ImportableFile] = []
        var foreign = 0
        guard ![directory, directory + "/.."].contains(where: isDirectoryOfTintype) else {
            throw ImageError(
                .cacheUnavailable, stage: .cache, source: directory,
                reason: "it is a disk cache of Tintype, not one of SDWebImage")
        }
        do throws(FileError) {
            try collect(directory, depth: 0, &found, &foreign, isCancelled: isCancelled)
        } catch {
            throw ImageError(
                .cacheUnavailable, stage: .cache, source: directory, reason: "cannot be listed: \(error.message)",
                underlying: error)
        }
        found.sort { ($0.modified, $1.path) > ($1.modified, $0.path) }
        return (found, foreign)
    }

    private static let deepest = 4

    /// True for the directory of a cache like this one. The journals of its former versions have names as SDWebImage gives them.
    private func isDirectoryOfTintype(_ path: String) -> Bool {
        ForeignFile.status("\(path)/\(Self.marker)") != nil
    }

    private func collect(
        _ directory: String, depth: Int, _ found: inout [ImportableFile], _ foreign: inout Int, isCancelled: () -> Bool
    ) throws(FileError) {
        for name in try ForeignFile.list(directory) where !isCancelled() {
            let path = "\(directory)/\(name)"
            guard let status = ForeignFile.status(path) else {
                foreign += 1
                continue
            }
            if status.isDirectory {
                if isDirectoryOfTintype(path) { continue }
                // Of the directories inside, one that cannot be read is nobody's loss.
                if depth < Self.deepest {
                    try? collect(path, depth: depth + 1, &found, &foreign, isCancelled: isCancelled)
                }
            } else if let digest = SDWebImageName.digest(ofFileName: name), status.isRegular, status.size > 0 {
                found.append(
                    ImportableFile(
                        path: path, directory: directory, digest: digest, size: status.size, modified: status.modified))
            } else {
                foreign += 1
            }
        }
    }

    /// Lets every process know that there are entries without keys.
    func noteImports() throws(ImageError) {
        let directory = try directoryForWriting()
        do throws(FileError) {
            try directory.create(DiskContext.importsMark)
        } catch {
            guard error.isExisting else { throw context.failure(error, .cacheWriteFailed) }
        }
        context.hasImports = true
    }

    func removeForeign(_ path: String) -> Bool {
        do throws(FileError) {
            try ForeignFile.remove(path)
            return true
        } catch {
            context.note("\(error)", cause: "import \(error.code)")
            return false
        }
    }
}
