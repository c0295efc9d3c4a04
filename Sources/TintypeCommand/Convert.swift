internal import ArgumentParser
internal import FoundationEssentials
internal import Tintype

/// `tintype convert`
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Writes an image in another format or size.",
        discussion: """
            The format is told by OUT's ending. The orientation is applied, colours become sRGB and metadata are left out unless \
            they are to be kept. Animations stay animations where the format has them. OUT appears when it is complete, in \
            place of what was there.
            """)

    @Argument(help: ArgumentHelp("The image to read; - is standard input.", valueName: "in"), completion: .file())
    var input: String

    @Argument(help: ArgumentHelp("The file to write.", valueName: "out"), completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp("Fit the image into this box; one side may be left open: 1600x, x900.", valueName: "WxH"))
    var resize: SizeArgument?

    @Option(help: "From 0 to 100, or a fraction such as 0.7; for formats with loss. (default: 85)")
    var quality: QualityArgument?

    @Flag(help: "Lose nothing, where the format can do that: WebP, AVIF, JPEG XL; as little as possible with HEIC.")
    var lossless = false

    @Option(
        help: ArgumentHelp(
            "The most that the file may take, such as 200k; quality is lowered until it fits.", valueName: "bytes"))
    var maxBytes: ByteCountArgument?

    @Option(
        help: ArgumentHelp(
            "What transparent pixels are laid on in JPEG: white, black or #rrggbb. (default: white)",
            valueName: "color"))
    var background: ColorArgument?

    @Flag(help: "Write JPEG and JPEG XL progressively, PNG interlaced.")
    var progressive = false

    @Flag(help: "Write only the first frame of an animation.")
    var firstFrame = false

    @Flag(help: "Keep Exif and XMP, which may tell where and by whom a picture was taken.")
    var keepMetadata = false

    @Flag(help: "Keep the source's colours and its ICC profile instead of converting to sRGB.")
    var keepColor = false

    @Flag(help: "Keep 16 bits and high dynamic range instead of converting to 8 bits, where the format can.")
    var keepDepth = false

    @Flag(help: "Put a thumbnail of 320 pixels into JPEG and HEIC.")
    var embedThumbnail = false

    func validate() throws { _ = try format }

    private var format: ImageFormat {
        get throws {
            let name = output.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
                throw ValidationError("'\(output)' has no ending, such as .png, that tells the format")
            }
            return try OutputFormat.named(String(name[name.index(after: dot)...]))
        }
    }

    func run() async throws {
        try await Interruption.handled { try run(Console.standard) }
    }

    func run(_ console: Console) throws {
        do {
            let format = try format
            let image = try decoded()
            if image.isAnimated, !firstFrame, !OutputFormat.storesFrames(format) {
                console.warning("\(output): \(format) has one picture; the first of \(image.frames.count) is written")
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

    private func decoded() throws(ImageError) -> Image {
        var options = DecodeOptions(thumbnailSize: resize?.box)
        options.allowsUpscaling = true
        options.keepsColorSpace = keepColor
        options.decodeToHDR = keepDepth
        options.firstFrameOnly = firstFrame
        options.formatHint = ImageFormat.hint(fileName: input)
        do throws(ImageError) {
            let data = try InputFile.contents(of: input)
            let context = DecodeContext(isCancelled: { Task.isCancelled })
            return try ImageCoders.default.decode(data, options: options, context: context)
        } catch {
            throw error.withSource(input)
        }
    }

    private func encoded(_ image: Image, as format: ImageFormat) throws(ImageError) -> Data {
        var options = EncodeOptions()
        if let quality { options.quality = quality.fraction }
        if let background { options.background = background.color }
        options.lossless = lossless
        options.maximumBytes = maxBytes.map { .bytes($0.bytes) }
        options.progressive = progressive
        options.firstFrameOnly = firstFrame
        options.metadata = keepMetadata ? .all : .none
        options.embedsThumbnail = embedThumbnail
        options.encodeToHDR = keepDepth ? .isoHDR : .none
        do throws(ImageError) {
            let context = EncodeContext(isCancelled: { Task.isCancelled })
            return try ImageCoders.default.encode(image, as: format, options: options, context: context)
        } catch {
            throw error.withSource(output)
        }
    }
}
