import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

/// Claims everything, and fails.
private struct Stubborn: ImageCoder {
    let code: ImageError.Code
    var decodableFormats: Set<ImageFormat> { [] }
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(code, stage: .decode, reason: "no")
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(code, stage: .decode, reason: "no")
    }
}

/// Has as many frames as it is told, and fails without any.
private struct FrameCoder: AnimatedImageCoder {
    let frames: Int
    var code = ImageError.Code.truncatedImage
    var decodableFormats: Set<ImageFormat> { [] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .dot, size: PixelSize(width: 1, height: 1), frameCount: frames, hasAlpha: false)
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(code, stage: .decode, reason: "no")
    }
    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        guard frames > 0 else { throw ImageError(code, stage: .decode, reason: "no") }
        return Frames(info: try info(of: data, context: context))
    }

    private final class Frames: FrameDecoder {
        let info: ImageInfo
        var outputSize: PixelSize { info.size }
        init(info: ImageInfo) { self.info = info }
        func nextFrame() -> ImageFrame? { nil }
        func rewind() {}
    }
}

/// Reads PNG, which it is told of or recognizes by itself.
private struct Reader: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [.png] }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.unknownFormat, stage: .decode, reason: "no")
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(.unknownFormat, stage: .decode, reason: "no")
    }
}

/// Writes whatever it is asked for.
private struct Writer: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [] }
    func canEncode(_ format: ImageFormat) -> Bool { true }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.unknownFormat, stage: .decode, reason: "no")
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(.unknownFormat, stage: .decode, reason: "no")
    }
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data { Data(format.rawValue.utf8) }
}

@Suite("The list of coders", .timeLimited)
struct ImageCodersTests {
    private let context = ProcessingContext()
    private let dot = Data("DOT 5".utf8)

    @Test(
        "A coder that writes everything stands first in the list, and gets what no other writes", .capability("COD-06"))
    func catchAllWriter() throws {
        let image = Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
        let unheardOf = ImageFormat(rawValue: "unheard-of")
        let coders = ImageCoders([Writer(), DotCoder()])
        #expect(coders.canEncode(unheardOf) && !ImageCoders([DotCoder()]).canEncode(unheardOf))
        #expect(try coders.encode(image, as: unheardOf, options: EncodeOptions()) == Data("unheard-of".utf8))
        #expect(try coders.encode(image, as: .dot, options: EncodeOptions()) != Data("dot".utf8))
        let nested = ImageCoders([coders])
        #expect(try nested.encode(image, as: unheardOf, options: EncodeOptions()) == Data("unheard-of".utf8))
    }

    @Test("A coder that writes no bytes has failed, and is named")
    func emptyWriter() throws {
        let image = Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
        let error = #expect(throws: ImageError.self) {
            try ImageCoders([Writer()]).encode(image, as: ImageFormat(rawValue: ""), options: EncodeOptions())
        }
        #expect(error?.code == .encodeFailed && error?.reason.contains("Writer") == true)
    }

    @Test("The last added is asked first, and one that fails lets the next try", .capability("COD-05"))
    func fallThrough() throws {
        let coder = DotCoder()
        let coders = ImageCoders([coder, Stubborn(code: .corruptImage)])
        #expect(try coders.decode(dot, options: DecodeOptions(), context: context).size.width == 5)
        let error = #expect(throws: ImageError.self) {
            try ImageCoders([Stubborn(code: .truncatedImage), Stubborn(code: .corruptImage)])
                .decode(dot, options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .corruptImage)
    }

    @Test("The coders of a type can be removed", .capability("COD-05"))
    func removal() throws {
        var coders = ImageCoders([
            Stubborn(code: .corruptImage), FrameCoder(frames: 1), Stubborn(code: .truncatedImage),
        ])
        let removed = [coders.remove(Stubborn.self), coders.remove(Stubborn.self)]
        #expect(removed == [2, 0])
        #expect(coders.coders.count == 1 && coders.coders[0] is FrameCoder)
    }

    @Test("A coder, and a list of them, tells without a hint whether it can read the bytes", .capability("COD-01"))
    func canDecode() {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        for coder in [Reader(), ImageCoders([Reader(), DotCoder()])] as [any ImageCoder] {
            #expect(coder.canDecode(png, format: nil) && coder.canDecode(png, format: .png))
            #expect(!coder.canDecode(png, format: .jpeg) && !coder.canDecode(Data("GIF89a".utf8), format: nil))
            #expect(!coder.canDecode(Data("hello".utf8), format: nil))
        }
        #expect(ImageCoders([Reader(), DotCoder()]).canDecode(dot, format: nil))
    }

    @Test("A decode that was cancelled is not tried with another coder")
    func cancelled() {
        let coder = DotCoder()
        let error = #expect(throws: ImageError.self) {
            try ImageCoders([coder, Stubborn(code: .cancelled)])
                .decode(dot, options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .cancelled)
        #expect(coder.decodes == 0)
    }

    @Test(
        "Bytes that are no image say what they look like", .capability("ERR-02"),
        arguments: [
            ("<!doctype html><p>no</p>", "HTML"), ("{\"error\": 1}", "JSON"), ("<rss/>", "markup"),
            ("hello", "68 65 6c 6c 6f"),
        ])
    func unknown(text: String, word: String) {
        let error = #expect(throws: ImageError.self) {
            try ImageCoders([DotCoder()]).decode(Data(text.utf8), options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .unknownFormat)
        #expect(error?.reason.contains(word) == true)
    }

    @Test("A format that the program's own coders refuse needs another coder, and no trait", .capability("CTX-06"))
    func refused() {
        let coders = ImageCoders([DotCoder()])
        let error = #expect(throws: ImageError.self) {
            try coders.decode(Data("GIF89a".utf8), options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .formatNotEnabled)
        #expect(error?.reason == "the image is gif, which none of the coders reads; add a coder that reads it")
        #expect(error?.recoverySuggestion?.contains("add a coder") == true)
    }

    @Test("A format whose trait is off is recognised, and the error names the trait")
    func traitOff() {
        let avif = Data([0, 0, 0, 20] + Array("ftypavif".utf8) + [0, 0, 0, 0] + Array("mif1".utf8))
        let error = #expect(throws: ImageError.self) {
            try ImageCoders([DotCoder()]).decode(avif, options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .formatNotEnabled)
        #expect(error?.reason.contains("trait AVIF") == true)
        let encoding = #expect(throws: ImageError.self) {
            let image = Image(
                pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
            return try ImageCoders([DotCoder()]).encode(image, as: .avif, options: EncodeOptions())
        }
        #expect(encoding?.code == .formatNotEncodable)
    }

    @Test("No bytes are an error of their own, and a wrong hint costs nothing", .capability("COD-15", "CTX-13"))
    func hints() throws {
        let coders = ImageCoders([DotCoder()])
        let error = #expect(throws: ImageError.self) {
            try coders.decode(Data(), options: DecodeOptions(), context: context)
        }
        #expect(error?.code == .emptyBody)
        var options = DecodeOptions()
        options.formatHint = .raw
        #expect(try coders.decode(dot, options: options, context: context).size.width == 5)
    }

    @Test(
        "The last added animated coder that can read the bytes gives the frames; one that fails lets the next try",
        .capability("ANI-02")
    )
    func frames() throws {
        let (first, second) = (FrameCoder(frames: 2), FrameCoder(frames: 3))
        func count(_ coders: ImageCoders) throws -> Int? {
            try coders.frameDecoder(for: dot, options: DecodeOptions(), context: context)?.info.frameCount
        }
        #expect(try count(ImageCoders([first, second])) == 3)
        #expect(try count(ImageCoders([second, first])) == 2)
        // A coder that reads the bytes and is not animated is passed over.
        #expect(try count(ImageCoders([first, DotCoder()])) == 2)
        #expect(try count(ImageCoders([first, FrameCoder(frames: 0)])) == 2)
        #expect(try count(ImageCoders([DotCoder()])) == nil)
        #expect(try count(ImageCoders([])) == nil)
        let error = #expect(throws: ImageError.self) {
            try count(ImageCoders([FrameCoder(frames: 0, code: .corruptImage), FrameCoder(frames: 0)]))
        }
        #expect(error?.code == .truncatedImage)
        let cancelled = #expect(throws: ImageError.self) {
            try count(ImageCoders([first, FrameCoder(frames: 0, code: .cancelled)]))
        }
        #expect(cancelled?.isCancellation == true)
    }

    @Test(
        "A coder that finds no room in the budget is not passed over, and bytes that crash one are given to no other",
        .capability("3.1"), arguments: [ImageError.Code.overBudget, .decoderCrashed, .decodeTimedOut])
    func endOfSearch(code: ImageError.Code) {
        let coder = DotCoder()
        let error = #expect(throws: ImageError.self) {
            try ImageCoders([coder, Stubborn(code: code)]).decode(dot, options: DecodeOptions(), context: context)
        }
        #expect(error?.code == code && coder.decodes == 0)
        let ofFrames = #expect(throws: ImageError.self) {
            try ImageCoders([FrameCoder(frames: 2), FrameCoder(frames: 0, code: code)]).frameDecoder(for: dot)?.info
        }
        #expect(ofFrames?.code == code)
    }

    @Test(
        "Pixels are scaled down to a limit, and never to less than one", .capability("COD-34"))
    func scaleDown() {
        var options = DecodeOptions()
        options.maximumBytes = .megabytes(60)
        let large = options.outputSize(for: PixelSize(width: 8_000, height: 6_000))
        #expect(large.pixelCount * 4 <= 60_000_000 && large.pixelCount * 4 > 59_900_000)
        #expect(
            options.outputSize(for: PixelSize(width: 3_000, height: 5_000)) == PixelSize(width: 3_000, height: 5_000))
        // Ten frames share the bytes.
        let frames = options.outputSize(for: PixelSize(width: 8_000, height: 6_000), frameCount: 10)
        #expect(frames.pixelCount * 40 <= 60_000_000)
        for limit in [4, 3, 0, -1, .min] {
            options.maximumBytes = .bytes(limit)
            #expect(options.outputSize(for: PixelSize(width: 80, height: 60)) == PixelSize(width: 1, height: 1))
        }
    }

    @Test(
        "Limits refuse by the header", .capability("3.1"),
        arguments: [
            (PixelSize(width: 65_535, height: 65_535), 1), (PixelSize(width: .max, height: .max), 1),
            (PixelSize(width: 1_000, height: 1_000), 20_000), (PixelSize(width: 16_000, height: 16_000), 2),
        ])
    func limits(size: PixelSize, frames: Int) {
        let error = #expect(throws: ImageError.self) {
            try DecodeLimits().check(size: size, output: size, frameCount: frames)
        }
        #expect(error?.code == .limitExceeded)
    }
}
