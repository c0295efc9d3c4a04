internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype unhash`
struct UnhashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unhash",
        abstract: "Draw the picture of a BlurHash or a ThumbHash.",
        discussion: """
            Without --kind, a valid BlurHash is read as such, and any other string as a ThumbHash in Base64. The extension of OUT \
            selects the format.

            Exit status: 0 if the file was written, 1 if not, 64 for wrong usage.
            """)

    @Argument(help: "The hash.")
    var hash: String

    @Argument(help: ArgumentHelp("The file to write.", valueName: "out"), completion: .file())
    var output: String

    /// The kinds of hashes.
    enum Kind: String, ExpressibleByArgument {
        case blurhash
        case thumbhash
    }

    @Option(help: ArgumentHelp("The kind of the hash: blurhash or thumbhash. (default: detected)", valueName: "kind"))
    var kind: Kind?

    @Option(
        help: ArgumentHelp(
            "The size of the picture. (default: 32x32 for a BlurHash, the picture's own for a ThumbHash)",
            valueName: "WxH"))
    var size: SizeArgument?

    func validate() throws {
        _ = try OutputFormat.ofFile(output)
        if let box = size?.box, max(box.width, box.height) > 4_096 {
            throw ValidationError("--size needs two numbers from 1 to 4096, such as 320x240.")
        }
    }

    func run() async throws {
        try await Interruption.handled { try run(Console.standard) }
    }

    func run(_ console: Console) throws {
        do {
            let image = try picture()
            let data = try image.encoded(as: OutputFormat.ofFile(output))
            guard !Task.isCancelled else { return }
            try OutputFile.replace(output, with: data)
            console.note("\(output): \(image.size), \(ByteCount(data.count))")
        } catch {
            console.error(error)
            throw ExitCode(1)
        }
    }

    private func picture() throws(ImageError) -> Image {
        do throws(ImageError) {
            let isBlurHash = kind.map { $0 == .blurhash } ?? ((try? BlurHash(hash)) != nil)
            if isBlurHash { return try BlurHash(hash).image(size: size?.box ?? PixelSize(width: 32, height: 32)) }
            let image = try ThumbHash(base64: hash).image()
            guard let box = size?.box else { return image }
            return try image.transformed(.resize(width: box.width, height: box.height, mode: .fill))
        } catch {
            throw error.withSource(hash)
        }
    }
}
