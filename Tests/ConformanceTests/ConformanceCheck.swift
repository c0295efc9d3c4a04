import Foundation
import TestSupport
import Tintype

/// Compares what Tintype makes of one file with what the manifest expects.
struct ConformanceCheck {
    let file: CorpusFile
    /// What is not as expected.
    private(set) var problems: [String] = []

    /// Pictures of another decoder, of a format with loss, are this close at least, in decibels.
    private static let leastCloseness = 40.0
    /// Drawings by another renderer: edges are smoothed in other ways.
    private static let greatestDrawingDifference = 2.5

    /// Formats whose pixels are the same with every decoder that is right.
    private static let exactFormats: Set = ["png", "gif", "bmp", "ico", "cur", "tiff", "bigtiff"]

    init(_ file: CorpusFile) { self.file = file }

    mutating func run() {
        do {
            let data = try file.data()
            switch file.expectation {
            case "ok": try checkImage(data)
            case "error": expectError(data)
            case "limit": expectError(data, file.has(.error) ? nil : .limitExceeded)
            default: checkEnd(data)
            }
        } catch {
            problems.append("\(error)")
        }
    }

    private static var options: DecodeOptions {
        var options = DecodeOptions()
        options.keepsColorSpace = true
        return options
    }

    private mutating func expect<Value: Equatable>(_ what: String, _ seen: Value, _ expected: Value?) {
        guard let expected, seen != expected else { return }
        problems.append("\(what) is \(seen), not \(expected)")
    }

    /// Every error is of the type; that is what `throws(ImageError)` says.
    private mutating func expectError(_ data: Data, _ code: ImageError.Code? = nil) {
        do throws(ImageError) {
            _ = try Image(data: data, options: Self.options)
            problems.append("decodes, but must be refused")
        } catch {
            expect("the error", error.code, code)
        }
    }

    /// Either is right; what counts is that it ends, and says what it is.
    private mutating func checkEnd(_ data: Data) {
        var options = Self.options
        for allowsPartialImage in [false, true] {
            options.allowsPartialImage = allowsPartialImage
            do throws(ImageError) {
                let image = try Image(data: data, options: options)
                if image.isPartial, !allowsPartialImage { problems.append("is partial, which was not allowed") }
            } catch {
                if error.reason.isEmpty { problems.append("the error gives no reason") }
            }
        }
    }

    // MARK: Images

    private mutating func checkImage(_ data: Data) throws {
        let image = try drawn(data)
        if image.isPartial { problems.append("is partial") }
        // An SVG may be drawn at any size, and is compared at that of its reference.
        if file["format"] == "svg" {
            if file["confidence"] != "low" { try checkDrawing(image) }
            return
        }
        guard !file.has(.size) else { return }
        expect("the size", image.size, file.crop?.size ?? file.displaySize)
        guard file["confidence"] != "low" else { return }
        try checkInfo(data, image)
        try checkPixels(image)
        try checkConverted(data)
    }

    private func drawn(_ data: Data) throws -> Image {
        var options = Self.options
        let kind = file["ref_kind"]
        if kind.hasPrefix("upstream-render-") {
            let sides = kind.dropFirst("upstream-render-".count).split(separator: "x").compactMap { Int($0) }
            if sides.count == 2 { options.thumbnailSize = PixelSize(width: sides[0], height: sides[1]) }
            options.preservesAspectRatio = false
        }
        return try Image(data: data, options: options)
    }

    private mutating func checkDrawing(_ image: Image) throws {
        guard let reference = try reference(file["ref_file"]), !file.has(.pixels) else { return }
        let drawing = image.size == reference.size ? image.pixels : try image.pixels.resized(to: reference.size)
        guard let closeness = Closeness(drawing, reference) else { return }
        if closeness.meanDifference > Self.greatestDrawingDifference {
            problems.append("the drawing differs by \(closeness.meanDifference) on average")
        }
    }

    /// So many bytes from the beginning are enough to know the size and the orientation.
    private static let headers = ["jpeg": 65_536, "png": 4_095, "apng": 4_095, "gif": 4_095, "webp": 4_095]

    private mutating func checkHeader(_ data: Data, _ info: ImageInfo) {
        guard let count = Self.headers[file["format"]], count < data.count else { return }
        do throws(ImageError) {
            let header = try ImageInfo(data: Data(data.prefix(count)))
            expect("the size by the first \(count) bytes", header.size, info.size)
            // Of other formats the orientation stands where the metadata does, which may be at the end.
            if file["format"] == "jpeg" { expect("the orientation by them", header.orientation, info.orientation) }
        } catch {
            // The segments before the frame header may be longer.
            guard file["format"] != "jpeg" || Self.frameHeader(data) < count else { return }
            problems.append("the first \(count) bytes are not enough: \(error)")
        }
    }

    /// Where the frame header of a JPEG begins.
    private static func frameHeader(_ data: Data) -> Int {
        let bytes = [UInt8](data)
        var offset = 2
        while offset + 3 < bytes.count, bytes[offset] == 0xFF, !(0xC0...0xC3).contains(bytes[offset + 1]) {
            offset += 2 + (Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
        }
        return offset
    }

    private mutating func checkInfo(_ data: Data, _ image: Image) throws {
        let info = try ImageInfo(data: data)
        checkHeader(data, info)
        // Of HEIF and JPEG XL the manifest has the size after the container's own transform.
        if !["heif", "jxl"].contains(file["format"]) {
            expect("the stored size", info.size, file.crop?.size ?? file.storedSize)
        }
        expect("the upright size", info.displaySize, file.crop?.size ?? file.displaySize)
        if let orientation = file.number("orientation"), file["format"] != "heif", !file.has(.orientation) {
            expect("the orientation", info.orientation.rawValue, orientation)
        }
        if !file.has(.frameCount) {
            expect("the number of frames", info.frameCount, file.number("frames"))
            expect("the number of decoded frames", image.frames.count, file.number("frames"))
        }
        if !file.has(.alpha), let alpha = file.number("hasAlpha") { expect("having alpha", image.hasAlpha, alpha == 1) }
        // The header may leave open what only the pixels tell.
        if image.hasAlpha, !info.hasAlpha { problems.append("the header denies the alpha of the pixels") }
        guard info.isAnimated else { return }
        // A GIF states how often it is repeated, and the others how often they are played.
        if let loop = file.number("loop") {
            expect("the loop count", info.loopCount, info.format == .gif && loop > 0 ? loop + 1 : loop)
        }
        let durations = file["duration_ms"].split(separator: ",").compactMap { Double($0) }
        guard durations.count == info.frameCount else { return }
        let played = durations.map { FrameTiming.played(.microseconds(Int($0 * 1_000))).inMilliseconds }
        for (index, (seen, expected)) in zip(info.frameDurations.map(\.inMilliseconds), played).enumerated()
        where abs(seen - expected) > 1 {
            problems.append("frame \(index) lasts \(seen) ms, not \(expected) ms")
        }
    }

    private mutating func checkPixels(_ image: Image) throws {
        let stored = try image.pixels.oriented(image.properties.sourceOrientation.inverse)
        if !file.has(.pixels) { try checkFirstFrame(stored, image.pixels) }
        if !file.has(.frames) { try checkFrames(image) }
        if let color = Decision.lastFrames[file.path], let last = image.frames.last?.pixels {
            let isFilled = (0..<last.height).allSatisfy { y in
                (0..<last.width).allSatisfy { last[$0, y] == color }
            }
            if !isFilled { problems.append("the last frame is not of the one color \(color)") }
        }
    }

    /// The digest is of pixels as they are stored; some references are of the upright ones.
    private mutating func checkFirstFrame(_ stored: PixelBuffer, _ upright: PixelBuffer) throws {
        let digest = Decision.digests[file.path] ?? file["md5_rgba8"]
        if !digest.isEmpty, let bytes = canonicalBytes(stored), md5(bytes) == digest { return }
        guard let reference = try reference(file["ref_file"]) else {
            // Premultiplied pixels do not give straight ones of a digest back, nor does a lossy format without a picture.
            if Self.exactFormats.contains(file["format"]), !digest.isEmpty, canonicalBytes(stored) != nil {
                problems.append("the pixels have another digest")
            }
            return
        }
        // Where only the noise differs, what is behind it does not.
        let half = PixelSize(width: reference.width / 2, height: reference.height / 2)
        let size =
            file.has(.noise)
            ? reference.size.scaled(into: PixelSize(width: 64, height: 64)) : file.has(.chroma) ? half : reference.size
        let compared = try reference.boxReduced(to: size)
        let candidates = try [stored, upright].map { try $0.boxReduced(to: size) }
        guard let best = candidates.compactMap({ Closeness($0, compared) }).max(by: { $0.psnr < $1.psnr }) else {
            problems.append("the picture is \(stored.size), its reference \(reference.size)")
            return
        }
        let least = Self.exactFormats.contains(file["format"]) ? .infinity : Self.leastCloseness
        if best.psnr < least {
            let psnr = (best.psnr * 100).rounded() / 100
            problems.append("the pixels differ from their reference: \(psnr) dB, \(best.meanDifference) on average")
        }
    }

    private mutating func checkFrames(_ image: Image) throws {
        struct Frames: Decodable {
            var digests: [String]?
            var hidesDefaultImage: Bool?

            enum CodingKeys: String, CodingKey {
                case digests = "md5_rgba8_composited"
                case hidesDefaultImage = "default_image_not_in_animation"
            }
        }
        guard Self.exactFormats.contains(file["format"]) || file["format"] == "webp", !file["frames_json"].isEmpty
        else { return }
        let frames = try JSONDecoder().decode(Frames.self, from: file.data(file["frames_json"]))
        guard var digests = frames.digests else { return }
        if frames.hidesDefaultImage == true { digests.removeFirst() }
        guard digests.count == image.frames.count else { return }
        for (index, (digest, frame)) in zip(digests, image.frames).enumerated() {
            if let bytes = canonicalBytes(frame.pixels), md5(bytes) != digest {
                problems.append("frame \(index) has another digest")
            }
        }
    }

    /// The picture in sRGB, where the profile makes a difference that can be seen.
    private mutating func checkConverted(_ data: Data) throws {
        guard !file.has(.pixels), let reference = try reference(file["ref_srgb"]) else { return }
        let image = try Image(data: data)
        let stored = try image.pixels.oriented(image.properties.sourceOrientation.inverse)
        let candidates = try [stored, image.pixels].map { try $0.boxReduced(to: reference.size) }
        let best = candidates.compactMap { Closeness($0, reference)?.psnr }.max() ?? 0
        if best < Self.leastCloseness { problems.append("converted to sRGB the pixels differ: \(best) dB") }
    }

    /// A picture of the corpora, with the numbers that its file has.
    private func reference(_ path: String) throws -> PixelBuffer? {
        guard !path.isEmpty else { return nil }
        let pixels = try Image(data: try file.data(path), options: Self.options).pixels
        guard let crop = file.crop, pixels.size == file.displaySize else { return pixels }
        return try crop(pixels)
    }
}
