internal import ArgumentParser
internal import Glibc
internal import Tintype

/// `tintype cache`
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Looks after the disk cache.", subcommands: [Stats.self, Clear.self])

    /// Which cache.
    struct Options: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The cache's directory. The default is $XDG_CACHE_HOME/tintype or ~/.cache/tintype.",
                valueName: "dir"), completion: .directory)
        var cache: String?

        @Flag(help: "Print a JSON object.")
        var json = false

        func validate() throws {
            guard cache?.isEmpty != true else { throw ValidationError("--cache takes the path of a folder.") }
        }

        var directory: String { cache ?? DiskCache.Configuration.defaultDirectory }

        /// Does something with the cache, if it can be one.
        func withCache(_ console: Console, _ body: (DiskCache) async throws(ImageError) -> Void) async throws {
            do throws(ImageError) {
                var status = stat()
                if stat(directory, &status) == 0 {
                    guard status.st_mode & S_IFMT == S_IFDIR else { throw unusable("is a file, not a directory") }
                    guard access(directory, R_OK | X_OK) == 0 else { throw unusable("cannot be read") }
                }
                try await body(DiskCache(DiskCache.Configuration(directory: directory)))
            } catch {
                console.error(error.concerning(directory))
                throw ExitCode(1)
            }
        }

        private func unusable(_ reason: String) -> ImageError {
            ImageError(.cacheUnavailable, stage: .cache, reason: reason)
        }
    }

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Says how much the cache holds.")
        @OptionGroup var options: Options

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            try await options.withCache(console) { disk in
                let usage = await disk.usage()
                let size = "\(counted(usage.entries, "image")), \(ByteCount(usage.bytes))"
                let report = CacheReport(options.directory, usage)
                console.print(options.json ? JSONLine.encode(report) : "\(options.directory): \(size)")
            }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes everything from the cache.")
        @OptionGroup var options: Options

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            try await options.withCache(console) { disk throws(ImageError) in
                let usage = await disk.usage()
                try await disk.removeAll()
                let size = "\(counted(usage.entries, "image")), \(ByteCount(usage.bytes))"
                let report = CacheReport(options.directory, usage)
                console.print(options.json ? JSONLine.encode(report) : "\(options.directory): removed \(size)")
            }
        }
    }
}

/// What a cache holds, or what was removed from it.
struct CacheReport: Encodable, Equatable {
    var directory: String
    var entries: Int
    var bytes: Int

    init(_ directory: String, _ usage: CacheUsage) {
        self.directory = directory
        entries = usage.entries
        bytes = usage.bytes
    }
}
