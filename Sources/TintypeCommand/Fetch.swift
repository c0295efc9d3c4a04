internal import ArgumentParser
internal import FoundationEssentials
internal import Tintype

/// `tintype fetch`
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Downloads images and saves them.",
        discussion: """
            Every image is decoded before it is saved, so that nothing broken is. Without --format and --thumbnail the \
            bytes are saved as they came.

            A file is named after the last part of its URL, with the ending of its real format. Nothing is ever \
            overwritten: a second photo.jpg becomes photo-2.jpg, unless the same bytes are there already. A file \
            appears when it is complete.

            Each image is one line of output: path, format, size, bytes, where it came from, milliseconds. With --json \
            it is one object a line: url, path, format, width, height, bytes, source, ms; or url and error (code, \
            stage, reason). Errors are one line each on standard error.
            """)

    @Argument(help: ArgumentHelp("URLs of images.", valueName: "url"))
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "A list of URLs, one a line; blank lines and lines that begin with # do not count. - is standard input.",
            valueName: "file"), completion: .file())
    var from: String?

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "The folder to save in, made if it is missing. The default is the current one.", valueName: "dir"),
        completion: .directory)
    var output = "."

    @Option(
        help: ArgumentHelp(
            "The disk cache. The default is $XDG_CACHE_HOME/tintype or ~/.cache/tintype.", valueName: "dir"),
        completion: .directory)
    var cache: String?

    @Flag(name: .customLong("no-cache"), help: "Ask the server for every image, and keep nothing in a cache.")
    var noCache = false

    @Option(
        help: ArgumentHelp(
            "Make the images fit into this box, never larger than they are; one side may be left open: 400x.",
            valueName: "WxH"))
    var thumbnail: SizeArgument?

    @Option(help: ArgumentHelp("Save in this format: jpeg, png, webp, …", valueName: "format"))
    var format: String?

    @Option(help: "How many images are in hand at once, from 1 to 256.")
    var jobs = 6

    @Option(help: "How long a server may be silent, in seconds. (default: 15)")
    var timeout: Double?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard !urls.isEmpty || from != nil else { throw ValidationError("Give URLs, or a list of them with --from.") }
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs takes a number from 1 to 256.") }
        if let timeout {
            guard timeout.isFinite, timeout > 0, timeout <= 86_400 else {
                throw ValidationError("--timeout takes a number of seconds above 0, at most 86400.")
            }
        }
        guard !noCache || cache == nil else { throw ValidationError("--cache and --no-cache exclude each other.") }
        guard !output.isEmpty else { throw ValidationError("--output takes the path of a folder.") }
        guard cache?.isEmpty != true else { throw ValidationError("--cache takes the path of a folder.") }
        if let format { _ = try OutputFormat.named(format) }
    }

    func run() async throws {
        try await Interruption.handled { try await run(Console.standard) }
    }

    func run(_ console: Console) async throws {
        do {
            let list = try URLList(urls, file: from)
            var folder = output
            while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
            try OutputFile.makeDirectory(folder)
            let directory = noCache ? nil : cache ?? DiskCache.Configuration.defaultDirectory
            let stack = try ImageStack(
                // Memory would only be filled: each URL is asked for once.
                directory: directory, memory: .init(capacity: .megabytes(1)), jobs: jobs,
                timeout: timeout.map { .seconds($0) })
            let fetcher = ImageFetcher(
                manager: stack.manager, folder: OutputFolder(folder), thumbnail: thumbnail?.box,
                format: try format.map(OutputFormat.named), usesCache: !noCache, json: json, console: console)
            let summary = try await fetcher.run(list, jobs: jobs)
            await stack.manager.flush()
            // One image says all of itself in its one line.
            if summary.images + summary.failed > 1 { console.note(summary.line) }
            if summary.failed > 0 { throw ExitCode(1) }
        } catch let error as ImageError {
            if error.isCancellation { return }
            console.error(error)
            throw ExitCode(1)
        }
    }
}
