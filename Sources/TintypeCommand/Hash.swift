internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype hash`
struct HashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Print placeholders and colors of images: BlurHash, ThumbHash, average and dominant colors.",
        discussion: """
            With --json each file is one JSON object per line: path, width, height, blurHash, thumbHash (Base64), \
            averageColor, and dominantColors, the most frequent first; or path and error. Colors are #rrggbb.

            Exit status: 0 for success, 1 if a file failed (the others are still processed), 64 for wrong usage.
            """)

    @Argument(help: ArgumentHelp("Image files; - is standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: ArgumentHelp("The components of the BlurHash, from 1x1 to 9x9.", valueName: "WxH"))
    var components = SizeArgument(PixelSize(width: 4, height: 3))

    @Option(help: "The largest number of dominant colors, from 1 to 16.")
    var colors = 5

    @OptionGroup var page: PageArguments

    @OptionGroup var isolation: IsolationArguments

    func validate() throws {
        guard (1...9).contains(components.box.width), (1...9).contains(components.box.height) else {
            throw ValidationError("--components needs two numbers from 1 to 9, such as 4x3.")
        }
        guard (1...16).contains(colors) else { throw ValidationError("--colors needs a number from 1 to 16.") }
    }

    func run() async throws {
        try await Interruption.handled { try run(Console.standard) }
    }

    func run(_ console: Console) throws {
        let coders = isolation.coders
        var failed = false
        for file in files where !Task.isCancelled {
            do throws(ImageError) {
                let report = try report(file, coders)
                for line in json ? [JSONLine.encode(report)] : report.lines { console.print(line) }
            } catch {
                failed = true
                if json { console.print(JSONLine.encode(FileFailure(path: file, error))) }
                console.error(error.withSource(file))
            }
        }
        if failed { throw ExitCode(1) }
    }

    private func report(_ file: String, _ coders: ImageCoders) throws(ImageError) -> HashReport {
        let data = try InputFile.contents(of: file)
        let context = ProcessingContext(isCancelled: { Task.isCancelled })
        var options = DecodeOptions(firstFrameOnly: true, formatHint: ImageFormat.hint(fileName: file))
        options.page = page.index ?? 0
        // Placeholders and colors need no more.
        options.thumbnailSize = PixelSize(width: 512, height: 512)
        let image = try coders.decode(data, options: options, context: context)
        let size = image.properties.sourceSize ?? image.size
        let box = components.box
        return HashReport(
            path: file, width: size.width, height: size.height,
            blurHash: try BlurHash(image, xComponents: box.width, yComponents: box.height).string,
            thumbHash: try ThumbHash(image).base64, averageColor: try image.averageColor().hex,
            dominantColors: try image.dominantColors(count: colors).map(\.hex))
    }
}

/// The placeholders and colors of a file.
struct HashReport: Encodable {
    var path: String
    var width: Int
    var height: Int
    var blurHash: String
    var thumbHash: String
    var averageColor: String
    var dominantColors: [String]

    var lines: [String] {
        [
            "\(path): \(width)×\(height)", "  BlurHash   \(blurHash)", "  ThumbHash  \(thumbHash)",
            "  average    \(averageColor)", "  dominant   \(dominantColors.joined(separator: " "))",
        ]
    }
}
