#if AVIF || HEIF || JXL || TIFF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Depth and high dynamic range of the coders of traits", .timeLimited)
struct DeepTraitTests {
    private func decode(
        _ coder: some ImageCoder, _ data: Data, _ change: (inout DecodeOptions) -> Void = { _ in }
    ) throws -> Image {
        try coder.decode(data) {
            $0.decodeToHDR = true
            change(&$0)
        }
    }

    private func encode(
        _ coder: some ImageCoder, _ image: Image, as format: ImageFormat, lossless: Bool = true,
        hdr: EncodeOptions.HDREncoding = .none
    ) throws -> Data {
        var options = EncodeOptions(quality: 0.95)
        options.lossless = lossless
        options.encodeToHDR = hdr
        return try coder.encode(image, as: format, options: options)
    }

    /// What every coder must do with its own file of a deep picture.
    private func expectDepth(_ coder: some ImageCoder, _ data: Data, bits: Int) throws {
        let info = try coder.info(data)
        #expect(info.bitsPerComponent == bits && !info.isHighDynamicRange)
        let deep = try decode(coder, data)
        #expect(deep.pixels.format == .rgba16 && !deep.isHighDynamicRange && deep.properties.bitsPerComponent == bits)
        let shallow = try coder.decode(data)
        #expect(shallow.pixels.format == .rgba8)
        #expect(DeepSamples.difference(deep.pixels, shallow.pixels) < 1.6 / 255)
        let box = PixelSize(width: deep.size.width / 3, height: deep.size.height / 3)
        let small = try decode(coder, data) { $0.thumbnailSize = box }
        #expect(small.pixels.format == .rgba16 && small.size == deep.size.scaled(into: box))
        #expect(DeepSamples.difference(small.pixels, try deep.pixels.resized(to: small.size)) < 0.002)
        var context = ProcessingContext()
        context.limits.maximumBytes = .bytes(deep.size.pixelCount * 8 - 1)
        var options = DecodeOptions()
        options.decodeToHDR = true
        expectCode(.limitExceeded) { try coder.decode(data, options: options, context: context) }
    }

    /// COD-54: a file of high dynamic range is decoded to it on demand, and else tone-mapped.
    private func expectRange(_ coder: some ImageCoder, _ data: Data, source: Image, tolerance: Float) throws {
        let info = try coder.info(data)
        #expect(info.isHighDynamicRange && info.bitsPerComponent > 8)
        let bright = try decode(coder, data)
        #expect(bright.pixels.format == .rgbaFloat16 && bright.isHighDynamicRange)
        #expect(bright.colorSpace == .extendedSRGB && bright.properties.bitsPerComponent > 8)
        #expect(DeepSamples.difference(bright.pixels, source.pixels) < tolerance)
        let standard = try coder.decode(data)
        #expect(standard.pixels.format == .rgba8 && !standard.isHighDynamicRange && standard.colorSpace == .sRGB)
        let mapped = try DepthReduction.reduce(bright, to: [], EncodeOptions())
        #expect(DeepSamples.difference(mapped.pixels, standard.pixels) <= 2.01 / 255)
        let kept = try decode(coder, data) { $0.keepsColorSpace = true }
        #expect(kept.pixels.format == .rgba16 && kept.isHighDynamicRange && kept.colorSpace.name == "BT.2020 PQ")
        let small = try decode(coder, data) { $0.thumbnailSize = PixelSize(width: 20, height: 20) }
        #expect(small.pixels.format == .rgbaFloat16 && small.isThumbnail)
    }

    #if TIFF
    @Test("TIFF of 16 bits comes back exactly", .capability("COD-50"), arguments: [false, true])
    func tiff(hasAlpha: Bool) throws {
        let image = try DeepSamples.noise(67, 41, hasAlpha: hasAlpha, seed: 21)
        let data = try encode(TIFFCoder(), image, as: .tiff)
        let decoded = try decode(TIFFCoder(), data)
        #expect(decoded.pixels == image.pixels && decoded.hasAlpha == hasAlpha)
        try expectDepth(TIFFCoder(), try encode(TIFFCoder(), try DeepSamples.gradient(60, 40), as: .tiff), bits: 16)
        try DeepCoder(coder: TIFFCoder()).survives(damageTo: data, cases: 150, seed: 72)
    }
    #endif

    #if AVIF
    @Test("AVIF of 10 and 12 bits comes back exactly without loss", arguments: [10, 12], [false, true])
    func avif(bits: Int, hasAlpha: Bool) throws {
        let image = try DeepSamples.noise(50, 140, bits: bits, hasAlpha: false, seed: 22)
        let data = try encode(AVIFCoder(), image, as: .avif)
        #expect(try decode(AVIFCoder(), data).pixels == image.pixels)
        if hasAlpha {
            let translucent = try DeepSamples.noise(50, 140, bits: bits, hasAlpha: true, seed: 23)
            let decoded = try decode(AVIFCoder(), try encode(AVIFCoder(), translucent, as: .avif))
            // Colour that was rounded under little alpha has fewer bits: it is off by up to a step of it.
            #expect(decoded.hasAlpha)
            #expect(DeepSamples.difference(decoded.pixels, translucent.pixels) < 1 / Float(1 << bits))
        }
        let gradient = try DeepSamples.gradient(60, 40, bits: bits)
        try expectDepth(AVIFCoder(), try encode(AVIFCoder(), gradient, as: .avif), bits: bits)
        try DeepCoder(coder: AVIFCoder()).survives(damageTo: data, cases: 100, seed: 73)
    }

    @Test("AVIF of high dynamic range", .capability("COD-20", "COD-54", "MET-10"), arguments: [false, true])
    func avifRange(lossless: Bool) throws {
        let image = try DeepSamples.ramp(64, 40)
        let data = try encode(AVIFCoder(), image, as: .avif, lossless: lossless, hdr: .isoHDR)
        try expectRange(AVIFCoder(), data, source: image, tolerance: lossless ? 0.02 : 0.1)
        // Without the option the file is of standard range, and has 10 bits all the same.
        let standard = try encode(AVIFCoder(), image, as: .avif)
        let info = try AVIFCoder().info(standard)
        #expect(!info.isHighDynamicRange && info.bitsPerComponent == 10)
    }
    #endif

    #if JXL
    @Test("JPEG XL of 16 bits comes back exactly without loss", arguments: [false, true])
    func jxl(hasAlpha: Bool) throws {
        let image = try DeepSamples.noise(67, 41, hasAlpha: hasAlpha, seed: 24)
        let data = try encode(JXLCoder(), image, as: .jxl)
        #expect(try decode(JXLCoder(), data).pixels == image.pixels)
        let gradient = try DeepSamples.gradient(60, 40)
        try expectDepth(JXLCoder(), try encode(JXLCoder(), gradient, as: .jxl, lossless: false), bits: 16)
        try DeepCoder(coder: JXLCoder()).survives(damageTo: data, cases: 100, seed: 74)
    }

    @Test("JPEG XL of half-precision numbers comes back exactly without loss, above white too")
    func jxlHalf() throws {
        let image = try DeepSamples.bright(30, 20, bits: 16) { x, y in
            SIMD4(Float(x) / 10, Float(y) / 20, 0.333, 1)
        }.with { $0.isHighDynamicRange = false }
        let data = try encode(JXLCoder(), image, as: .jxl)
        let decoded = try decode(JXLCoder(), data)
        #expect(decoded.pixels == image.pixels && decoded.colorSpace == .extendedSRGB && !decoded.isHighDynamicRange)
        #expect(try JXLCoder().decode(data).pixels.format == .rgba8)
        let small = try decode(JXLCoder(), data) { $0.thumbnailSize = PixelSize(width: 10, height: 10) }
        #expect(small.pixels.format == .rgbaFloat16)
        try DeepCoder(coder: JXLCoder()).survives(damageTo: data, cases: 100, seed: 75)
    }

    @Test(
        "A JPEG XL that arrives has the depth of the image", .capability("COD-02", "COD-18"), arguments: [false, true])
    func jxlProgressive(isBright: Bool) throws {
        let image = try isBright ? DeepSamples.ramp(700, 500) : DeepSamples.gradient(700, 500)
        let data = try encode(JXLCoder(), image, as: .jxl, lossless: false, hdr: .isoHDR)
        let whole = try decode(JXLCoder(), data)
        var options = DecodeOptions()
        options.decodeToHDR = true
        let decoder = try JXLCoder().progressiveDecoder(options: options, context: ProcessingContext())
        var previews = 0
        for start in stride(from: 0, to: data.count, by: data.count / 10 + 1) {
            try decoder.append(data[start..<min(start + data.count / 10 + 1, data.count)])
            guard let preview = try decoder.preview() else { continue }
            previews += 1
            #expect(preview.pixels.format == whole.pixels.format && preview.colorSpace == whole.colorSpace)
            #expect(preview.size == whole.size && preview.isHighDynamicRange == isBright)
        }
        #expect(previews > 1)
        let finished = try decoder.finish()
        #expect(finished.frames == whole.frames && finished.properties == whole.properties)
        // Also at a size that its number of bytes decides.
        options.maximumBytes = 100_000
        let small = try JXLCoder().progressiveDecoder(options: options, context: ProcessingContext())
        try small.append(data)
        _ = try small.preview()
        let reference = try JXLCoder().decode(data, options: options, context: ProcessingContext())
        #expect(reference.size.pixelCount * 8 <= 100_000)
        #expect(try small.finish().frames == reference.frames)
    }

    @Test("JPEG XL of high dynamic range", .capability("COD-20", "COD-54", "MET-10"), arguments: [false, true])
    func jxlRange(lossless: Bool) throws {
        let image = try DeepSamples.ramp(64, 40)
        let data = try encode(JXLCoder(), image, as: .jxl, lossless: lossless, hdr: .isoHDR)
        try expectRange(JXLCoder(), data, source: image, tolerance: lossless ? 0.003 : 0.1)
        #expect(!(try JXLCoder().info(encode(JXLCoder(), image, as: .jxl)).isHighDynamicRange))
    }
    #endif

    #if HEIF
    @Test("HEIC of 10 bits is close, also in odd sizes, which are cropped")
    func heic() throws {
        let image = try DeepSamples.gradient(67, 41, bits: 10)
        let data = try encode(HEIFCoder(), image, as: .heic)
        let decoded = try decode(HEIFCoder(), data)
        #expect(decoded.size == image.size && decoded.pixels.format == .rgba16)
        #expect(decoded.properties.bitsPerComponent == 10)
        #expect(DeepSamples.difference(decoded.pixels, image.pixels) < 0.01)
        try expectDepth(HEIFCoder(), data, bits: 10)
    }

    @Test("HEIC of high dynamic range", .capability("COD-20", "COD-54"))
    func heicRange() throws {
        let image = try DeepSamples.ramp(64, 40)
        let data = try encode(HEIFCoder(), image, as: .heic, hdr: .isoHDR)
        try expectRange(HEIFCoder(), data, source: image, tolerance: 0.1)
    }

    @Test(
        "A thumbnail of a HEIC of high dynamic range is made of the image: libheif states other colors for its own",
        .capability("COD-20", "COD-26"))
    func heicThumbnail() throws {
        var options = EncodeOptions(quality: 0.95)
        options.encodeToHDR = .isoHDR
        options.embedsThumbnail = true
        let image = try DeepSamples.ramp(640, 400)
        let data = try HEIFCoder().encode(image, as: .heic, options: options)
        let plain = try encode(HEIFCoder(), image, as: .heic, lossless: false, hdr: .isoHDR)
        #expect(data.count > plain.count)
        let box = PixelSize(width: 160, height: 160)
        let small = try decode(HEIFCoder(), data) { $0.thumbnailSize = box }
        #expect(small.pixels.format == .rgbaFloat16 && small.isHighDynamicRange)
        let reference = try decode(HEIFCoder(), plain) { $0.thumbnailSize = box }
        #expect(small.pixels == reference.pixels, "the embedded thumbnail was used")
    }
    #endif
}
#endif
