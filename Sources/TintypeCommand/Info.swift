internal import ArgumentParser
internal import CommandSupport
internal import Tintype

/// `tintype info`
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show the format, size, frames, orientation, color profile, and metadata of image files.",
        discussion: """
            Only the header is read, unless --decode is given. With --json each file is one JSON object per line, with the \
            keys path, format, width, height (as stored), displayWidth, displayHeight (upright), frames, pages, loopCount (0 means \
            forever), durations (milliseconds), orientation (1 to 8, as in Exif), hasAlpha, bitsPerComponent, \
            colorProfile, gainMap (null without one; width, height, components, standard, and headroom, the binary logarithm \
            of the largest gain, if it is known), metadata (null without any; only keys that have a value), and bytes; or path \
            and error.

            The metadata comes from Exif, XMP, and IPTC: captureDate (ISO 8601, with the offset from UTC if it is known), cameraMake, \
            cameraModel, lensModel, exposureTime (seconds), aperture (f-number), iso, focalLength (millimeters), title, description, \
            authors, copyright, keywords, rating, software, and with --place latitude, longitude (degrees), and altitude (meters).

            Exit status: 0 if all files are images, 1 if one is not or is damaged, 64 for wrong usage.
            """)

    @Argument(help: ArgumentHelp("Image files; - is standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var isolation: IsolationArguments

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Show the place where a picture was taken, too.")
    var place = false

    @Flag(help: "Decode every frame, to find damage that the header does not show.")
    var decode = false

    func run() throws { try run(Console.standard) }

    func run(_ console: Console) throws {
        let coders = isolation.coders
        var failed = false
        for file in files {
            do throws(ImageError) {
                let report = try InfoReport(path: file, decoding: decode, showsPlace: place, coders: coders)
                console.print(json ? JSONLine.encode(report) : report.line)
            } catch {
                failed = true
                if json { console.print(JSONLine.encode(FileFailure(path: file, error))) }
                console.error(error.withSource(file))
            }
        }
        if failed { throw ExitCode(1) }
    }
}

/// The properties of an image file.
struct InfoReport: Encodable {
    var path: String
    var info: ImageInfo
    /// The gain map of a JPEG, HEIC, or AVIF file.
    var gainMap: GainMapReport?
    var metadata: MetadataReport?
    /// The size of the file.
    var bytes: Int

    /// Reads a file.
    /// - Parameters:
    ///   - path: the path, or `-` for standard input.
    ///   - decoding: true to decode every frame, in turn, so that damage is found.
    ///   - coders: the coders to read it with.
    init(path: String, decoding: Bool, showsPlace: Bool = false, coders: ImageCoders = .default) throws(ImageError) {
        self.path = path
        let context = ProcessingContext()
        var file = try InputFile(path)
        let hint = ImageFormat.hint(fileName: path)
        // A camera file is only recognized when it is complete.
        if hint != nil { try file.readAll() }
        info = try Self.header(of: &file, hint, coders, context)
        // The length of a stream is only known at its end.
        if decoding || file.length == nil { try file.readAll() }
        // An index of pictures doesn't prove the existence of a gain map, which is at the end.
        if info.format == .jpeg, JPEGGainMap.mayBe(in: file.data) {
            try file.readAll()
            gainMap = JPEGGainMap(of: file.data).map {
                GainMapReport($0.size, $0.components, $0.standard, $0.parameters)
            }
        } else if [.heic, .heif, .avif].contains(info.format), HEIFGainMap.mayBe(in: file.data) {
            try file.readAll()
            gainMap = HEIFGainMap(of: file.data, as: info.format).map {
                GainMapReport($0.size, $0.components, $0.standard, $0.parameters)
            }
        }
        metadata = MetadataReport(info.metadata.fields, showsPlace: showsPlace)
        bytes = file.length ?? file.data.count
        if decoding { try Self.decode(file.data, hint, coders, context) }
    }

    /// Reads only the header of the file, or all of it if only that tells the frames or the metadata.
    private static func header(
        of file: inout InputFile, _ hint: ImageFormat?, _ coders: ImageCoders, _ context: ProcessingContext
    ) throws(ImageError) -> ImageInfo {
        var wanted = 1 << 16
        while true {
            try file.read(upTo: wanted)
            do throws(ImageError) {
                let info = try coders.info(of: file.data, hint: hint, context: context)
                // JPEG XL may have its metadata behind the last frame.
                if info.isComplete && info.format != .jxl || file.isAtEnd { return info }
            } catch {
                guard error.code == .truncatedImage, !file.isAtEnd else { throw error }
            }
            if wanted >= InputFile.limit.bytes { try file.readAll() }
            wanted *= 4
        }
    }

    private static func decode(
        _ data: Data, _ hint: ImageFormat?, _ coders: ImageCoders, _ context: ProcessingContext
    ) throws(ImageError) {
        var options = DecodeOptions()
        options.formatHint = hint
        guard let frames = try coders.frameDecoder(for: data, options: options, context: context) else {
            _ = try coders.decode(data, options: options, context: context)
            return
        }
        while try frames.nextFrame() != nil {}
    }

    private enum CodingKeys: String, CodingKey {
        case path, format, width, height, displayWidth, displayHeight, frames, pages, loopCount, durations, orientation,
            hasAlpha
        case bitsPerComponent, colorProfile, gainMap, metadata, bytes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(info.format.rawValue, forKey: .format)
        try container.encode(info.size.width, forKey: .width)
        try container.encode(info.size.height, forKey: .height)
        try container.encode(info.displaySize.width, forKey: .displayWidth)
        try container.encode(info.displaySize.height, forKey: .displayHeight)
        try container.encode(info.frameCount, forKey: .frames)
        // `nil` is written as null, so that every line has every key.
        try container.encode(info.pageCount, forKey: .pages)
        try container.encode(info.loopCount, forKey: .loopCount)
        try container.encode(info.frameDurations.map(\.reportedMilliseconds), forKey: .durations)
        try container.encode(info.orientation.rawValue, forKey: .orientation)
        try container.encode(info.hasAlpha, forKey: .hasAlpha)
        try container.encode(info.bitsPerComponent, forKey: .bitsPerComponent)
        try container.encode(info.colorProfile, forKey: .colorProfile)
        try container.encode(gainMap, forKey: .gainMap)
        try container.encode(metadata, forKey: .metadata)
        try container.encode(bytes, forKey: .bytes)
    }

    /// The properties for people.
    var line: String {
        var parts = ["\(path): \(info.format) \(info.displaySize)"]
        if info.orientation != .up { parts.append("stored \(info.size), orientation \(info.orientation.rawValue)") }
        if info.isAnimated {
            let duration = info.frameDurations.reduce(Duration.zero, +)
            let loops =
                switch info.loopCount ?? 1 {
                case 0: "loops forever"
                case 1: "plays once"
                case let count: "plays \(count) times"
                }
            parts.append("\(info.frameCount) frames in \(duration.short), \(loops)")
        }
        if info.pageCount > 1 { parts.append("\(info.pageCount) pages") }
        if info.bitsPerComponent != 8 { parts.append("\(info.bitsPerComponent) bits per component") }
        if info.hasAlpha { parts.append("alpha") }
        if let profile = info.colorProfile { parts.append(profile) }
        if let gainMap {
            let headroom = gainMap.headroom.map { ", headroom \($0.fixed(2))" } ?? ""
            let size = PixelSize(width: gainMap.width, height: gainMap.height)
            parts.append("gain map \(size) (\(gainMap.standard)\(headroom))")
        }
        parts += metadata?.parts ?? []
        parts.append("\(ByteCount(bytes))")
        if !info.isComplete { parts.append("the end is missing") }
        return parts.joined(separator: ", ")
    }
}

/// A gain map as `--json` shows it.
struct GainMapReport: Encodable {
    var width: Int
    var height: Int
    var components: Int
    var standard: String
    var headroom: Double?

    init(
        _ size: PixelSize, _ components: Int, _ standard: JPEGGainMap.Standard, _ parameters: GainMapParameters?
    ) {
        width = size.width
        height = size.height
        self.components = components
        self.standard = standard.rawValue
        headroom = parameters?.alternateHeadroom
    }
}
