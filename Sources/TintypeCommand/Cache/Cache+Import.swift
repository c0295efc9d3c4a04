internal import ArgumentParser
internal import CommandSupport
internal import Tintype

extension CacheCommand {
    /// `tintype cache import DIR --from FILE`
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import the disk cache of SDWebImage 3, 4, or 5.",
            discussion: """
                DIR is the directory of SDWebImage's files, or a directory above it. The names of the files are digests, so the import \
                needs a list of the URLs, or of the keys that the program used instead, and stores each image under its line of the list. \
                Images that the cache already has are kept, and none is evicted. Run an interrupted import again to continue it.
                """)
        @OptionGroup var options: Options

        @Argument(
            help: ArgumentHelp("The directory of SDWebImage's cache, or a directory above it.", valueName: "dir"),
            completion: .directory)
        var directory: String

        @Option(
            name: .customLong("from"),
            help: ArgumentHelp("The list of URLs, one per line; - for standard input.", valueName: "file"),
            completion: .file())
        var list: String

        @Option(
            name: .customLong("transformer"),
            help: ArgumentHelp(
                "The key of a transformer, such as SDImageBlurTransformer(5.000000), to import its images under SDWebImage's keys.",
                valueName: "key"))
        var transformers: [String] = []

        @Flag(help: "Remove the imported files, and directories that become empty.")
        var move = false

        @Option(help: ArgumentHelp("The largest size of the cache. (default: 1GB)", valueName: "size"))
        var maxSize: SizeLimitArgument?

        func validate() throws {
            guard !directory.isEmpty else { throw ValidationError("import needs the path of a directory.") }
        }

        func run() async throws {
            try await Interruption.handled { try await run(Console.standard) }
        }

        func run(_ console: Console) async throws {
            let capacity = maxSize?.bytes ?? DiskCache.Configuration(directory: options.directory).capacity
            try await options.withCache(console, capacity: capacity) { disk throws(ImageError) in
                var run = SDWebImageImport(disk, removesFiles: move)
                run.transformers = transformers
                defer { console.showStatus("") }
                try await run.run(directory, keys: try URLList([], file: list)) { done, total in
                    guard done.isMultiple(of: 64) || done == total else { return }
                    console.showStatus("\(done) of \(total) files")
                }
                console.showStatus("")
                var words = "imported \(run.imported.words)"
                if run.existing > 0 { words += ", \(run.existing) already cached" }
                if run.unknown > 0 { words += ", \(counted(run.unknown, "file")) not in the list" }
                if run.foreign > 0 { words += ", \(counted(run.foreign, "other file")) ignored" }
                if run.withoutRoom > 0 { words += ", no room for \(run.withoutRoom) (use --max-size)" }
                options.print(ImportReport(options.directory, from: directory, run), words, on: console)
            }
        }
    }
}

struct ImportReport: Encodable {
    var directory: String
    var from: String
    var entries: Int
    var bytes: Int
    var existing: Int
    var unknown: Int
    var foreign: Int
    var withoutRoom: Int

    init(_ directory: String, from: String, _ run: SDWebImageImport) {
        self.directory = directory
        self.from = from
        entries = run.imported.entries
        bytes = run.imported.bytes
        existing = run.existing
        unknown = run.unknown
        foreign = run.foreign
        withoutRoom = run.withoutRoom
    }
}
