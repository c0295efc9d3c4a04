#if GTK
import Foundation
import Tintype

/// The limits of the cache that the user has chosen, in a file of the user's configuration.
struct CacheLimits: Codable {
    /// The capacities in megabytes; `nil` for those that the cache begins with.
    var memory: Int?
    var disk: Int?

    /// The limits that can be chosen, in megabytes.
    static let range = 10...1_000_000

    private static var file: URL {
        let environment = ProcessInfo.processInfo.environment
        let folder =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".config")
        return folder.appending(path: "tintype-gallery/cache.json")
    }

    /// Returns the limits that were saved; none if there are none, or if the file can't be read.
    static func saved() -> CacheLimits {
        guard let data = try? Data(contentsOf: file),
            let limits = try? JSONDecoder().decode(CacheLimits.self, from: data)
        else { return CacheLimits() }
        func valid(_ megabytes: Int?) -> Int? { megabytes.flatMap { range.contains($0) ? $0 : nil } }
        return CacheLimits(memory: valid(limits.memory), disk: valid(limits.disk))
    }

    func save() throws {
        try FileManager.default.createDirectory(
            at: Self.file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try JSONEncoder().encode(self).write(to: Self.file, options: .atomic)
    }

    /// Gives the caches the limits. Images in memory that exceed them go at once, and those on disk with the next sweep.
    func apply() {
        if let memory { MemoryCache.default.configuration.capacity = .megabytes(memory) }
        if let disk { DiskCache.default.configuration.capacity = .megabytes(disk) }
    }
}
#endif
