import Foundation

/// Prints how fast the caches are beside the bare calls that do the least of the same work, as Markdown. All that is compared runs
/// in turns in one process.
///
///     CacheSpeed [--smoke] [--folder FOLDER] [--entries COUNT] [memory] [loads] [zipf] [disk] [large] [resident]
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
        var entries: Int?
        if let place = arguments.firstIndex(of: "--entries"), place + 1 < arguments.count {
            entries = Int(arguments.remove(at: place + 1))
            arguments.remove(at: place)
        }
        if arguments.count == 3, arguments[0] == "--open", let known = Int(arguments[2]) {
            return try await ManyEntries.open(arguments[1], known: known)
        }
        if arguments.count == 3, arguments[0] == "--loads", let step = Int(arguments[2]) {
            return try await ResidentMemory.load(arguments[1], step: step)
        }
        func isWanted(_ part: String) -> Bool { arguments.isEmpty || arguments.contains(part) }

        if isWanted("memory") { try await MemorySpeed(isSmoke: isSmoke).run() }
        if isWanted("loads") { try await LoadSpeed(isSmoke: isSmoke).run() }
        if isWanted("zipf") { try await ZipfSpeed(isSmoke: isSmoke).run() }
        guard ["disk", "large", "resident"].contains(where: isWanted) else { return }
        let folder = "\(parent)/cache-speed-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if isWanted("resident") { try ResidentMemory(isSmoke: isSmoke, folder: folder).run() }
        if isWanted("disk") {
            try await DiskSpeed(isSmoke: isSmoke, count: entries ?? (isSmoke ? 500 : 100_000), folder: folder).run()
        }
        if isWanted("large") {
            let count = entries ?? (isSmoke ? 5_000 : 1_000_000)
            try await ManyEntries(isSmoke: isSmoke, count: count, folder: folder).run()
        }
    }
}
