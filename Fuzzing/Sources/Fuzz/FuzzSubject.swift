import CFuzzer
import Foundation
import Tintype

@testable import TintypeCodecs

/// A coder and all that is asked of it for each input. Whatever the bytes are, each must end in an image or an error of the
/// type; what an image must be is checked.
struct FuzzSubject {
    let name: String
    let coder: any ImageCoder
    let formats: [ImageFormat]
    private let comparesFillings: Bool
    private let comparesCoefficients: Bool

    /// The one that is fed. Set once, before the first input.
    nonisolated(unsafe) static var current: FuzzSubject?

    private static let subjects: [(String, any ImageCoder, [ImageFormat])] = [
        ("jpeg", jpeg, [.jpeg]), ("png", PNGCoder(), [.png]), ("gif", GIFCoder(), [.gif]),
        ("webp", WebPCoder(), [.webp]), ("bmp", BMPCoder(), [.bmp]), ("ico", ICOCoder(png: PNGCoder()), [.ico]),
        ("avif", AVIFCoder(), [.avif]), ("heif", HEIFCoder(), [.heic, .heif]), ("jxl", JXLCoder(), [.jxl]),
        ("tiff", TIFFCoder(), [.tiff]), ("svg", SVGCoder(), [.svg]), ("pdf", PDFCoder(), [.pdf]),
        ("raw", RAWCoder(), [.raw]), ("sniff", ImageCoders.inProcess, ImageFormat.known),
    ]

    /// Decodes thumbnails of the fuzzer's short scans itself, too, instead of leaving them to libjpeg.
    private static let jpeg: JPEGCoder = {
        var coder = JPEGCoder()
        coder.shortestScan = 0
        return coder
    }()

    /// The end of the names of subjects that decode in the helper.
    private static let isolatedEnding = "-isolated"

    /// The end of the names of subjects that decode everything with two fillings of fresh and reused memory.
    private static let fillingsEnding = "-fillings"

    /// The subject that compares the coefficients of thumbnails with libjpeg's.
    private static let coefficients = "jpeg-coefficients"

    static var names: [String] {
        subjects.flatMap { [$0.0, $0.0 + isolatedEnding, $0.0 + fillingsEnding] } + [coefficients]
    }

    init?(_ name: String) {
        let isIsolated = name.hasSuffix(Self.isolatedEnding)
        comparesFillings = name.hasSuffix(Self.fillingsEnding)
        let ending = isIsolated ? Self.isolatedEnding : comparesFillings ? Self.fillingsEnding : ""
        comparesCoefficients = name == Self.coefficients
        let plain = comparesCoefficients ? "jpeg" : String(name.dropLast(ending.count))
        guard let (_, coder, formats) = Self.subjects.first(where: { $0.0 == plain }) else { return nil }
        self.name = name
        self.formats = formats
        self.coder = isIsolated ? Self.isolated(formats) : coder
    }

    /// The coders of the default, in the program that `FUZZ_HELPER` names. A decode may take as long as the fuzzer waits.
    private static func isolated(_ formats: [ImageFormat]) -> any ImageCoder {
        var isolation = DecoderIsolation()
        isolation.helper = ProcessInfo.processInfo.environment["FUZZ_HELPER"]
        isolation.timeLimit = .seconds(10)
        return ImageCoders.inProcess.isolated(IsolatedFormats(Set(formats)), by: isolation)
    }

    /// Tells of a helper that ended: nothing is wrong with the program, but its library has a defect.
    private func report(_ error: any Error) {
        guard let error = error as? ImageError, [.decoderCrashed, .decodeTimedOut].contains(error.code) else { return }
        FileHandle.standardError.write(Data("contained: \(error)\n".utf8))
    }

    /// Small enough for hundreds of inputs a second.
    private static let limits: DecodeLimits = {
        var limits = DecodeLimits()
        limits.maximumPixels = 1 << 16
        limits.maximumBytes = ByteCount(1 << 22)
        limits.maximumFrames = 24
        return limits
    }()

    private var context: ProcessingContext { ProcessingContext(limits: Self.limits) }

    func take(_ data: Data) {
        if comparesFillings { return compareFillings(data) }
        if comparesCoefficients { return compareCoefficients(data) }
        _ = ImageFormat(sniffing: data)
        let info = try? coder.info(of: data, context: context)
        if let info { precondition(!info.size.isEmpty && info.frameCount >= 1, "\(info)") }
        // Which half of the rest is done depends on the bytes, so that the same input always does the same.
        let choice = data.reduce(UInt32(data.count)) { ($0 &* 31) &+ UInt32($1) }
        decode(data, choice)
        if choice & 1 == 0 { decodeFrames(data, choice) } else { decodeProgressively(data, choice) }
    }

    private func options(_ choice: UInt32) -> DecodeOptions {
        var options = DecodeOptions()
        if choice & 2 != 0 { options.thumbnailSize = PixelSize(width: 1 + Int(choice >> 8 & 63), height: 17) }
        options.preservesAspectRatio = choice & 4 == 0
        options.firstFrameOnly = choice & 8 != 0
        options.allowsPartialImage = choice & 16 != 0
        options.keepsColorSpace = choice & 32 != 0
        if choice & 64 != 0 { options.maximumBytes = 5_000 }
        return options
    }

    /// Checks that the pixels don't depend on the contents of fresh and reused memory.
    private func compareFillings(_ data: Data) {
        let choice = data.reduce(UInt32(data.count)) { ($0 &* 31) &+ UInt32($1) }
        for options in [options(choice | 16), options(choice & ~16)] {
            let images = [UInt8(0x55), 0xAA].map { byte in
                mallopt(M_PERTURB, Int32(byte))
                // Nothing is kept, so that all but the largest blocks come from malloc.
                let context = ProcessingContext(limits: Self.limits, pool: PixelBufferPool(limit: 0))
                return try? coder.decode(data, options: options, context: context)
            }
            precondition((images[0] == nil) == (images[1] == nil), "an error that depends on memory")
            for (first, second) in zip(images[0]?.frames ?? [], images[1]?.frames ?? []) {
                precondition(first.pixels == second.pixels, "pixels that depend on memory")
            }
        }
    }

    /// Checks that what the decoder of thumbnails accepts, libjpeg accepts without a warning, with the same coefficients.
    private func compareCoefficients(_ data: Data) {
        let bytes = Array(data)
        guard let frame = try? ThumbnailFrame(bytes.span), frame.size.pixelCount <= Self.limits.maximumPixels else {
            return
        }
        for last in [5, 9, 13, ThumbnailCoefficients.lastOfProgressive] {
            // Streams that rely on their guesses soon are often wrong, and taken over.
            guard let decoded = try? ThumbnailCoefficients.decode(data, last: last, warmUp: 64) else { continue }
            guard let reference = ThumbnailCoefficients.reference(data, last: last) else {
                fatalError("libjpeg warns of a file that the decoder of thumbnails accepts")
            }
            guard decoded.values != reference else { continue }
            let first = zip(decoded.values, reference).enumerated().first { $1.0 != $1.1 }
            fatalError("coefficients to \(last) differ: \(decoded.values.count), \(reference.count), \(first as Any)")
        }
    }

    private func decode(_ data: Data, _ choice: UInt32) {
        for choice in [0, choice] {
            let options = options(choice)
            let image: Image
            do { image = try coder.decode(data, options: options, context: context) } catch {
                report(error)
                continue
            }
            precondition(options.allowsPartialImage || !image.isPartial, "a partial image that nobody asked for")
            image.frames.forEach { check($0.pixels) }
        }
    }

    private func decodeFrames(_ data: Data, _ choice: UInt32) {
        guard let coder = coder as? any AnimatedImageCoder,
            let decoder = try? coder.frameDecoder(for: data, options: options(choice), context: context)
        else { return }
        // Some frames, back to the first, and all.
        for limit in [Int(choice >> 8 & 3), 64] {
            for _ in 0..<limit {
                guard let frame = try? decoder.nextFrame() else { break }
                precondition(frame.pixels.size == decoder.outputSize, "a frame of another size")
                check(frame.pixels)
            }
            guard (try? decoder.rewind()) != nil else { return }
        }
    }

    private func decodeProgressively(_ data: Data, _ choice: UInt32) {
        guard let coder = coder as? any ProgressiveImageCoder,
            let decoder = try? coder.progressiveDecoder(options: options(choice), context: context)
        else { return }
        var rest = data[...]
        var step = choice | 1
        do {
            while !rest.isEmpty {
                let count = min(rest.count, 1 + Int(step % UInt32(max(1, data.count / 3))))
                try decoder.append(Data(rest.prefix(count)))
                rest = rest.dropFirst(count)
                step = step &* 1_664_525 &+ 1_013_904_223
                if let preview = try decoder.preview() { check(preview.pixels) }
            }
            try decoder.finish().frames.forEach { check($0.pixels) }
        } catch { precondition(error is ImageError) }
    }

    /// Every pixel is there, and premultiplied.
    private func check(_ pixels: PixelBuffer) {
        precondition(!pixels.size.isEmpty)
        guard pixels.format == .rgba8 else { return }
        for y in 0..<pixels.size.height {
            pixels.withRow(y) { row in
                for x in stride(from: 0, to: row.count, by: 4) {
                    let alpha = row[x + 3]
                    precondition(
                        row[x] <= alpha && row[x + 1] <= alpha && row[x + 2] <= alpha,
                        "colour above alpha at \(x / 4), \(y)")
                }
            }
        }
    }
}
