internal import ArgumentParser
internal import CommandSupport
internal import Tintype

/// `tintype convert`
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert images to another format or size, and change them.",
        discussion: """
            The extension of OUT selects the format, unless --format does. The orientation is applied. Colors are converted \
            to sRGB and metadata is removed unless options keep them. Animations are kept if the format supports them. OUT \
            appears only when it is complete. Transparent pixels become white in JPEG, unless --background gives another \
            color. A file that replaces another keeps its permissions, and a symbolic link remains a link.

            Exit status: 0 if all files were written, 1 if not, 64 for wrong usage, 130 after Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("The image to read; - is standard input.", valueName: "in"), completion: .file())
    var input: String

    @Argument(
        help: ArgumentHelp(
            """
            The file to write; - is standard output, and needs --format. With --output-folder, further images to read.
            """, valueName: "out"),
        completion: .file())
    var others: [String] = []

    @Option(
        help: ArgumentHelp(
            "Convert all images that are given, into this directory, which is created if it doesn't exist.",
            valueName: "dir"),
        completion: .directory)
    var outputFolder: String?

    @Option(help: ArgumentHelp("The format, regardless of the extension: jpeg, png, webp, …", valueName: "format"))
    var format: String?

    @Option(help: "The quality from 0 to 100, or a fraction such as 0.7, for lossy formats. (default: 85)")
    var quality: QualityArgument?

    @Flag(help: "Encode without loss in WebP, AVIF, and JPEG XL, and with as little loss as possible in HEIC.")
    var lossless = false

    @Option(
        help: ArgumentHelp(
            "The largest size of the file, such as 200k. Quality is lowered until it fits.", valueName: "bytes"))
    var maxBytes: ByteCountArgument?

    @Flag(help: "Write JPEG and JPEG XL progressively, PNG interlaced.")
    var progressive = false

    @Flag(help: "Write only the first frame of an animation.")
    var firstFrame = false

    @Flag(help: "Keep Exif and XMP metadata, which may reveal the place and the photographer.")
    var keepMetadata = false

    @Flag(help: "Keep the colors and the ICC profile of the source instead of converting to sRGB.")
    var keepColor = false

    @Flag(help: "Keep 16 bits and high dynamic range, if the format supports them, instead of converting to 8 bits.")
    var keepDepth = false

    @Flag(help: "Embed a thumbnail of 320 pixels in JPEG and HEIC.")
    var embedThumbnail = false

    @OptionGroup var page: PageArguments

    @OptionGroup var isolation: IsolationArguments

    @OptionGroup(title: "Animations")
    var frames: FrameArguments

    @OptionGroup(title: "Transforming, in the order given")
    var transforms: TransformArguments

    func validate() throws { _ = try conversions }

    private var conversions: [Conversion] {
        get throws {
            let format = try format.map(OutputFormat.named)
            if let outputFolder { return try Conversion.list([input] + others, into: outputFolder, as: format) }
            guard let output = others.first else { throw ValidationError("Missing expected argument '<out>'") }
            guard others.count == 1 else { throw ValidationError("More than one image needs --output-folder.") }
            guard format != nil || output != "-" else {
                throw ValidationError("Standard output needs --format, such as --format png.")
            }
            return [Conversion(input: input, output: output, format: try format ?? OutputFormat.ofFile(output))]
        }
    }

    func run() async throws {
        try await Interruption.handled {
            if let outputFolder {
                try await run(into: outputFolder, Console.standard)
            } else {
                try run(Console.standard)
            }
        }
    }

    /// Converts a single image.
    func run(_ console: Console) throws {
        do {
            let converter = try converter(console)
            for conversion in try conversions {
                if let written = try converter.convert(conversion) { console.note(written.line) }
            }
        } catch {
            console.error(error)
            throw ExitCode(1)
        }
    }

    /// Converts all images into a folder.
    func run(into folder: String, _ console: Console) async throws {
        let summary: FetchSummary
        do {
            let converter = try converter(console)
            try OutputFile.makeDirectory(folder)
            summary = await converter.convert(try conversions)
        } catch {
            console.error(error)
            throw ExitCode(1)
        }
        guard !Task.isCancelled else { return }
        // The line of a single image needs no summary.
        if summary.images + summary.failed > 1 { console.note(summary.line) }
        if summary.failed > 0 { throw ExitCode(1) }
    }

    func converter(_ console: Console) throws(ImageError) -> Converter {
        var decoding = DecodeOptions()
        decoding.keepsColorSpace = keepColor
        decoding.decodeToHDR = keepDepth
        decoding.firstFrameOnly = firstFrame
        decoding.page = page.index ?? 0
        let coders = isolation.coders
        let transformer = try transforms.steps().applied(to: &decoding, coders: coders)
        var encoding = EncodeOptions()
        if let quality { encoding.quality = quality.fraction }
        encoding.lossless = lossless
        encoding.maximumBytes = maxBytes.map { .bytes($0.bytes) }
        encoding.progressive = progressive
        encoding.firstFrameOnly = firstFrame
        encoding.keepsMetadata = keepMetadata
        encoding.embedsThumbnail = embedThumbnail
        encoding.encodeToHDR = keepDepth ? .gainMap : .none
        return Converter(
            console: console, coders: coders, decoding: decoding, encoding: encoding, frames: frames,
            transformer: transformer, choosesPage: page.page != nil)
    }
}
