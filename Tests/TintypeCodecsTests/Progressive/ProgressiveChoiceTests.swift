import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// Takes any bytes, and reads none.
private struct AnyBytes: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [] }
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }
    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.unknownFormat, stage: .decode, reason: "no")
    }
    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(.unknownFormat, stage: .decode, reason: "no")
    }
}

@Suite("The coder of bytes that arrive", .timeLimited)
struct ProgressiveChoiceTests {
    typealias Sample = ProgressiveDecodeTests.Sample
    let coders = FormatSample.coders

    private func decoder(_ coders: ImageCoders, hint: ImageFormat?) throws -> any ProgressiveDecoder {
        try coders.progressiveDecoder(options: DecodeOptions(formatHint: hint), context: ProcessingContext())
    }

    @Test(
        "Neither a wrong hint nor a coder of any bytes costs previews, though the signature comes byte by byte",
        .capability("CTX-13", "COD-15", "3.15"), arguments: Sample.allCases, [ImageFormat.jpeg, .png, .heic, .raw])
    func wrongHints(sample: Sample, hint: ImageFormat) throws {
        let data = try sample.data()
        func previews(_ coders: ImageCoders, _ hint: ImageFormat?, beginning: Int) throws -> [PixelBuffer] {
            let decoder = try decoder(coders, hint: hint)
            for byte in data.prefix(beginning) { try decoder.append(Data([byte])) }
            let step = data.count / 12 + 1
            var previews: [PixelBuffer] = []
            for start in stride(from: beginning, to: data.count, by: step) {
                try decoder.append(Data(data[start..<min(start + step, data.count)]))
                if let preview = try decoder.preview() { previews.append(preview.pixels) }
            }
            #expect(try decoder.finish().format == ImageFormat(sniffing: data))
            return previews
        }
        let others = ImageCoders([AnyBytes()] + coders.coders)
        for beginning in [0, 40] {
            let expected = try previews(coders, nil, beginning: beginning)
            #expect(try !expected.isEmpty && previews(others, hint, beginning: beginning) == expected)
            // A hint of a format that only a program's coder could know.
            let unknown = ImageFormat(rawValue: "sticker")
            #expect(try previews(coders, unknown, beginning: beginning) == expected)
        }
    }

    private func expectEnd(_ coders: ImageCoders, _ data: Data) throws {
        let whole = try coders.decode(data, options: DecodeOptions(), context: ProcessingContext())
        let decoder = try decoder(coders, hint: nil)
        try decoder.append(data)
        #expect(try decoder.finish().pixels == whole.pixels)
        let more = Data("more".utf8)
        try decoder.append(more)
        #expect(try decoder.finish().pixels == whole.pixels)
        try decoder.append(more, of: data + more)
        #expect(try decoder.finish().pixels == whole.pixels)
    }

    @Test("Bytes behind the end change nothing", .capability("COD-02"), arguments: Sample.allCases)
    func behindEnd(sample: Sample) throws { try expectEnd(coders, try sample.data()) }

    #if SVG
    @Test("Bytes behind the end of a drawing change nothing either", .capability("COD-02"))
    func behindEndOfDrawing() throws {
        let data = Data("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'/>".utf8)
        try expectEnd(ImageCoders([SVGCoder()]), data)
    }
    #endif

    #if AVIF
    @Test("An image has the format that its signature says, not its hint, also if its first brand says less")
    func lateBrand() throws {
        var data = try AVIFCoder().encode(RasterSamples.gradient(40, 30), as: .avif, options: EncodeOptions())
        // The brand of all HEIF files first, and AVIF's own among those behind it.
        data.replaceSubrange(8..<12, with: Data("mif1".utf8))
        try #require(ImageFormat(sniffing: data) == .avif && ImageFormat(sniffing: data.prefix(16)) == .heif)
        for hint in [nil, .heic, .heif, .jpeg] as [ImageFormat?] {
            let decoder = try decoder(coders, hint: hint)
            for byte in data.prefix(64) { try decoder.append(Data([byte])) }
            try decoder.append(Data(data.dropFirst(64)))
            #expect(try decoder.finish().format == .avif)
        }
    }
    #endif
}
