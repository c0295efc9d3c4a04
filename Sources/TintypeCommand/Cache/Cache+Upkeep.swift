internal import ArgumentParser
internal import CommandSupport
internal import Tintype

extension CacheCommand {
    /// `tintype cache verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read every image of the cache and discard damaged ones.",
            discussion: "Exit status: 0 if all images are intact, 1 if some were damaged.")
        @OptionGroup var options: Options

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            var isWhole = true
            try await options.withCache(console) { disk throws(ImageError) in
                let report = try await disk.verify()
                isWhole = report.damaged.isEmpty
                for key in report.damaged {
                    console.note("tintype: \(ShownURL.text(key.description)): damaged, discarded")
                }
                let words = isWhole ? "none damaged" : "\(report.damaged.count) damaged and discarded"
                options.print(
                    VerifyReport(options.directory, report), "\(report.checked.words) read, \(words)", on: console)
            }
            if !isWhole { throw ExitCode(1) }
        }
    }

    /// `tintype cache clean`
    struct Clean: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove images that have expired, and files that a crash left behind.",
            discussion: """
                Without limits, only images past the lifetime that the program set are removed; Cache-Control and Expires don't count. \
                With limits, the least recently used images are removed until the limits are met.
                """)
        @OptionGroup var options: Options

        @Option(
            help: ArgumentHelp(
                "Remove images that haven't been used for this time, such as 7d, 12h, or 30m.", valueName: "age"))
        var maxAge: AgeArgument?

        @Option(help: ArgumentHelp("Keep at most this size, such as 500MB.", valueName: "size"))
        var maxSize: SizeLimitArgument?

        @Option(help: ArgumentHelp("Keep at most this number of images.", valueName: "count"))
        var maxCount: Int?

        func validate() throws {
            guard maxCount ?? 0 >= 0 else { throw ValidationError("--max-count needs a number of at least 0") }
        }

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            try await options.withCache(
                console, capacity: maxSize?.bytes ?? .unlimited, maximumAge: maxAge?.duration, maximumCount: maxCount
            ) { disk throws(ImageError) in
                let removed = try await disk.removeExpired()
                let usage = await disk.usage()
                options.print(
                    CleanReport(directory: options.directory, removed: removed, left: usage),
                    "removed \(removed.words); \(usage.words) left", on: console)
            }
        }
    }
}

struct VerifyReport: Encodable {
    var directory: String
    var checked: CacheUsage
    var damaged: [String]

    init(_ directory: String, _ report: (checked: CacheUsage, damaged: [ImageKey])) {
        self.directory = directory
        checked = report.checked
        damaged = report.damaged.map { ShownURL.text($0.description) }
    }
}

struct CleanReport: Encodable {
    var directory: String
    var removed: CacheUsage
    var left: CacheUsage
}
