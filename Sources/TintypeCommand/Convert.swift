internal import ArgumentParser
internal import FoundationEssentials
internal import Tintype

/// `tintype convert`
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Writes an image in another format or size.",
        discussion: """
            The format is told by OUT's ending. The orientation is applied, colours become sRGB. Animations stay animations \
            where the format has them. OUT appears when it is complete, in place of what was there.
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
            if image.isAnimated, !OutputFormat.storesFrames(format) {
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
        do throws(ImageError) {
            let data = try InputFile.contents(of: input)
            let context = DecodeContext(isCancelled: { Task.isCancelled })
            return try ImageCoders.default.decode(data, options: options, context: context)
        } catch {
            throw error.concerning(input)
        }
    }

    private func encoded(_ image: Image, as format: ImageFormat) throws(ImageError) -> Data {
        var options = EncodeOptions()
        if let quality { options.quality = quality.fraction }
        do throws(ImageError) {
            return try ImageCoders.default.encode(image, as: format, options: options)
        } catch {
            throw error.concerning(output)
        }
    }
}
