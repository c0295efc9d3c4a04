import FoundationEssentials

@testable import TestDoubles
@testable import TintypeImages

extension ImageFormat {
    static let growingFrames = ImageFormat(rawValue: "growing-frames")
}

/// Decodes `GROWING`, a byte for each frame, and a full stop: an animation that may end after any byte. It counts how often each frame is
/// decoded, and how many bytes decoders hold.
final class GrowingFramesCoder: ArrivingAnimationCoder {
    struct State {
        var decodes: [Int: Int] = [:]
        var decoders = 0
        /// The number of bytes that the decoder has.
        var bytes = 0
    }

    let state = Lock(State())

    static func bytes(_ frames: Int, isWhole: Bool = false) -> Data {
        Data("GROWING".utf8) + (0..<frames).map { UInt8($0) } + (isWhole ? Data(".".utf8) : Data())
    }

    /// The duration of each frame.
    static let duration = Duration.milliseconds(100)

    /// The beginning of an animation.
    func image(_ frames: Int, pressure: MemoryPressure? = nil) throws -> AnimatedImage? {
        try AnimatedImage(
            arriving: Self.bytes(frames), options: DecodeOptions(), EntryCoder(coders: ImageCoders([self])),
            context: ProcessingContext(), pressure: pressure)
    }

    var decodableFormats: Set<ImageFormat> { [.growingFrames] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("GROWING".utf8)) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let isWhole = data.last == UInt8(ascii: ".")
        let count = data.count - 7 - (isWhole ? 1 : 0)
        guard count > 0 else { throw ImageError(.truncatedImage, stage: .decode, reason: "there is no frame") }
        try context.limits.check(frameCount: count)
        return ImageInfo(
            format: .growingFrames, size: PixelSize(width: 4, height: 4), frameCount: count, loopCount: 2,
            frameDurations: Array(repeating: Self.duration, count: count), hasAlpha: false, isComplete: isWhole)
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        let info = try info(of: data, context: context)
        guard info.isComplete || options.allowsPartialImage else {
            throw ImageError(.truncatedImage, stage: .decode, reason: "the end is missing")
        }
        return open(data, info)
    }

    func arrivedInfo(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try info(of: data, context: context)
    }

    func arrivingFrameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ArrivingFrameDecoder {
        open(data, try info(of: data, context: context))
    }

    private func open(_ data: Data, _ info: ImageInfo) -> Frames {
        state.withLock { state in
            state.decoders += 1
            state.bytes = data.count
        }
        return Frames(self, info)
    }

    private final class Frames: ArrivingFrameDecoder {
        private(set) var info: ImageInfo
        var outputSize: PixelSize { info.size }
        private let coder: GrowingFramesCoder
        private var next = 0

        init(_ coder: GrowingFramesCoder, _ info: ImageInfo) { (self.coder, self.info) = (coder, info) }

        func extend(_ data: Data) throws(ImageError) {
            info = try coder.info(of: data, context: ProcessingContext())
            coder.state.withLock { $0.bytes = data.count }
        }

        func nextFrame() throws(ImageError) -> ImageFrame? {
            guard next < info.frameCount else { return nil }
            coder.state.withLock { $0.decodes[next, default: 0] += 1 }
            var pixels = try MutablePixelBuffer(size: info.size)
            pixels.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(next)) }
            next += 1
            return ImageFrame(pixels: pixels.freeze(), duration: GrowingFramesCoder.duration)
        }

        func rewind() { next = 0 }
    }
}
