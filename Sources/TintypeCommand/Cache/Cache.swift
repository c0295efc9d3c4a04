internal import ArgumentParser
internal import Glibc
internal import Tintype

/// `tintype cache`
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Looks after the disk cache.",
        subcommands: [
            Stats.self, List.self, Verify.self, Clean.self, Clear.self, Import.self, Replay.self,
        ])

    /// Which cache.
    struct Options: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The cache's directory. The default is $XDG_CACHE_HOME/tintype or ~/.cache/tintype.",
                valueName: "dir"), completion: .directory)
        var cache: String?

        @Flag(help: "Print JSON: one object, or one a line.")
        var json = false

        func validate() throws {
            guard cache?.isEmpty != true else { throw ValidationError("--cache takes the path of a folder.") }
        }

        var directory: String { cache ?? DiskCache.Configuration.defaultDirectory }

        /// Does something with the cache, if it can be one.
        ///
        /// Without limits of its own a command removes nothing that the program that owns the cache would keep.
        func withCache(
            _ console: Console, capacity: ByteCount = .unlimited, maximumAge: Duration? = nil, maximumCount: Int? = nil,
            _ body: (DiskCache) async throws(ImageError) -> Void
        ) async throws {
            do throws(ImageError) {
                var status = stat()
                if stat(directory, &status) == 0 {
                    guard status.st_mode & S_IFMT == S_IFDIR else {
                        throw unusable("is a file, not a directory; give the cache's directory with --cache")
                    }
                    guard access(directory, R_OK | X_OK) == 0 else {
                        throw unusable(
                            "cannot be read: \(String(cString: strerror(errno))); run as the user that owns it")
                    }
                }
                let disk = DiskCache(
                    DiskCache.Configuration(
                        directory: directory, capacity: capacity, maximumAge: maximumAge, maximumCount: maximumCount,
                        minimumFreeSpace: 0))
                try await body(disk)
                await disk.flush()
            } catch {
                console.error(error.withSource(directory))
                throw ExitCode(1)
            }
        }

        private func unusable(_ reason: String) -> ImageError {
            ImageError(.cacheUnavailable, stage: .cache, reason: reason)
        }

        /// Prints a result: `DIRECTORY: WORDS`, or JSON.
        func print(_ report: some Encodable, _ words: String, on console: Console) {
            console.print(json ? JSONLine.encode(report) : "\(directory): \(words)")
        }
    }

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Says how much the cache holds.")
        @OptionGroup var options: Options

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            try await options.withCache(console) { disk throws(ImageError) in
                let usage = await disk.usage()
                options.print(CacheReport(options.directory, usage), usage.words, on: console)
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
                options.print(CacheReport(options.directory, usage), "removed \(usage.words)", on: console)
            }
        }
    }
}

extension CacheUsage {
    /// `2 images, 1.5 MB`
    var words: String { "\(counted(entries, "image")), \(ByteCount(bytes))" }
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
