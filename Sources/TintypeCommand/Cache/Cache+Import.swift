internal import ArgumentParser
internal import CommandSupport
internal import Tintype

extension CacheCommand {
    /// `tintype cache import DIR`
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import the disk cache of SDWebImage 3, 4, or 5.",
            discussion: """
                DIR is the directory of the files, or a directory above it. Imported images are found by the URLs under which \
                they were stored. Existing images of the cache stay, and none is evicted. An interrupted import continues \
                when it is run again.
                """)
        @OptionGroup var options: Options

        @Argument(
            help: ArgumentHelp("The directory of SDWebImage's cache, or a directory above it.", valueName: "dir"),
            completion: .directory)
        var from: String

        @Flag(help: "Remove the imported files, and directories that become empty.")
        var move = false

        @Option(help: ArgumentHelp("The largest size of the cache. (default: 1GB)", valueName: "size"))
        var maxSize: SizeLimitArgument?

        func validate() throws {
            guard !from.isEmpty else { throw ValidationError("import needs the path of a folder.") }
        }

        func run() async throws {
            try await Interruption.handled { try await run(Console.standard) }
        }

        func run(_ console: Console) async throws {
            let capacity = maxSize?.bytes ?? DiskCache.Configuration(directory: options.directory).capacity
            try await options.withCache(console, capacity: capacity) { disk throws(ImageError) in
                let report: CacheImport
                do throws(ImageError) {
                    report = try await disk.importSDWebImage(directory: from, removingFiles: move) { report in
                        guard report.done.isMultiple(of: 64) || report.done == report.total else { return }
                        console.showStatus("\(report.done) of \(report.total) files")
                    }
                } catch {
                    console.showStatus("")
                    throw error
                }
                console.showStatus("")
                var words = "imported \(report.imported.words)"
                if report.existing > 0 { words += ", \(report.existing) already cached" }
                if report.foreign > 0 { words += ", \(counted(report.foreign, "other file")) ignored" }
                if report.withoutRoom > 0 {
                    words += ", no room for \(report.withoutRoom) (use --max-size)"
                }
                options.print(ImportReport(directory: options.directory, from: from, report), words, on: console)
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
    var foreign: Int
    var withoutRoom: Int

    init(directory: String, from: String, _ report: CacheImport) {
        self.directory = directory
        self.from = from
        entries = report.imported.entries
        bytes = report.imported.bytes
        existing = report.existing
        foreign = report.foreign
        withoutRoom = report.withoutRoom
    }
}
