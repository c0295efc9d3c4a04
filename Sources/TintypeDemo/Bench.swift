internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype-demo bench`
struct BenchCommand: AsyncParsableCommand {
    enum Subject: String, ExpressibleByArgument, CaseIterable {
        case decode, thumbnail
    }

    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the time that decoding takes.",
        discussion: """
            Each image is read into memory, decoded a few times to warm up, and then decoded repeatedly for --seconds on one \
            thread. The command prints the medians of processor time and wall time, and the millions of source pixels \
            that are decoded per second.

            Exit status: 0 if all images were measured, 1 if one failed, 64 for wrong usage, 130 after Ctrl-C.
            """)

    @Argument(help: "The work to measure: decode (full size) or thumbnail.")
    var subject: Subject

    @Argument(help: ArgumentHelp("Image files.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("The box of a thumbnail. (default: 400x400)", valueName: "WxH"))
    var size: SizeArgument?

    @Option(help: "The time to measure each image, in seconds.")
    var seconds = 2.0

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard seconds.isFinite, seconds >= 0, seconds <= 3_600 else {
            throw ValidationError("--seconds needs a number from 0 to 3600")
        }
        guard size == nil || subject == .thumbnail else { throw ValidationError("--size needs 'bench thumbnail'") }
    }

    func run() async throws {
        try await Interruption.handled { try run(Console.standard) }
    }

    func run(_ console: Console) throws {
        var options = DecodeOptions()
        if subject == .thumbnail { options.thumbnailSize = size?.box ?? PixelSize(width: 400, height: 400) }
        var table = Table([
            ("image", .left), ("source", .left), ("result", .left), ("cpu", .right), ("wall", .right), ("MP/s", .right),
            ("runs", .right),
        ])
        var failed = false
        for file in files where !Task.isCancelled {
            do throws(ImageError) {
                let data = try InputFile.contents(of: file)
                let result = try DecodeMeasurement(data, options: options, duration: .seconds(seconds))
                if json {
                    console.print(JSONLine.encode(BenchReport(path: file, subject: subject.rawValue, result)))
                } else {
                    table.add([
                        file, "\(result.format) \(result.source)", "\(result.output)", result.processor.short,
                        result.wall.short, result.megapixelsPerSecond.fixed(0), "\(result.runs)",
                    ])
                }
            } catch {
                failed = true
                if json { console.print(JSONLine.encode(FileFailure(path: file, error))) }
                console.error(error.withSource(file))
            }
        }
        if !json { table.lines.forEach(console.print) }
        if failed { throw ExitCode(1) }
    }
}

/// The JSON report of a measurement.
struct BenchReport: Encodable {
    var path: String
    var subject: String
    var format: String
    var width: Int
    var height: Int
    var outputWidth: Int
    var outputHeight: Int
    var frames: Int
    var bytes: Int
    var runs: Int
    var cpuMs: Double
    var wallMs: Double
    var megapixelsPerSecond: Double

    init(path: String, subject: String, _ result: DecodeMeasurement) {
        self.path = path
        self.subject = subject
        format = result.format
        width = result.source.width
        height = result.source.height
        outputWidth = result.output.width
        outputHeight = result.output.height
        frames = result.frames
        bytes = result.bytes
        runs = result.runs
        cpuMs = result.processor.reportedMilliseconds
        wallMs = result.wall.reportedMilliseconds
        megapixelsPerSecond = (result.megapixelsPerSecond * 10).rounded() / 10
    }
}
