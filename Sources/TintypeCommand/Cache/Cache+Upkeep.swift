internal import ArgumentParser
internal import Tintype

extension CacheCommand {
    /// `tintype cache verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads every image of the cache and drops those whose bytes have changed.",
            discussion: "Exit status: 0 if all were whole, 1 if some were damaged.")
        @OptionGroup var options: Options

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            var isWhole = true
            try await options.withCache(console) { disk throws(ImageError) in
                let report = try await disk.verify()
                isWhole = report.damaged.isEmpty
                for key in report.damaged { console.note("tintype: \(key): damaged, dropped") }
                let words = isWhole ? "none damaged" : "\(report.damaged.count) damaged and dropped"
                options.print(
                    VerifyReport(options.directory, report), "\(report.checked.words) read, \(words)", on: console)
            }
            if !isWhole { throw ExitCode(1) }
        }
    }

    /// `tintype cache clean`
    struct Clean: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes images that have expired, and what a crash left behind.",
            discussion: """
                Without limits only images go whose own end has come. With limits, what was not used for the longest time \
                goes until they hold.
                """)
        @OptionGroup var options: Options

        @Option(help: ArgumentHelp("Remove what was not used for this long, such as 7d, 12h, 30m.", valueName: "age"))
        var maxAge: AgeArgument?

        @Option(help: ArgumentHelp("Leave at most so much, such as 500MB.", valueName: "size"))
        var maxSize: SizeLimitArgument?

        @Option(help: ArgumentHelp("Leave at most so many images.", valueName: "count"))
        var maxCount: Int?

        func validate() throws {
            guard maxCount ?? 0 >= 0 else { throw ValidationError("--max-count takes a number from 0 on") }
        }

        func run() async throws { try await run(Console.standard) }

        func run(_ console: Console) async throws {
            try await options.withCache(
                console, capacity: maxSize?.bytes ?? .unlimited, maximumAge: maxAge?.duration, maximumCount: maxCount
            ) { disk throws(ImageError) in
                let sweep = try await disk.removeExpired()
                let usage = await disk.usage()
                let removed = CacheUsage(entries: sweep.files, bytes: sweep.bytes)
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

    init(_ directory: String, _ report: CacheVerification) {
        self.directory = directory
        checked = report.checked
        damaged = report.damaged.map(\.description)
    }
}

struct CleanReport: Encodable {
    var directory: String
    var removed: CacheUsage
    var left: CacheUsage
}
