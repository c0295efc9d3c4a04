import Foundation
import Glibc
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// The way of high dynamic range through JPEG: a gain map that is written, and applied where that is asked for.
@Suite("Gain maps in loads and files", .timeLimited)
struct GainMapDecodeTests {
    let coder = JPEGCoder()

    /// A ramp of gray from a tenth of white to four times white, with a colored band.
    private func bright(_ width: Int = 64, _ height: Int = 48) throws -> Image {
        try DeepSamples.bright(width, height) { x, y in
            let light = 0.1 * pow(40, Double(x) / Double(width - 1))
            let level = Float(TransferCurves.sRGBValue(light))
            return y < height / 2 ? SIMD4(level, level, level, 1) : SIMD4(level, level / 2, level / 4, 1)
        }.with { $0.hasAlpha = false }
    }

    private func light(_ image: Image, _ x: Int, _ y: Int) -> Double {
        TransferCurves.sRGBLight(Double(image.pixels.component(x: x, y: y).x))
    }

    private func file(_ change: (inout EncodeOptions) -> Void = { _ in }) throws -> Data {
        var options = EncodeOptions(quality: 0.97, encodeToHDR: .gainMap)
        options.jpeg.subsampling = .full
        change(&options)
        return try coder.encode(bright(), as: .jpeg, options: options)
    }

    @Test(
        "An image of high dynamic range is written with its gain map, and comes back", .capability("COD-20", "COD-54"))
    func roundTrip() throws {
        let data = try file()
        let map = try #require(JPEGGainMap(of: data))
        #expect(map.standard == .iso && map.components == 1 && map.size == PixelSize(width: 32, height: 24))
        let headroom = try #require(map.parameters?.alternateHeadroom)
        #expect(abs(headroom - 2) < 0.05)
        let image = try coder.decode(data) { $0.decodeToHDR = true }
        #expect(image.isHighDynamicRange && image.pixels.format == .rgbaFloat16 && image.colorSpace == .extendedSRGB)
        let source = try bright()
        for x in stride(from: 2, to: 62, by: 6) {
            for y in [6, 40] {
                let (shown, wanted) = (light(image, x, y), light(source, x, y))
                #expect(abs(shown - wanted) < 0.04 + 0.06 * wanted, "\(x), \(y): \(shown), not \(wanted)")
            }
        }
        // Without the wish, what any reader shows: tone-mapped, and 8 bits.
        let plain = try coder.decode(data)
        #expect(!plain.isHighDynamicRange && plain.pixels.format == .rgba8)
        let toneMapped = try coder.decode(file { $0.encodeToHDR = .none })
        #expect(plain.pixels == toneMapped.pixels)
        #expect(try JPEGGainMap(of: file { $0.encodeToHDR = .none }) == nil)
    }

    @Test("A brightened image keeps within its limit of bytes, although its pixels have eight", .capability("COD-17"))
    func limitedBytes() throws {
        let data = try file()
        let image = try coder.decode(data) {
            $0.decodeToHDR = true
            $0.maximumBytes = .bytes(2_000)
        }
        #expect(image.pixels.format == .rgbaFloat16)
        #expect(image.size.pixelCount * 8 <= 2_000 && image.size.pixelCount * 10 > 2_000)
        // Decoded at once at the end, too.
        for isFast in [false, true] {
            var options = DecodeOptions(prefersFastThumbnail: isFast, maximumBytes: .bytes(2_000), decodeToHDR: true)
            options.allowsPartialImage = isFast
            let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
            try decoder.append(file { $0.progressive = true })
            #expect(try decoder.finish().size == image.size)
        }
    }

    @Test(
        "Readers of each kind find the map: by the index of pictures, by XMP, and by the segment of the standard",
        .capability("COD-20"))
    func statements() throws {
        let data = try file()
        let map = try #require(JPEGGainMap(of: data))
        let segments = data.withUnsafeBytes { JPEGSegments($0) }
        let xmp = String(decoding: try #require(segments.xmp), as: UTF8.self)
        #expect(xmp.contains("Item:Length=\"\(map.data.count)\"") && xmp.contains("hdrgm:Version=\"1.0\""))
        #expect(segments.gainMapParameters?.count == 4 && data.suffix(map.data.count) == map.data)
        let own = try #require(map.data.withUnsafeBytes { JPEGSegments($0).xmp })
        #expect(GainMapParameters(xmp: String(decoding: own, as: UTF8.self))?.channels.count == 1)
    }

    @Test(
        "The packet of a source is kept, with the map that the file has instead of the source's",
        .capability("COD-20", "COD-47"))
    func keptPacket() throws {
        let container = """
            xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" xmlns:C="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="9.0"
            """
        let contents = """
            <C:Directory><rdf:Seq><rdf:li><C:Item Item:Length="7"/></rdf:li></rdf:Seq></C:Directory>\
            <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Tram</rdf:li></rdf:Alt></dc:title>
            """
        let unnamed = MadeXMP.packet(contents, attributes: container)
        let source = Data(unnamed.replacingOccurrences(of: "about=\"\"", with: "about=\"uuid:1\"").utf8)
        for packet in [source, Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8), Data("<x".utf8)] {
            let image = try bright().with { $0.metadata.xmp = packet }
            let file = try coder.encode(
                image, as: .jpeg, options: EncodeOptions(keepsMetadata: true, encodeToHDR: .gainMap))
            let length = try #require(JPEGGainMap(of: file)).data.count
            let written = try #require(file.withUnsafeBytes { JPEGSegments($0).xmp })
            let text = String(decoding: written, as: UTF8.self)
            #expect(text.contains("Item:Length=\"\(length)\"") && !text.contains("Item:Length=\"7\""))
            #expect(text.split(separator: "hdrgm:Version=").count == 2 && !text.contains("9.0"))
            #expect(ImageMetadata(xmp: written).fields.title == (packet == source ? "Tram" : nil))
            // It is well-formed, and all descriptions are about the same.
            #expect(XMPPacket.upright(written, size: image.size) != nil)
            #expect(!text.contains("rdf:about=\"\""))
            // In standard range, there is no map.
            let plain = try coder.encode(
                coder.decode(file), as: .jpeg, options: EncodeOptions(keepsMetadata: true, encodeToHDR: .none))
            let rest = try #require(plain.withUnsafeBytes { JPEGSegments($0).xmp })
            #expect(!String(decoding: rest, as: UTF8.self).contains("hdrgm"))
            #expect(!String(decoding: rest, as: UTF8.self).contains("Item"))
            #expect(ImageMetadata(xmp: rest).fields.title == (packet == source ? "Tram" : nil))
        }
    }

    @Test(
        "A limit of bytes counts the map; images of standard range, and translucent ones, get none",
        .capability("COD-20", "COD-25"))
    func exceptions() throws {
        let size = try file().count
        let small = try file { $0.maximumBytes = .bytes(size * 9 / 10) }
        #expect(small.count <= size * 9 / 10 && JPEGGainMap(of: small) != nil)
        let options = EncodeOptions(encodeToHDR: .gainMap)
        let plain = try RasterSamples.gradient(32, 32)
        #expect(try JPEGGainMap(of: coder.encode(plain, as: .jpeg, options: options)) == nil)
        let opaque = try bright().with { $0.hasAlpha = true }
        #expect(try JPEGGainMap(of: coder.encode(opaque, as: .jpeg, options: options)) != nil)
        let translucent = try DeepSamples.bright(32, 32) { _, _ in [1, 1, 1, 0.5] }.with { $0.hasAlpha = true }
        #expect(try JPEGGainMap(of: coder.encode(translucent, as: .jpeg, options: options)) == nil)
        let dim = try DeepSamples.bright(8, 8) { _, _ in [0.5, 0.5, 0.5, 1] }.with { $0.hasAlpha = false }
        #expect(try JPEGGainMap(of: coder.encode(dim, as: .jpeg, options: options)) == nil)
    }

    @Test("Thumbnails, transformers, and files that arrive keep the range", .capability("COD-18", "COD-54"))
    func wholeWay() throws {
        let data = try file()
        let small = try coder.decode(data) {
            $0.decodeToHDR = true
            $0.thumbnailSize = PixelSize(width: 16, height: 16)
        }
        #expect(small.size == PixelSize(width: 16, height: 12) && small.isHighDynamicRange)
        #expect(small.pixels.format == .rgbaFloat16 && light(small, 15, 3) > 2.5)
        let transformers: [any ImageTransformer] = [
            .resize(width: 32, height: 24), .crop(width: 32, height: 24, position: .anchor(.right)),
            .flip(horizontally: true), .rotate(degrees: 90), .blur(radius: 1), .circle(), .grayscale(),
        ]
        let image = try coder.decode(data) { $0.decodeToHDR = true }
        for transformer in transformers {
            let result = try image.transformed(transformer)
            #expect(result.pixels.format == .rgbaFloat16 && result.isHighDynamicRange, "\(transformer.key)")
            let peak =
                (0..<result.size.height).flatMap { y in
                    (0..<result.size.width).map { result.pixels.component(x: $0, y: y).x }
                }.max() ?? 0
            #expect(peak > 1.3, "\(transformer.key)")
        }
        var options = DecodeOptions()
        options.decodeToHDR = true
        let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
        try decoder.append(Data(data.prefix(data.count / 2)))
        _ = try decoder.preview()
        try decoder.append(Data(data.suffix(from: data.count / 2)))
        let arrived = try decoder.finish()
        #expect(arrived.pixels == image.pixels && arrived.properties.decodeOptions == options)
    }

    @Test("A budget without room for an image beside its map decodes one after the other", .capability("COD-54"))
    func narrowBudget() throws {
        let data = try file { $0.progressive = true }
        let whole = try coder.decode(data) { $0.decodeToHDR = true }
        var options = DecodeOptions()
        options.decodeToHDR = true
        // What is larger than a budget decodes while nothing else does.
        let context = ProcessingContext(budget: DecodeBudget(limit: .bytes(1)))
        let decoder = try coder.progressiveDecoder(options: options, context: context)
        try decoder.append(Data(data.prefix(data.count / 2)))
        _ = try decoder.preview()
        try decoder.append(Data(data.suffix(from: data.count / 2)))
        #expect(try decoder.finish().pixels == whole.pixels)
    }

    @Test(
        "A map that is damaged or cut off leaves the image in standard range, and so do colors that are kept",
        .capability("COD-54"))
    func fallback() throws {
        let data = try file()
        let map = try #require(JPEGGainMap(of: data))
        var damaged = data
        let start = data.count - map.data.count
        let scan = try #require(Data(map.data).ranges(of: [0xFF, 0xDA]).last)
        damaged.replaceSubrange(start + scan.lowerBound..<start + scan.lowerBound + 4, with: [0xFF, 0xC8, 0, 2])
        for file in [damaged, Data(data.dropLast(20))] {
            let image = try coder.decode(file) { $0.decodeToHDR = true }
            #expect(!image.isHighDynamicRange && image.pixels.format == .rgba8)
        }
        #expect(try !coder.decode(data) { ($0.decodeToHDR, $0.keepsColorSpace) = (true, true) }.isHighDynamicRange)
    }
}
