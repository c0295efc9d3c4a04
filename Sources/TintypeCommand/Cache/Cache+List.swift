internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

extension CacheCommand {
    /// `tintype cache list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the images of the cache, in no particular order.")
        @OptionGroup var options: Options

        @Flag(name: .customLong("full-urls"), help: "Show URLs as the cache stores them, including credentials.")
        var fullURLs = false

        @Option(help: ArgumentHelp("List only images of this URL: the original and its variants.", valueName: "url"))
        var source: String?

        @Option(
            help: ArgumentHelp(
                "The largest number of images to list; 0 for all. (default: 100, and all with --json)",
                valueName: "count"))
        var limit: Int?

        func validate() throws {
            guard limit ?? 0 >= 0 else { throw ValidationError("--limit needs a number of at least 0") }
        }

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            let limit = limit ?? (options.json ? 0 : 100)
            let most = limit == 0 ? Int.max : limit
            try await options.withCache(console) { disk throws(ImageError) in
                var table = Table([
                    ("source", .left), ("variant", .left), ("type", .left), ("size", .right), ("stored", .left),
                    ("used", .left), ("ends", .left),
                ])
                var listed = 0
                for folder in source == nil ? DiskCache.folders : 0..<1 where listed < most && !Task.isCancelled {
                    let page =
                        if let source { await disk.entries(ofSource: source) } else {
                            await disk.entries(inFolder: folder)
                        }
                    for entry in page.prefix(most - listed) {
                        let report = CacheEntryReport(entry, showsCompleteURL: fullURLs)
                        if options.json { console.print(JSONLine.encode(report)) } else { table.add(report.cells) }
                        listed += 1
                    }
                }
                guard !options.json else { return }
                if listed > 0 { table.lines.forEach(console.print) }
                let total = await disk.usage()
                let isAll = source != nil || listed == total.entries
                console.note(
                    "\(options.directory): " + (isAll ? counted(listed, "image") : "\(listed) of \(total.words)")
                        + (isAll ? "" : "; use --limit 0 to list all"))
            }
        }
    }
}

/// The JSON report of an entry.
struct CacheEntryReport: Encodable {
    var source: String
    /// Empty for the original.
    var variant: String
    var mimeType: String?
    var bytes: Int
    var fileBytes: Int
    var created: String
    var accessed: String
    var expires: String?
    var idleSeconds: Double?
    var entityTag: String?
    var lastModified: String?
    var codec: String?

    init(_ listing: DiskCache.Listing, showsCompleteURL: Bool = false) {
        let entry = listing.entry
        source = ShownURL.text(listing.key.source, isComplete: showsCompleteURL)
        variant = listing.key.variant.description
        mimeType = entry.mimeType
        bytes = listing.bytes
        fileBytes = listing.fileBytes
        created = entry.created.ISO8601Format()
        accessed = listing.accessed.ISO8601Format()
        expires = entry.expires?.ISO8601Format()
        idleSeconds = entry.idleLifetime?.inSeconds
        entityTag = entry.validators?.entityTag
        lastModified = entry.validators?.lastModified
        codec = listing.codec
    }

    var cells: [String] {
        let end = expires ?? idleSeconds.map { "\(Duration.seconds($0).short) after use" } ?? ""
        return [source, variant, mimeType ?? "", "\(ByteCount(bytes))", created, accessed, end]
    }
}
