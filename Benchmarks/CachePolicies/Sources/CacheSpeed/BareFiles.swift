import Foundation

/// Files with nothing around them: the calls that a cache of files cannot do without.
struct BareFiles {
    let folder: String

    init(_ folder: String) throws {
        self.folder = folder
        for shard in 0..<256 {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(shard)", withIntermediateDirectories: true)
        }
    }

    private func path(_ index: Int) -> String { "\(folder)/\(index & 255)/\(index)" }

    /// `open`, `write`, `close` of a temporary name, `rename`.
    func put(_ index: Int, _ data: Data) {
        let temporary = "\(folder)/temporary"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let written = data.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard file >= 0, written == data.count, close(file) == 0, rename(temporary, path(index)) == 0 else {
            fail("cannot write \(path(index))")
        }
    }

    /// `open`, `fstat`, `read`, `close` into fresh memory.
    func get(_ index: Int) -> Int {
        let file = open(path(index), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else { fail("cannot read \(path(index))") }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(status.st_size), alignment: 16)
        defer { memory.deallocate() }
        return read(file, memory, Int(status.st_size))
    }

    /// What a cache without an index does to make room: lists and looks at all files, and removes those that were changed
    /// longest ago.
    static func removeOldest(_ count: Int, in folder: String) -> Int {
        var found: [(time: Int, path: String)] = []
        for shard in list(folder) {
            for name in list("\(folder)/\(shard)") {
                let path = "\(folder)/\(shard)/\(name)"
                var status = stat()
                if stat(path, &status) == 0 { found.append((status.st_mtim.tv_sec, path)) }
            }
        }
        found.sort { $0.time < $1.time }
        for file in found.prefix(count) { unlink(file.path) }
        return found.count
    }

    /// Paths of files that are spread over the folders.
    static func paths(_ count: Int, in folder: String, skipping: Int) -> [String] {
        var paths: [String] = []
        let shards = list(folder).filter { $0.utf8.count == 2 }
        for shard in shards {
            let names = list("\(folder)/\(shard)")
            let part = count / max(1, shards.count) + 1
            paths += names.dropFirst(skipping / max(1, shards.count)).prefix(part).map { "\(folder)/\(shard)/\($0)" }
        }
        return Array(paths.prefix(count))
    }

    private static func list(_ folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The name of the file system that a folder is on.
    static func fileSystem(of folder: String) -> String {
        let mounts = ((try? String(contentsOfFile: "/proc/mounts", encoding: .utf8)) ?? "").split(separator: "\n")
        let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path + "/"
        var found: (point: Substring, type: Substring)?
        for mount in mounts {
            let fields = mount.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1]
            guard path.hasPrefix(point.hasSuffix("/") ? String(point) : point + "/") else { continue }
            if point.count >= found?.point.count ?? 0 { found = (point, fields[2]) }
        }
        return found.map { String($0.type) } ?? "an unknown file system"
    }
}

/// Ends the program: a benchmark that failed measures nothing.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message): \(String(cString: strerror(errno)))\n".utf8))
    exit(1)
}
