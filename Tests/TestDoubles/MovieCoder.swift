import FoundationEssentials

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

extension ImageFormat {
    static let movie = ImageFormat(rawValue: "movie")
}

/// Decodes `MOVIE frames side` as the options say, each frame in a gray of its own, and keeps what it was asked.
final class MovieCoder: ImageCoder {
    private let asked = Lock<[DecodeOptions]>([])

    /// The options of all decodes.
    var decodes: [DecodeOptions] { asked.withLock { $0 } }
    var decodableFormats: Set<ImageFormat> { [.movie] }

    static func bytes(frames: Int, side: Int = 8) -> Data { Data("MOVIE \(frames) \(side)".utf8) }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("MOVIE".utf8)) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let frames = Int(words[1]), let side = Int(words[2]) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no movie")
        }
        return ImageInfo(
            format: .movie, size: PixelSize(width: side, height: side), frameCount: frames,
            loopCount: frames > 1 ? 3 : nil, hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        asked.withLock { $0.append(options) }
        let info = try info(of: data, context: context)
        let output = options.outputSize(for: info.size, frameCount: info.frameCount)
        var frames: [ImageFrame] = []
        for index in 0..<(options.firstFrameOnly ? 1 : info.frameCount) {
            var pixels = try MutablePixelBuffer(size: output)
            pixels.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(index * 10)) }
            frames.append(ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(50)))
        }
        var properties = Image.Properties()
        properties.format = .movie
        properties.loopCount = frames.count > 1 ? 3 : 0
        properties.scale = options.scale ?? 1
        properties.decodeOptions = options
        guard let image = Image(frames: frames, properties: properties) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no frames")
        }
        return image
    }
}
