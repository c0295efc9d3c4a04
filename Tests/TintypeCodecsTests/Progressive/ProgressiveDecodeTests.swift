import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Progressive decoding", .timeLimited)
struct ProgressiveDecodeTests {
    let coders = FormatSample.coders

    @Test("At the end, no decoder waits for the memory that it has itself", arguments: Sample.allCases)
    func ownReservation(sample: Sample) throws {
        let data = try sample.data()
        var options = DecodeOptions()
        for (part, isDeep) in [(data, false), (data, true), (Data(data.prefix(data.count * 3 / 4)), false)] {
            options.decodeToHDR = isDeep
            options.allowsPartialImage = part.count < data.count
            // What is larger than a budget decodes while nothing else does.
            let context = ProcessingContext(budget: DecodeBudget(limit: ByteCount(1)))
            let decoder = try coders.progressiveDecoder(options: options, context: context)
            try decoder.append(Data(part.prefix(part.count / 2)))
            _ = try? decoder.preview()
            try decoder.append(Data(part.suffix(from: part.count / 2)))
            // A part may be an error.
            let image = try? decoder.finish()
            #expect(image != nil || part.count < data.count)
        }
    }

    /// One file of each kind whose decoders differ.
    enum Sample: String, CaseIterable, CustomTestStringConvertible {
        case baselineJPEG, progressiveJPEG, turnedJPEG, profiledJPEG, inks
        case png, interlacedPNG, translucentPNG, profiledPNG, apng
        case gif, stillGIF, interlacedGIF
        case webp, losslessWebP, profiledWebP, animatedWebP
        #if JXL
        case jxl, losslessJXL, translucentJXL, profiledJXL, animatedJXL
        #endif

        var testDescription: String { rawValue }

        // Arrays: a sanitizer would take bytes of `Data` that are kept for lost ones.
        private static let made = Lock<[Sample: [UInt8]]>([:])

        func data() throws -> Data {
            if let bytes = Self.made.withLock({ $0[self] }) { return Data(bytes) }
            let data = try make()
            Self.made.withLock { $0[self] = Array(data) }
            return data
        }

        private func make() throws -> Data {
            switch self {
            case .baselineJPEG: try encode(.jpeg)
            case .progressiveJPEG: try encode(.jpeg) { $0.progressive = true }
            case .turnedJPEG:
                try encode(.jpeg) { $0.progressive = true }
                    .addingSegment(0xE1, Array("Exif\0\0".utf8) + RasterSamples.exif(6, littleEndian: true))
            case .profiledJPEG: try encode(.jpeg, profiled: true)
            case .inks:
                HandmadeJPEG(
                    width: 40, height: 90, values: [200, 100, 50, 220], segments: [HandmadeJPEG.adobe(transform: 0)]
                ).data
            case .png: try encode(.png)
            case .interlacedPNG: try encode(.png) { $0.progressive = true }
            case .translucentPNG: try encode(.png, image: RasterSamples.translucent(90, 120))
            case .profiledPNG: try encode(.png, profiled: true) { $0.progressive = true }
            case .apng: try encode(.png, image: animation())
            case .gif: try encode(.gif, image: animation())
            case .stillGIF: try encode(.gif)
            case .interlacedGIF: FormatSample.interlacedGIF(PixelSize(width: 120, height: 160))
            case .webp: try encode(.webp)
            case .losslessWebP: try encode(.webp, image: RasterSamples.translucent(90, 120)) { $0.lossless = true }
            case .profiledWebP: try encode(.webp, profiled: true)
            case .animatedWebP: try encode(.webp, image: animation()) { $0.lossless = true }
            #if JXL
            case .jxl: try encode(.jxl)
            case .losslessJXL: try encode(.jxl) { $0.lossless = true }
            case .translucentJXL: try encode(.jxl, image: RasterSamples.translucent(90, 120)) { $0.lossless = true }
            case .profiledJXL: try encode(.jxl, profiled: true)
            case .animatedJXL: try encode(.jxl, image: animation()) { $0.lossless = true }
            #endif
            }
        }

        private func animation() throws -> Image {
            let frames = try (0..<4).map { index in
                ImageFrame(
                    pixels: try RasterSamples.pixels(60, 80) { x, y in
                        (x * 7 + y * 3) % 5 == index ? RasterSamples.blue : RasterSamples.red
                    }, duration: .milliseconds(40 + index * 10))
            }
            return try #require(Image(frames: frames).map { $0.with { $0.loopCount = 3 } })
        }

        private func encode(
            _ format: ImageFormat, image: Image? = nil, profiled: Bool = false,
            _ change: (inout EncodeOptions) -> Void = { _ in }
        ) throws -> Data {
            var generator = SeededRandom(seed: 3)
            let noisy = try RasterSamples.image(120, 160) { x, y in
                SIMD4(UInt8(x * 2), UInt8(y), UInt8.random(in: 0...255, using: &generator), 255)
            }
            var options = EncodeOptions()
            change(&options)
            let profile = try ProfileSamples.wide()
            let source = (image ?? noisy).with {
                if profiled { $0.colorSpace = ColorSpace(name: "wide", profile: profile) }
            }
            return try FormatSample.coders
                .encode(source, as: format, options: options)
        }
    }

    static let variants: [DecodeOptions] = {
        var stretched = DecodeOptions(thumbnailSize: PixelSize(width: 31, height: 17))
        stretched.preservesAspectRatio = false
        var first = DecodeOptions(thumbnailSize: PixelSize(width: 25, height: 25))
        first.firstFrameOnly = true
        first.prefersFastThumbnail = true
        var kept = DecodeOptions()
        kept.keepsColorSpace = true
        return [DecodeOptions(), stretched, first, kept]
    }()

    /// Feeds a file in chunks and gives the previews after each, and the end.
    private func feed(
        _ data: Data, _ options: DecodeOptions, chunk: Int, coder: any ProgressiveImageCoder
    ) throws -> (previews: [Image], final: Image) {
        let decoder = try coder.progressiveDecoder(options: options, context: ProcessingContext())
        var previews: [Image] = []
        for start in stride(from: 0, to: data.count, by: chunk) {
            // A slice, so that nobody counts on an index of zero.
            try decoder.append(data[start..<min(start + chunk, data.count)])
            if let preview = try decoder.preview() { previews.append(preview) }
            #expect(try decoder.preview() == nil, "nothing has come since")
        }
        return (previews, try decoder.finish())
    }

    @Test("The final image is what decoding the whole gives, for any chunks", arguments: Sample.allCases, variants)
    func identical(sample: Sample, options: DecodeOptions) throws {
        let data = try sample.data()
        let whole = try coders.decode(data, options: options, context: ProcessingContext())
        for chunk in [data.count / 12 + 1, 997, 1 << 20] {
            let final = try feed(data, options, chunk: chunk, coder: coders).final
            #expect(final.frames == whole.frames, "chunks of \(chunk)")
            #expect(final.properties == whole.properties, "chunks of \(chunk)")
        }
    }

    @Test("Byte by byte", arguments: Sample.allCases)
    func bytes(sample: Sample) throws {
        let data = try sample.data()
        let decoder = try coders.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        for byte in data { try decoder.append(Data([byte])) }
        let whole = try coders.decode(data, options: DecodeOptions(), context: ProcessingContext())
        #expect(try decoder.finish().frames == whole.frames)
    }

    @Test(
        "Previews come early, are marked, and have the size, orientation and color space of the end",
        .capability("3.15"),
        arguments: Sample.allCases, variants)
    func previews(sample: Sample, options: DecodeOptions) throws {
        let data = try sample.data()
        let (previews, final) = try feed(data, options, chunk: data.count / 12 + 1, coder: coders)
        #expect(!previews.isEmpty)
        for preview in previews {
            #expect(preview.isPartial && preview.size == final.size && preview.colorSpace == final.colorSpace)
            #expect(preview.properties.sourceOrientation == final.properties.sourceOrientation)
            #expect(preview.properties.sourceSize == final.properties.sourceSize)
            #expect(preview.format == final.format && preview.properties.decodeOptions == options)
        }
    }

    @Test(
        "Under a limit of bytes, which frames share, previews have the size of the end, or there are none",
        .capability("3.15"), arguments: Sample.allCases, [false, true])
    func limitOfBytes(sample: Sample, firstFrameOnly: Bool) throws {
        let data = try sample.data()
        var options = DecodeOptions(maximumBytes: ByteCount(8_000), firstFrameOnly: firstFrameOnly)
        let whole = try coders.decode(data, options: options, context: ProcessingContext())
        #expect(whole.size.pixelCount <= 2_000)
        let (previews, final) = try feed(data, options, chunk: data.count / 12 + 1, coder: coders)
        #expect(previews.allSatisfy { $0.size == final.size } && final.frames == whole.frames)
        // Of a GIF, even the end may bring another frame.
        let mayMove = !firstFrameOnly && (Self.growing + [.stillGIF, .interlacedGIF]).contains(sample)
        #expect(previews.isEmpty == mayMove)
        options.maximumBytes = nil
        #expect(try !feed(data, options, chunk: data.count / 12 + 1, coder: coders).previews.isEmpty)
    }

    @Test(
        "What is there of a picture is what it will be",
        arguments: [Sample.baselineJPEG, .png, .translucentPNG, .webp, .stillGIF])
    func rows(sample: Sample) throws {
        let data = try sample.data()
        let (previews, final) = try feed(data, DecodeOptions(), chunk: data.count / 8 + 1, coder: coders)
        #expect(previews.count >= 3)
        var rows = 0
        for preview in previews {
            let equal = (0..<final.size.height).prefix { y in
                preview.pixels.withRow(y) { a in final.pixels.withRow(y) { b in a.elementsEqual(b) } }
            }
            // Behind the last row that is there, all is transparent, and said to be.
            let isBlank = (equal.count..<final.size.height).allSatisfy { y in
                preview.pixels.withRow(y) { $0.allSatisfy { $0 == 0 } }
            }
            #expect(isBlank && equal.count >= rows)
            #expect(preview.hasAlpha || equal.count == final.size.height)
            rows = equal.count
        }
    }

    @Test(
        "Each scan of a progressive JPEG and each pass of an interlaced PNG or GIF comes nearer",
        arguments: [
            Sample.progressiveJPEG, .interlacedPNG, .interlacedGIF,
        ])
    func refinement(sample: Sample) throws {
        let data = try sample.data()
        let (previews, final) = try feed(data, DecodeOptions(), chunk: data.count / 30 + 1, coder: coders)
        #expect(previews.count >= 4)
        let quality = previews.map { RasterSamples.psnr($0.pixels, final.pixels) }
        #expect(quality.first! < quality.last!)
        // All of the picture is there long before all of its bytes are.
        let middle = previews[previews.count / 2]
        #expect(!middle.hasAlpha)
        #expect((0..<middle.size.height).allSatisfy { middle.pixels[middle.size.width / 2, $0].w == 255 })
    }

    private static let growing: [Sample] = {
        #if JXL
        [.apng, .gif, .animatedWebP, .animatedJXL]
        #else
        [.apng, .gif, .animatedWebP]
        #endif
    }()

    @Test(
        "Of an animation the first frame comes as soon as it is whole, and it may move", .capability("D5"),
        arguments: growing)
    func firstFrame(sample: Sample) throws {
        let data = try sample.data()
        let (previews, final) = try feed(data, DecodeOptions(), chunk: data.count / 40 + 1, coder: coders)
        let whole = try #require(previews.firstIndex { $0.pixels == final.pixels })
        #expect(whole == previews.count - 1 && previews[whole].properties.mayMove && !previews[whole].isAnimated)
        #expect(final.frames.count >= 3 && final.loopCount == 3 && !final.isPartial)
    }

    @Test(
        "Of a file that is cut, the end is what decoding says: an error, or the partial image",
        arguments: Sample.allCases)
    func cut(sample: Sample) throws {
        let data = try sample.data()
        for tenths in [1, 4, 8] {
            let part = data.prefix(data.count * tenths / 10)
            for isAllowed in [false, true] {
                var options = DecodeOptions()
                options.allowsPartialImage = isAllowed
                let whole = Result { try coders.decode(part, options: options, context: ProcessingContext()) }
                let fed = Result { try feed(part, options, chunk: 500, coder: coders).final }
                switch (whole, fed) {
                case (.success(let whole), .success(let fed)):
                    #expect(fed.pixels == whole.pixels && fed.isPartial == whole.isPartial, "\(tenths) tenths")
                    #expect(fed.animation == whole.animation, "\(tenths) tenths")
                case (.failure(let whole), .failure(let fed)):
                    #expect((whole as? ImageError)?.code == (fed as? ImageError)?.code, "\(tenths) tenths")
                default: Issue.record("\(tenths) tenths: \(whole) but \(fed)")
                }
            }
        }
    }

    @Test("Limits are kept before memory is taken", arguments: Sample.allCases)
    func limits(sample: Sample) throws {
        let pool = PixelBufferPool(limit: 0)
        var context = ProcessingContext(pool: pool)
        context.limits.maximumPixels = 99
        let decoder = try coders.progressiveDecoder(options: DecodeOptions(), context: context)
        try decoder.append(sample.data())
        #expect(try decoder.preview() == nil)
        expectCode(.limitExceeded) { try decoder.finish() }
        #expect(pool.statistics.allocated == 0)
    }

    @Test("Cancellation ends the work")
    func cancellation() throws {
        let data = try Sample.progressiveJPEG.data()
        let context = ProcessingContext(isCancelled: { true })
        let decoder = try coders.progressiveDecoder(options: DecodeOptions(), context: context)
        expectCode(.cancelled) {
            try decoder.append(data)
            return try decoder.finish()
        }
    }

    @Test("Damaged bytes never crash, and end as decoding the whole does", arguments: Sample.allCases)
    func damage(sample: Sample) throws {
        let data = try sample.data()
        var generator = SeededRandom(seed: 11)
        var options = DecodeOptions()
        var context = ProcessingContext()
        context.limits.maximumPixels = 1 << 20
        for round in 0..<18 {
            let damaged = data.damaged(3, using: &generator)
            options.allowsPartialImage = round % 2 == 0
            options.thumbnailSize = round % 3 == 0 ? PixelSize(width: 9, height: 9) : nil
            let whole = Result { try coders.decode(damaged, options: options, context: context) }
            let decoder = try coders.progressiveDecoder(options: options, context: context)
            for start in stride(from: 0, to: damaged.count, by: 1_500) {
                try decoder.append(damaged[start..<min(start + 1_500, damaged.count)])
                _ = try decoder.preview()
            }
            let fed = Result { try decoder.finish() }
            // Whether there is an image, and each pixel of it, is the same however the bytes came.
            #expect((try? whole.get())?.pixels == (try? fed.get())?.pixels, "round \(round)")
        }
    }

    @Test(
        "A JPEG that libjpeg can't decode as it arrives is decoded at the end",
        arguments: [1, 64, 5_000])
    func arithmetic(chunk: Int) throws {
        var data = try JPEGCoder().encode(RasterSamples.gradient(60, 40), as: .jpeg, options: EncodeOptions())
        // Its bits make no sense as arithmetic coding, which libjpeg takes for damage that it can show.
        let frame = try #require(data.firstRange(of: [0xFF, 0xC0]))
        data[frame.lowerBound + 1] = 0xC9
        var options = DecodeOptions()
        options.allowsPartialImage = true
        let whole = try JPEGCoder().decode(data, options: options, context: ProcessingContext())
        let decoder = try JPEGCoder().progressiveDecoder(options: options, context: ProcessingContext())
        for start in stride(from: 0, to: data.count, by: chunk) {
            try decoder.append(data[start..<min(start + chunk, data.count)])
            _ = try decoder.preview()
        }
        #expect(try decoder.finish().pixels == whole.pixels)
    }

    @Test("A format whose coder is not progressive has no previews, and the image all the same", .capability("DLR-29"))
    func others() throws {
        let coders = ImageCoders([BMPCoder(), PNGCoder()])
        let data = try BMPCoder().encode(RasterSamples.quarters(20, 20), as: .bmp, options: EncodeOptions())
        let (previews, final) = try feed(data, DecodeOptions(), chunk: 100, coder: coders)
        #expect(previews.isEmpty)
        #expect(try final.pixels == RasterSamples.quarters(20, 20).pixels)
        let decoder = try coders.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        try decoder.append(Data(repeating: 7, count: 9_000))
        expectCode(.unknownFormat) { try decoder.finish() }
    }
}
