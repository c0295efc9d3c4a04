internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype convert`
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert an image to another format or size, and change it.",
        discussion: """
            The extension of OUT selects the format, unless --format does. The orientation is applied. Colors are converted \
            to sRGB and metadata are removed unless options keep them. Animations stay animations if the format supports \
            them. OUT appears when it is complete. Transparent pixels become white in JPEG, unless --background gives \
            another color. An existing file is replaced by one with its permissions, and a symbolic link stays a link.

            Exit status: 0 if the file was written, 1 if not, 64 for wrong usage, 130 after Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("The image to read; - is standard input.", valueName: "in"), completion: .file())
    var input: String

    @Argument(
        help: ArgumentHelp("The file to write; - is standard output, and needs --format.", valueName: "out"),
        completion: .file())
    var output: String

    @Option(help: ArgumentHelp("The format, whatever the extension: jpeg, png, webp, …", valueName: "format"))
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

    @Flag(help: "Keep Exif and XMP, which may reveal the place and the photographer.")
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

    func validate() throws { _ = try outputFormat }

    private var outputFormat: ImageFormat {
        get throws {
            if let format { return try OutputFormat.named(format) }
            guard output != "-" else { throw ValidationError("Standard output needs --format, such as --format png.") }
            return try OutputFormat.ofFile(output)
        }
    }

    func run() async throws {
        try await Interruption.handled { try run(Console.standard) }
    }

    func run(_ console: Console) throws {
        do {
            let format = try outputFormat
            let image = try decoded(console)
            if image.isAnimated, !firstFrame, !OutputFormat.storesFrames(format) {
                console.warning(
                    "\(output): \(format) can't be animated; only the first of \(image.animation?.frameCount ?? 1) frames is written"
                )
            }
            let data = try encoded(image, as: format)
            guard !Task.isCancelled else { return }
            try OutputFile.replace(output, with: data)
            console.note("\(output): \(format) \(image.size), \(ByteCount(data.count))")
        } catch {
            console.error(error)
            throw ExitCode(1)
        }
    }

    private func decoded(_ console: Console) throws(ImageError) -> Image {
        var options = DecodeOptions()
        options.keepsColorSpace = keepColor
        options.decodeToHDR = keepDepth
        options.firstFrameOnly = firstFrame
        options.formatHint = ImageFormat.hint(fileName: input)
        options.page = page.index ?? 0
        let coders = isolation.coders
        let transformer = try transforms.steps().applied(to: &options, coders: coders)
        do throws(ImageError) {
            let data = try InputFile.contents(of: input)
            let context = ProcessingContext(isCancelled: { Task.isCancelled })
            let image = try frames.applied(
                to: coders.decode(data, options: options, context: context))
            if page.page == nil, image.format == .pdf || image.format == .tiff,
                let pages = try? coders.info(of: data).pageCount, pages > 1
            {
                console.warning("\(input): only the first of \(pages) pages is written; --page chooses another")
            }
            return if let transformer { try image.transformed(transformer) } else { image }
        } catch {
            throw error.withSource(input)
        }
    }

    private func encoded(_ image: Image, as format: ImageFormat) throws(ImageError) -> Data {
        var options = EncodeOptions()
        if let quality { options.quality = quality.fraction }
        options.lossless = lossless
        options.maximumBytes = maxBytes.map { .bytes($0.bytes) }
        options.progressive = progressive
        options.firstFrameOnly = firstFrame
        options.keepsMetadata = keepMetadata
        options.embedsThumbnail = embedThumbnail
        options.encodeToHDR = keepDepth ? .gainMap : .none
        do throws(ImageError) {
            let context = ProcessingContext(isCancelled: { Task.isCancelled })
            return try ImageCoders.default.encode(image, as: format, options: options, context: context)
        } catch {
            throw error.withSource(output)
        }
    }
}
