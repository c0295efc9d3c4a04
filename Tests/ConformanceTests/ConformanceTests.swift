import Foundation
import Testing
import Tintype

/// Every file of the corpora, where `TINTYPE_CORPORA` names their folder.
@Suite("Conformance", .enabled(if: Corpora.folder != nil, "TINTYPE_CORPORA is not set"))
struct ConformanceTests {
    @Test("JPEG", arguments: Corpora.files("jpeg"))
    func jpeg(file: CorpusFile) throws { try check(file) }

    @Test("PNG and APNG", arguments: Corpora.files("png"))
    func png(file: CorpusFile) throws { try check(file) }

    @Test("GIF", arguments: Corpora.files("gif"))
    func gif(file: CorpusFile) throws { try check(file) }

    @Test("WebP", arguments: Corpora.files("webp"))
    func webp(file: CorpusFile) throws { try check(file) }

    @Test("BMP", arguments: Corpora.files("bmp"))
    func bmp(file: CorpusFile) throws { try check(file) }

    @Test("ICO and CUR", arguments: Corpora.files("ico", "cur"))
    func ico(file: CorpusFile) throws { try check(file) }

    @Test("files that are no image", arguments: Corpora.files("?"))
    func others(file: CorpusFile) throws { try check(file) }

    @Test(
        "formats of package traits are decoded, or refused by name",
        arguments: Corpora.files("avif", "heif", "jxl", "tiff", "bigtiff", "svg"))
    func traits(file: CorpusFile) throws {
        let data = try file.data()
        guard let format = ImageFormat(sniffing: data) else {
            #expect(file.expectation != "ok", "not recognised")
            return
        }
        if ImageCoders.default.decodableFormats.contains(format) {
            try check(file)
        } else {
            #expect(throws: ImageError.self) { try Image(data: data) }
        }
    }

    @Test("photographs decode in full, as thumbnails, and not larger than the box", arguments: Corpora.photos)
    func photos(url: URL) throws {
        let data = try Data(contentsOf: url)
        let box = PixelSize(width: 400, height: 400)
        let info = try ImageInfo(data: data)
        let thumbnail = try Image(data: data, options: DecodeOptions(thumbnailSize: box))
        #expect(thumbnail.size == info.displaySize.scaled(into: box))
        #expect(try Image(data: data).size == info.displaySize)
    }

    // MARK: One file

    private func check(_ file: CorpusFile) throws {
        let data = try file.data()
        var options = DecodeOptions()
        options.keepsColorSpace = true
        switch file.expectation {
        case "ok":
            let image = try Image(data: data, options: options)
            #expect(!image.isPartial)
            guard !file.has(.size) else { return }
            #expect(image.size == file.displaySize ?? image.size)
            guard file["confidence"] != "low" else { return }
            try checkInfo(file, data)
            try checkPixels(file, image)
        case "error":
            #expect(throws: ImageError.self) { try Image(data: data, options: options) }
        case "limit":
            let error = #expect(throws: ImageError.self) { try Image(data: data, options: options) }
            #expect(error?.code == .limitExceeded)
        default:
            // Either is right; what counts is that it ends, and says what it is.
            _ = try? Image(data: data, options: options)
            options.allowsPartialImage = true
            _ = try? Image(data: data, options: options)
        }
    }

    private func checkInfo(_ file: CorpusFile, _ data: Data) throws {
        let info = try ImageInfo(data: data)
        #expect(info.size == file.storedSize ?? info.size)
        #expect(info.displaySize == file.displaySize ?? info.displaySize)
        #expect(info.frameCount == file.number("frames") ?? info.frameCount)
        guard info.isAnimated else { return }
        if let loop = file.number("loop") { #expect(info.loopCount == loop) }
        let durations = file["duration_ms"].split(separator: ",").compactMap { Double($0) }
        if durations.count == info.frameCount {
            let played = durations.map { FrameTiming.played(.microseconds(Int($0 * 1_000))).inMilliseconds }
            for (seen, expected) in zip(info.frameDurations.map(\.inMilliseconds), played) {
                #expect(abs(seen - expected) <= 1)
            }
        }
    }

    private func checkPixels(_ file: CorpusFile, _ image: Image) throws {
        let stored = try image.pixels.oriented(image.properties.sourceOrientation.inverse)
        if !file["md5_rgba8"].isEmpty, !file.has(.pixels) {
            if let bytes = canonicalBytes(stored) {
                #expect(md5(bytes) == file["md5_rgba8"], "first frame")
            } else if let reference = try reference(of: file) {
                // Premultiplied pixels do not give the straight ones of the digest back, but those of a picture.
                #expect(stored == reference, "first frame")
            }
        }
        if !file.has(.frames) {
            try checkFrames(file, image)
        }
        if let color = Decision.lastFrames[file.path], let last = image.frames.last?.pixels {
            let isFilled = (0..<last.height).allSatisfy { y in
                (0..<last.width).allSatisfy { last[$0, y] == color }
            }
            #expect(isFilled, "the last frame has one colour")
        }
        if let reference = try reference(of: file) {
            let differences = [stored, image.pixels].compactMap { meanDifference($0, reference) }
            // Decoders differ in how they enlarge chroma, by up to 2.5 on average.
            if let least = differences.min() { #expect(least <= 2.5, "mean difference from the reference") }
        }
    }

    private func checkFrames(_ file: CorpusFile, _ image: Image) throws {
        struct Frames: Decodable {
            var digests: [String]?
            var hidesDefaultImage: Bool?

            enum CodingKeys: String, CodingKey {
                case digests = "md5_rgba8_composited"
                case hidesDefaultImage = "default_image_not_in_animation"
            }
        }
        guard !file["frames_json"].isEmpty else { return }
        let frames = try JSONDecoder().decode(Frames.self, from: file.data(file["frames_json"]))
        guard var digests = frames.digests else { return }
        if frames.hidesDefaultImage == true { digests.removeFirst() }
        guard digests.count == image.frames.count else { return }
        for (index, (digest, frame)) in zip(digests, image.frames).enumerated() {
            if let bytes = canonicalBytes(frame.pixels) { #expect(md5(bytes) == digest, "frame \(index)") }
        }
    }

    /// The picture of the file by its authors, or by an independent decoder.
    private func reference(of file: CorpusFile) throws -> PixelBuffer? {
        guard ["decoded-full", "upstream-png"].contains(file["ref_kind"]) else { return nil }
        var options = DecodeOptions()
        options.keepsColorSpace = true
        return try Image(data: try file.data(file["ref_file"]), options: options).pixels
    }
}
