import FoundationEssentials
import TintypeTesting

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// Decodes bytes that begin with `GROW` into a picture whose pixels say how many bytes there were, also while they arrive.
final class GrowingCoder: ProgressiveImageCoder {
    struct Counts: Sendable {
        var decodes = 0
        /// The bytes that decoders were given, in order.
        var appended = 0
        var previews = 0
        var finishes = 0
    }

    let counts = Watched(Counts())

    var decodableFormats: Set<ImageFormat> { [.growing] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("GROW".utf8)) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .growing, size: PixelSize(width: 8, height: 8), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        counts.update { $0.decodes += 1 }
        return try Self.image(bytes: data.count, options)
    }

    func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder {
        GrowingDecoder(counts: counts, options: options)
    }

    fileprivate static func image(bytes: Int, _ options: DecodeOptions) throws(ImageError) -> Image {
        let size = options.outputSize(for: PixelSize(width: 8, height: 8))
        var pixels = try MutablePixelBuffer(size: size)
        pixels.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(bytes)) }
        return Image(pixels: pixels.freeze()).with {
            $0.format = .growing
            $0.decodeOptions = options
        }
    }
}

private final class GrowingDecoder: ProgressiveDecoder {
    private let counts: Watched<GrowingCoder.Counts>
    private let options: DecodeOptions
    private var bytes = 0
    private var shown = 0

    init(counts: Watched<GrowingCoder.Counts>, options: DecodeOptions) {
        self.counts = counts
        self.options = options
    }

    func append(_ chunk: Data) throws(ImageError) {
        bytes += chunk.count
        counts.update { $0.appended += chunk.count }
    }

    func preview() throws(ImageError) -> Image? {
        guard bytes > shown else { return nil }
        shown = bytes
        counts.update { $0.previews += 1 }
        return try GrowingCoder.image(bytes: bytes, options).with { $0.isPartial = true }
    }

    func finish() throws(ImageError) -> Image {
        counts.update { $0.finishes += 1 }
        return try GrowingCoder.image(bytes: bytes, options)
    }
}

extension ImageFormat {
    static let growing = ImageFormat(rawValue: "growing")
}

extension Image {
    /// How many bytes ``GrowingCoder`` made the picture of.
    var byteCount: Int { Int(pixels[0, 0].x) }
}
