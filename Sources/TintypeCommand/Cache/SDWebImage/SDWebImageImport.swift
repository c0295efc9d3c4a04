internal import CLinux
internal import FoundationEssentials
internal import Glibc
internal import Tintype

/// The files in a disk cache of SDWebImage 3, 4, or 5: the files of a directory and of the directories in it, four levels deep.
///
/// The name of a file is the digest of its key, so only a list of keys tells the images. SDWebImage's keys are URLs unless the program said
/// otherwise.
struct SDWebImageFiles {
    struct File {
        var path: String
        var directory: String
        var size: Int
        var modified: Date
    }

    private static let maximumDepth = 4

    private var files: [String: File] = [:]
    /// The number of files with other names, of links, and of empty files.
    private(set) var foreign = 0

    /// The number of files whose key isn't known.
    var unknown: Int { files.count }

    /// Lists a directory.
    /// - Throws: ``ImageError/Code/cacheUnavailable``
    init(in directory: String) throws(ImageError) {
        guard ![directory, directory + "/.."].contains(where: Self.isCacheOfTintype) else {
            throw ImageError(
                .cacheUnavailable, stage: .cache, source: directory,
                reason: "it is a disk cache of Tintype, not one of SDWebImage")
        }
        do {
            try collect(directory, depth: 0)
        } catch {
            throw ImageError(
                .cacheUnavailable, stage: .cache, source: directory, reason: "the directory can't be listed",
                underlying: error)
        }
    }

    /// Removes and returns the file of a key.
    mutating func take(_ key: String) -> File? { files.removeValue(forKey: SDWebImageName.legacyFileName(forKey: key)) }

    private static func isCacheOfTintype(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/entries/.tintype")
    }

    private mutating func collect(_ directory: String, depth: Int) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where !Task.isCancelled {
            let path = "\(directory)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                // A directory inside that can't be read, or is too deep, is left out.
                if depth < Self.maximumDepth, !Self.isCacheOfTintype(path) { try? collect(path, depth: depth + 1) }
            case S_IFREG where status.st_size > 0:
                guard let digest = SDWebImageName.digest(ofFileName: name) else { fallthrough }
                let modified = Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec))
                // Versions name the same image differently; the newest counts.
                if let known = files[digest], known.modified >= modified { continue }
                files[digest] = File(path: path, directory: directory, size: status.st_size, modified: modified)
            default: foreign += 1
            }
        }
    }
}

/// Stores the images of a disk cache of SDWebImage under the keys of a list.
///
/// The latest files come first. Entries that exist stay, none is evicted, and an import that was interrupted continues when it is run
/// again.
struct SDWebImageImport {
    var disk: DiskCache
    /// True to remove the imported files, and directories that become empty.
    var removesFiles: Bool
    /// The keys of transformers whose images are imported, too.
    var transformers: [String] = []
    var imported = CacheUsage()
    /// The number of files whose images the cache had already.
    var existing = 0
    /// The number of files that could not be read, or aren't SDWebImage's.
    var foreign = 0
    /// The number of files whose keys aren't in the list.
    var unknown = 0
    /// The number of files that didn't fit.
    var withoutRoom = 0

    init(_ disk: DiskCache, removesFiles: Bool) {
        self.disk = disk
        self.removesFiles = removesFiles
    }

    mutating func run(
        _ directory: String, keys: URLList, progress: (_ done: Int, _ total: Int) -> Void
    ) async throws(ImageError) {
        var files = try SDWebImageFiles(in: directory)
        var found: [(key: String, file: SDWebImageFiles.File)] = []
        while let key = try await keys.next() {
            for key in [key] + transformers.map({ SDWebImageName.key(key, transformedBy: $0) }) {
                if let file = files.take(key) { found.append((key, file)) }
            }
        }
        (foreign, unknown) = (files.foreign, files.unknown)
        found.sort { $0.file.modified > $1.file.modified }
        var usage = await disk.usage()
        for (index, (key, file)) in found.enumerated() {
            guard !Task.isCancelled else {
                throw ImageError(.cancelled, stage: .cache, source: directory, reason: "canceled before the end")
            }
            if try await take(file, ImageKey(source: key), &usage) {
                removeEmptyDirectories(file.directory, upTo: directory)
            }
            progress(index + 1, found.count)
        }
    }

    /// - Returns: true if the file was removed.
    private mutating func take(
        _ file: SDWebImageFiles.File, _ key: ImageKey, _ usage: inout CacheUsage
    ) async throws(ImageError) -> Bool {
        if await disk.contains(key) {
            existing += 1
        } else {
            // In whole blocks, with room for the cache's own data beside the image.
            let size = (file.size + 1_024 + 4_095) / 4_096 * 4_096
            let limits = disk.configuration
            guard usage.bytes + size <= limits.capacity.bytes, usage.entries < limits.maximumCount ?? .max else {
                withoutRoom += 1
                return false
            }
            guard let data = try? Data(contentsOf: URL(filePath: file.path)), !data.isEmpty else {
                foreign += 1
                return false
            }
            let entry = DiskCacheEntry(
                data: data, created: file.modified, mimeType: ImageFormat(sniffing: data)?.mimeType,
                extendedData: Self.extendedData(file.path))
            try await disk.store(entry, forKey: key)
            imported.entries += 1
            imported.bytes += data.count
            usage.entries += 1
            usage.bytes += size
        }
        return removesFiles && unlink(file.path) == 0
    }

    /// The data that SDWebImage keeps beside an image, in an extended attribute.
    private static func extendedData(_ path: String) -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let name = "user.com.hackemist.SDDiskCache"
        let size = tintype_attribute(file, name, nil, 0)
        // The kernel stores no more.
        guard size > 0, size <= 64 << 10 else { return size == 0 ? Data() : nil }
        var value = Data(count: size)
        let read = value.withUnsafeMutableBytes { tintype_attribute(file, name, $0.baseAddress, size) }
        return read == size ? value : nil
    }

    /// Removes a directory that is empty now, and then those above it that became empty.
    private func removeEmptyDirectories(_ path: String, upTo top: String) {
        var path = path
        while rmdir(path) == 0, path != top, let slash = path.lastIndex(of: "/") { path = String(path[..<slash]) }
    }
}
