internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype
internal import TintypeTesting

/// `tintype-demo transformers`
struct TransformersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transformers",
        abstract: "Make a contact sheet of all transformers on one photograph.",
        discussion: """
            Without an argument, the command draws its own picture.

            Exit status: 0 if the sheet was written, 1 if not, 64 for wrong usage, 130 after Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("A photograph.", valueName: "file"), completion: .file())
    var photograph: String?

    @Option(
        help: ArgumentHelp("The file to write, whose extension selects the format.", valueName: "file"),
        completion: .file())
    var out = "demo-out/transformers.webp"

    func validate() throws { _ = try OutputFormat.ofFile(out) }

    func run() async throws {
        try await Interruption.handled { try run(Console.standard) }
    }

    func run(_ console: Console) throws {
        do {
            let format = try OutputFormat.ofFile(out)
            if let slash = out.lastIndex(of: "/"), slash != out.startIndex {
                try OutputFile.makeDirectory(String(out[..<slash]))
            }
            let entries = try TransformerGallery(photograph: picture()).entries()
            let sheet = ContactSheet(
                title: "Transformers", subtitle: "one photograph, decoded once", entries: entries,
                columns: TransformerGallery.columns)
            let data = try sheet.picture().encoded(as: format)
            guard !Task.isCancelled else { return }
            try OutputFile.replace(out, with: data)
            console.print("contact sheet: \(out)")
        } catch let error as ImageError {
            if error.isCancellation { return }
            console.error(error)
            throw ExitCode(1)
        }
    }

    /// The photograph, decoded not much larger than a cell of the sheet.
    private func picture() throws(ImageError) -> Image {
        let data = if let photograph { try InputFile.contents(of: photograph) } else { try Self.drawn() }
        var options = DecodeOptions(firstFrameOnly: true)
        options.formatHint = photograph.flatMap { ImageFormat.hint(fileName: $0) }
        options.thumbnailSize = TransformerGallery.cell
        options.coversThumbnailSize = true
        do throws(ImageError) {
            let context = ProcessingContext(isCancelled: { Task.isCancelled })
            return try ImageCoders.default.decode(data, options: options, context: context)
        } catch {
            throw photograph.map { error.withSource($0) } ?? error
        }
    }

    private static func drawn() throws(ImageError) -> Data { try SampleImages.draw(.mountains, scale: 0.3).data }
}
