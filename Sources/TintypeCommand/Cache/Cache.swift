internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import Tintype

/// `tintype cache`
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Manage the disk cache.",
        discussion: """
            Exit status: 0 for success, 1 if the cache can't be used, 64 for wrong usage, 130 after Ctrl-C.
            """,
        subcommands: [
            Stats.self, List.self, Verify.self, Clean.self, Clear.self, Import.self,
        ])

    /// The options that select a cache.
    struct Options: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                """
                The directory of the cache, such as ~/.cache/PROGRAM/tintype for the cache of a program. The default is the command's own: \
                $XDG_CACHE_HOME/tintype/tintype or ~/.cache/tintype/tintype.
                """,
                valueName: "dir"), completion: .directory)
        var cache: String?

        @Flag(help: "Print JSON: one object, or one per line.")
        var json = false

        func validate() throws {
            guard cache?.isEmpty != true else { throw ValidationError("--cache needs the path of a directory.") }
        }

        var directory: String { cache ?? DiskCache.Configuration.defaultDirectory }

        /// Opens the cache and passes it to a closure.
        ///
        /// By default limits are absent, so that the command removes nothing that the program that owns the cache would keep.
        func withCache(
            _ console: Console, capacity: ByteCount = .unlimited, maximumAge: Duration? = nil, maximumCount: Int? = nil,
            _ body: (DiskCache) async throws(ImageError) -> Void
        ) async throws {
            do throws(ImageError) {
                var status = stat()
                var problem = stat(directory, &status) == 0 ? 0 : errno
                if problem == 0 {
                    guard status.st_mode & S_IFMT == S_IFDIR else {
                        throw unusable("it is a file, not a directory; give the directory of the cache with --cache")
                    }
                    problem = access(directory, R_OK | X_OK) == 0 ? 0 : errno
                }
                // A cache that isn't there is empty.
                guard [0, ENOENT].contains(problem) else {
                    let advice = [EACCES, EPERM].contains(problem) ? "; run the command as the owner of the cache" : ""
                    throw unusable("can't be read: \(String(cString: strerror(problem)))\(advice)")
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
        static let configuration = CommandConfiguration(abstract: "Show cache usage.")
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
        static let configuration = CommandConfiguration(abstract: "Remove all images from the cache.")
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

/// The usage of a cache, or the images that were removed from it.
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
