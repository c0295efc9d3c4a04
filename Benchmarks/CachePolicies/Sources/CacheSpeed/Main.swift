import Foundation

/// Prints how fast the caches are beside the bare calls that do the least of the same work, as Markdown. All that is compared runs
/// in turns in one process.
///
///     CacheSpeed [--smoke] [--folder FOLDER] [memory] [disk] [large]
@main
enum Main {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isSmoke = arguments.contains("--smoke")
        arguments.removeAll { $0 == "--smoke" }
        var parent = NSTemporaryDirectory()
        if let place = arguments.firstIndex(of: "--folder"), place + 1 < arguments.count {
            parent = arguments.remove(at: place + 1)
            arguments.remove(at: place)
        }
        func isWanted(_ part: String) -> Bool { arguments.isEmpty || arguments.contains(part) }

        if isWanted("memory") { try await MemorySpeed(isSmoke: isSmoke).run() }
        guard isWanted("disk") || isWanted("large") else { return }
        let folder = "\(parent)/cache-speed-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let disk = DiskSpeed(isSmoke: isSmoke, folder: folder)
        if isWanted("disk") { try await disk.run() }
        if isWanted("large") { try await disk.runLarge() }
    }
}
