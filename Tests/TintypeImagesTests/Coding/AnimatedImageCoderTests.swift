import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

/// The least that a coder of animations has to be: frames of one gray after the other.
private struct GrayCoder: AnimatedImageCoder {
    var claimed = 4
    var given = 4
    /// The number of a frame that is smaller than the others.
    var small: Int?
    var decodableFormats: Set<ImageFormat> { [.movie] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data == Data("gray".utf8) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(
            format: .movie, size: PixelSize(width: 64, height: 32), frameCount: claimed, loopCount: 2, hasAlpha: false)
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        let info = try info(of: data, context: context)
        return Frames(info: info, outputSize: options.outputSize(for: info.size), given: given, small: small)
    }

    private final class Frames: FrameDecoder {
        let info: ImageInfo
        let outputSize: PixelSize
        private let given: Int
        private let small: Int?
        private var next = 0

        init(info: ImageInfo, outputSize: PixelSize, given: Int, small: Int?) {
            (self.info, self.outputSize, self.given, self.small) = (info, outputSize, given, small)
        }

        func nextFrame() throws(ImageError) -> ImageFrame? {
            guard next < given else { return nil }
            defer { next += 1 }
            var pixels = try MutablePixelBuffer(size: next == small ? PixelSize(width: 1, height: 1) : outputSize)
            pixels.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(next)) }
            return ImageFrame(pixels: pixels.freeze(), duration: .milliseconds(100))
        }

        func rewind() { next = 0 }
    }
}

@Suite("Coders of animations of one's own", .timeLimited)
struct AnimatedImageCoderTests {
    private let data = Data("gray".utf8)

    @Test("A coder that gives frames gives images, single frames and any frame too", .capability("COD-08"))
    func whole() throws {
        let coders = ImageCoders([GrayCoder()])
        let image = try coders.decode(data, options: DecodeOptions(), context: ProcessingContext())
        #expect(image.frames.map { $0.pixels[0, 0].x } == [0, 1, 2, 3])
        #expect(image.format == .movie && image.loopCount == 2 && image.duration == .milliseconds(400))
        #expect(!image.hasAlpha && !image.isPartial && !image.isThumbnail)
        var options = DecodeOptions(thumbnailSize: PixelSize(width: 8, height: 8))
        options.firstFrameOnly = true
        let still = try coders.decode(data, options: options, context: ProcessingContext())
        #expect(still.size == PixelSize(width: 8, height: 4) && !still.isAnimated && still.loopCount == 0)
        #expect(still.frames[0].duration == .zero && still.isThumbnail)
        let decoder = try #require(
            try coders.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext()))
        #expect(try decoder.frame(at: 2)?.pixels[0, 0].x == 2)
        #expect(try decoder.frame(at: 0)?.pixels[0, 0].x == 0)
        #expect(try decoder.frame(at: 4) == nil)
    }

    @Test(
        "A frame that is missing is an error when it is due; those beyond are not asked for",
        .capability("COD-08", "3.8"))
    func missing() throws {
        func frames(claimed: Int, given: Int) throws -> Int {
            let coder = GrayCoder(claimed: claimed, given: given)
            return try coder.decode(data).decodingAllFrames().frames.count
        }
        let error = #expect(throws: ImageError.self) { try frames(claimed: 6, given: 4) }
        #expect(error?.code == .truncatedImage)
        #expect(throws: ImageError.self) { try frames(claimed: 2, given: 0) }
        #expect(try frames(claimed: 2, given: .max) == 2)
    }

    @Test("A frame of another size than the first one reaches no player and no encoder", .capability("COD-08", "3.8"))
    func odd() async throws {
        let image = try GrayCoder(small: 2).decode(data)
        let error = #expect(throws: ImageError.self) { try image.decodingAllFrames() }
        #expect(error?.code == .corruptImage)
        await #expect(throws: ImageError.self) { try await image.animation?.frame(at: 2) }
        #expect(try await image.animation?.frame(at: 1) != nil)
    }

    @Test("Limits and the budget are asked before memory is taken", .capability("COD-08", "3.1"))
    func limits() throws {
        var context = ProcessingContext()
        context.limits.maximumBytes = .bytes(64 * 32 * 4 - 1)
        let error = #expect(throws: ImageError.self) {
            try GrayCoder().decode(data, options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .limitExceeded)
        context.limits.maximumBytes.bytes += 1
        #expect(try GrayCoder().decode(data, options: DecodeOptions(), context: context).frames.count == 4)
        let budget = DecodeBudget(limit: .megabytes(1))
        context.budget = budget
        #expect(try GrayCoder().decode(data, options: DecodeOptions(), context: context).frames.count == 4)
        let gone = ProcessingContext(isCancelled: { true })
        let cancelled = #expect(throws: ImageError.self) {
            try GrayCoder().decode(data, options: DecodeOptions(), context: gone)
        }
        #expect(cancelled?.isCancellation == true)
    }

    /// Takes everything for an image of one pixel.
    private struct CatchAll: ImageCoder {
        var decodableFormats: Set<ImageFormat> { [] }
        func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
        func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
            ImageInfo(format: .dot, size: PixelSize(width: 1, height: 1), hasAlpha: false)
        }
        func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
            Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
        }
    }

    @Test("A coder that takes everything stands first in the list, and gets what no other reads", .capability("COD-06"))
    func catchAll() throws {
        let coders = ImageCoders([CatchAll(), GrayCoder()])
        func width(_ coders: ImageCoders, _ text: String) throws -> Int {
            try coders.decode(Data(text.utf8), options: DecodeOptions(), context: ProcessingContext()).size.width
        }
        #expect(try width(coders, "gray") == 64)
        #expect(try width(coders, "a format of tomorrow") == 1)
        #expect(try coders.info(of: Data("gray".utf8), context: ProcessingContext()).size.width == 64)
        #expect(try width(ImageCoders([GrayCoder(), CatchAll()]), "gray") == 1, "added last it takes everything")
    }
}
