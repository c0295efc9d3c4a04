internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype fetch`
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Download images and save them.",
        discussion: """
            Every image, or the first frame of an animation, is decoded before it is saved, so that no damaged image is saved. \
            Without --format, --thumbnail, --page, and transforming options, the original bytes are saved.

            A file is named after the last component of its URL, with the extension of its actual format. No file is \
            overwritten: a second photo.jpg becomes photo-2.jpg, unless a file with the same bytes exists. A file appears \
            only when it is complete.

            Each image is one line of output: path, format, size, bytes, source, milliseconds. With --json it is one object \
            per line: url, path, format, width, height, bytes, source, ms; or url and error (code, stage, reason). Each \
            error is one line on standard error. URLs are shown without user names and passwords, unless --full-urls is \
            given.

            Exit status: 0 if all images were saved, 1 if one failed (the others are saved), 64 for wrong usage, 130 after \
            Ctrl-C.
            """)

    @OptionGroup var download: DownloadArguments

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "The directory for the images, which is created if it doesn't exist. The default is the current directory.",
            valueName: "dir"),
        completion: .directory)
    var output = "."

    @Option(
        help: ArgumentHelp(
            "The directory of the disk cache. The default is $XDG_CACHE_HOME/tintype/tintype or ~/.cache/tintype/tintype.",
            valueName: "dir"),
        completion: .directory)
    var cache: String?

    @Flag(name: .customLong("no-cache"), help: "Request every image from its server, and use no cache.")
    var noCache = false

    @Option(
        name: .customLong("cache-policy"),
        help: ArgumentHelp(
            """
            The cache policy: cache-first, http (the rules of HTTP for private caches), \
            stale-while-revalidate, revalidate, reload, or cache-only. The default is cache-first.
            """, valueName: "policy"))
    var cachePolicy: CachePolicyArgument?

    @Option(
        help: ArgumentHelp(
            "Shrink the images to fit into this box. One side may be open: 400x.",
            valueName: "WxH"))
    var thumbnail: SizeArgument?

    @OptionGroup(title: "Transforming, in the order given")
    var transforms: TransformArguments

    @OptionGroup var page: PageArguments

    @OptionGroup var isolation: IsolationArguments

    @Option(help: ArgumentHelp("The format of the saved images: jpeg, png, webp, …", valueName: "format"))
    var format: String?

    func validate() throws {
        guard !noCache || cache == nil else { throw ValidationError("--cache and --no-cache exclude each other.") }
        guard !noCache || cachePolicy == nil else {
            throw ValidationError("--cache-policy and --no-cache exclude each other.")
        }
        guard !output.isEmpty else { throw ValidationError("--output needs the path of a directory.") }
        guard cache?.isEmpty != true else { throw ValidationError("--cache needs the path of a directory.") }
        if let format { _ = try OutputFormat.named(format) }
    }

    func run() async throws {
        try await Interruption.handled { try await run(Console.standard) }
    }

    func run(_ console: Console) async throws {
        do {
            let list = try download.list()
            var folder = output
            while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
            try OutputFile.makeDirectory(folder)
            let directory = noCache ? nil : cache ?? DiskCache.Configuration.defaultDirectory
            let coders = isolation.coders
            let stack = try ImageStack(
                // A larger memory cache has no use, because each URL is loaded once.
                directory: directory, memory: .init(capacity: .megabytes(1)), jobs: download.jobs,
                timeout: download.timeoutDuration, network: download.network, coders: coders)
            let fetcher = ImageFetcher(
                manager: stack.manager, folder: OutputFolder(folder), thumbnail: thumbnail?.box, page: page.index,
                transformer: try transforms.steps().transformer(coders: coders),
                format: try format.map(OutputFormat.named), usesCache: !noCache,
                cachePolicy: cachePolicy?.policy ?? .cacheFirst, headers: download.headers,
                runner: download.runner(console))
            let summary = try await fetcher.run(list)
            await stack.manager.flush()
            // The line of a single image needs no summary.
            if summary.images + summary.failed > 1 { console.note(summary.line) }
            if summary.failed > 0 { throw ExitCode(1) }
        } catch let error as ImageError {
            if error.isCancellation, Task.isCancelled { return }
            console.error(error)
            throw ExitCode(1)
        }
    }
}
