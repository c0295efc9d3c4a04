import CKernels
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("JPEG, thumbnails from coefficients", .timeLimited)
struct JPEGThumbnailTests {
    typealias Files = JPEGThumbnailCoefficientsTests

    /// - Parameter isDirect: false decodes with libjpeg-turbo.
    private func thumbnail(
        _ data: Data, _ options: DecodeOptions, context: ProcessingContext = ProcessingContext(), isDirect: Bool = true
    ) throws(ImageError) -> Image {
        try data.withBytes { bytes throws(ImageError) in
            try JPEGDecoder(
                segments: JPEGSegments(bytes), options: options, context: context, shortestScan: isDirect ? 0 : nil
            ).run(bytes)
        }
    }

    private func box(_ side: Int) -> DecodeOptions {
        DecodeOptions(thumbnailSize: PixelSize(width: side, height: side))
    }

    /// Returns a thumbnail that libjpeg-turbo has no part in; `nil` if it would have.
    private func direct(
        _ data: Data, _ options: DecodeOptions, context: ProcessingContext = ProcessingContext()
    ) throws -> Image? {
        let bytes = Array(data)
        let segments = data.withUnsafeBytes { JPEGSegments($0) }
        var color: DecodedColor?
        return try JPEGThumbnail(segments: segments, options: options, context: context, shortestScan: 0)
            .decode(bytes.span, color: &color)
    }

    @Test(
        "A thumbnail is close to a Lanczos filter over the full picture, for every resolution of color",
        arguments: [
            (ChromaSubsampling.full, 110), (.full, 60), (.full, 300), (.half, 110), (.half, 80), (.half, 300),
            (.halfAcross, 70),
            (.halfAcross, 240),
        ])
    func quality(subsampling: ChromaSubsampling, side: Int) throws {
        let image = try RasterSamples.gradient(1_203, 899)
        for progressive in [false, true] {
            let data = try Files.file(image, quality: 0.95, subsampling, progressive: progressive)
            let small = try #require(try direct(data, box(side)))
            let full = try JPEGCoder().decode(data, options: DecodeOptions(), context: ProcessingContext())
            let size = PixelSize(width: 1_203, height: 899).scaled(into: PixelSize(width: side, height: side))
            #expect(small.size == size)
            #expect(RasterSamples.psnr(small.pixels, try full.pixels.resized(to: size)) > 50)
        }
    }

    @Test(
        "Detail is that of a Lanczos filter over the full picture, also where color needs most coefficients",
        arguments: [(ChromaSubsampling.full, 390), (.full, 300), (.half, 300), (.half, 220), (.halfAcross, 300)])
    func detail(subsampling: ChromaSubsampling, side: Int) throws {
        for progressive in [false, true] {
            let data = try Files.file(
                Files.picture(1_203, 899, noise: 60), quality: 0.95, subsampling, progressive: progressive)
            let small = try #require(try direct(data, box(side)))
            let full = try JPEGCoder().decode(data, options: DecodeOptions(), context: ProcessingContext())
            let reference = try full.pixels.resized(to: small.pixels.size)
            #expect(RasterSamples.psnr(small.pixels, reference) > 40)
        }
    }

    @Test("Gray pictures, stretched thumbnails, and thumbnails that cover a box are as with libjpeg-turbo")
    func shapes() throws {
        let gray = HandmadeJPEG(width: 320, height: 240, values: [90]).data
        #expect(try direct(gray, box(20))?.pixels[5, 5] == SIMD4(90, 90, 90, 255))
        let color = HandmadeJPEG(width: 320, height: 240, values: [90, 128, 128]).data
        #expect(try direct(color, box(20))?.pixels[5, 5] == SIMD4(90, 90, 90, 255))
        let data = try Files.file(RasterSamples.gradient(800, 600), quality: 0.95)
        var stretched = DecodeOptions(thumbnailSize: PixelSize(width: 20, height: 70))
        stretched.preservesAspectRatio = false
        var covering = box(50)
        covering.coversThumbnailSize = true
        for options in [stretched, covering] {
            let image = try #require(try direct(data, options))
            let other = try thumbnail(data, options, isDirect: false)
            #expect(image.size == other.size)
            #expect(RasterSamples.psnr(image.pixels, other.pixels) > 45)
        }
    }

    @Test("Thumbnails are upright", arguments: Orientation.allCases)
    func orientation(_ orientation: Orientation) throws {
        let data = try Files.file(RasterSamples.quarters(320, 480), quality: 0.95).addingSegment(
            0xE1, Array("Exif\0\0".utf8) + RasterSamples.exif(orientation.rawValue, littleEndian: true))
        let image = try #require(try direct(data, box(40)))
        #expect(RasterSamples.corners(image.pixels) == RasterSamples.upright[orientation])
        #expect(image.properties.sourceOrientation == orientation)
        let other = try thumbnail(data, box(40), isDirect: false)
        #expect(image.properties == other.properties && image.metadata.exif == other.metadata.exif)
    }

    @Test("A color profile is applied as with libjpeg-turbo")
    func profile() throws {
        var options = EncodeOptions(quality: 0.95)
        options.jpeg.subsampling = .half
        let picture = try RasterSamples.gradient(800, 600)
        let profile = try ProfileSamples.wide()
        let parts = Array("ICC_PROFILE\0".utf8) + [1, 1] + Array(profile)
        let data = try JPEGCoder().encode(picture, as: .jpeg, options: options).addingSegment(0xE2, parts)
        let image = try #require(try direct(data, box(50)))
        let other = try thumbnail(data, box(50), isDirect: false)
        #expect(image.properties == other.properties)
        #expect(RasterSamples.psnr(image.pixels, other.pixels) > 45)
    }

    @Test("Damaged files give the errors and the pixels of libjpeg-turbo", arguments: [false, true])
    func damage(progressive: Bool) throws {
        let file = try Files.file(Files.picture(400, 300, noise: 30), quality: 0.8, progressive: progressive)
        var generator = SeededRandom(seed: 11)
        var damaged: [Data] = [file.prefix(file.count / 2), file.prefix(file.count - 2), file.prefix(300)]
        for _ in 0..<12 {
            var data = file
            data[Int.random(in: 620..<data.count, using: &generator)] ^= 0x41
            damaged.append(data)
        }
        for data in damaged {
            for isPartial in [false, true] {
                var options = box(30)
                options.allowsPartialImage = isPartial
                guard try direct(data, options) == nil else { continue }
                let ours = Result { () throws(ImageError) in try thumbnail(data, options) }
                let theirs = Result { () throws(ImageError) in try thumbnail(data, options, isDirect: false) }
                switch (ours, theirs) {
                case (.success(let a), .success(let b)): #expect(a.pixels == b.pixels && a.properties == b.properties)
                case (.failure(let a), .failure(let b)): #expect(a.code == b.code && a.reason == b.reason)
                default: Issue.record("\(ours) instead of \(theirs)")
                }
            }
        }
    }

    @Test("What is rare, or needs more than is decoded here, is left to libjpeg-turbo")
    func leftOut() throws {
        let picture = try RasterSamples.gradient(400, 300)
        let data = try Files.file(picture, quality: 0.8)
        #expect(try direct(data, box(40)) != nil)
        #expect(try direct(data, box(200)) == nil)
        #expect(try direct(data, box(80)) != nil)
        // Chroma has half the resolution.
        #expect(try direct(data, box(110)) == nil)
        #expect(try direct(Files.file(picture, quality: 0.8, .full), box(110)) != nil)
        #expect(try direct(HandmadeJPEG(width: 320, height: 240, values: [9, 9, 9, 9]).data, box(20)) == nil)
        let progressive = try Files.file(picture, quality: 0.8, progressive: true)
        #expect(try direct(progressive, box(40)) != nil)
        #expect(try direct(progressive, box(110)) == nil)
        #expect(try direct(Files.file(picture, quality: 0.8, restartRows: 1, progressive: true), box(40)) == nil)
    }

    @Test(
        "Weights take no more memory than is reserved for them",
        arguments: [(4_000, 400), (65_500, 1), (65_500, 9_000), (700, 300), (9, 1), (65_500, 21_833)])
    func weights(source: Int, target: Int) {
        for format in [BlockFormat.narrow, .wide, .broad] {
            for isHalved in [false, true] {
                var axes = [CoefficientAxis(pixels: source, isHalved: isHalved, format: format)]
                CoefficientAxis.calculate(&axes, source: source, target: target)
                let (spans, across) = axes[0].horizontalWeights
                let places = axes[0].blocks.capacity * MemoryLayout<CoefficientAxis.Blocks>.stride
                let made = axes[0].weights.capacity * 32 + places
                let vertical = axes[0].verticalWeights.count * 2
                let horizontal = across.capacity * 4 + spans.capacity * MemoryLayout.stride(ofValue: spans[0])
                #expect(made + max(vertical, horizontal) <= CoefficientAxis.bytes(source: source, target: target))
            }
        }
    }

    @Test("Limits and cancellation end a thumbnail")
    func limits() throws {
        let data = try Files.file(RasterSamples.gradient(400, 300), quality: 0.8)
        var limits = DecodeLimits()
        limits.maximumPixels = 1_000
        #expect(throws: ImageError.self) { try direct(data, box(40), context: ProcessingContext(limits: limits)) }
        let cancelled = ProcessingContext(isCancelled: { true })
        #expect(throws: ImageError.self) { try direct(data, box(40), context: cancelled) }
    }

    @Test("Cancellation ends a thumbnail that is under way, at any time", arguments: [false, true])
    func cancellation(progressive: Bool) throws {
        let data = try Files.file(Files.picture(700, 500, noise: 40), quality: 0.9, progressive: progressive)
        /// Returns the number of looks, of which the last ended the decode if that is true.
        func decode(looks: Int) throws -> (looks: Int, isEnded: Bool) {
            let count = Lock(0)
            let context = ProcessingContext(isCancelled: {
                count.withLock { count in
                    count += 1
                    return count > looks
                }
            })
            do {
                let image = try direct(data, box(50), context: context)
                #expect(image != nil)
                return (count.withLock { $0 }, false)
            } catch let error as ImageError {
                #expect(error.isCancellation)
                return (count.withLock { $0 }, true)
            }
        }
        // A photograph takes 5 milliseconds for each megabyte, and a progressive file more, the most for the rows of its blocks.
        let all = try decode(looks: .max).looks
        #expect(all > data.count / 25_000 + (progressive ? 500 / 16 : 0), "\(all) looks at \(data.count) bytes")
        // The look that ends it is followed by another, for the error.
        var looks = 0
        while looks < all {
            let (made, isEnded) = try decode(looks: looks)
            #expect(isEnded && made <= looks + 2, "\(made) looks instead of \(looks)")
            looks += max(1, looks / 4)
        }
    }

    @Test("Thumbnails of very large reductions, and of narrow pictures, are decoded")
    func extremes() throws {
        for (width, height, side) in [(2_000, 9, 50), (7, 900, 20), (1_500, 1_500, 1), (1_500, 1_000, 3)] {
            let data = try Files.file(RasterSamples.gradient(width, height), quality: 0.9, .full)
            let image = try thumbnail(data, box(side))
            let full = try JPEGCoder().decode(data, options: DecodeOptions(), context: ProcessingContext())
            let other = try full.pixels.resized(to: image.size)
            #expect(RasterSamples.psnr(image.pixels, other) > 45, "\(width)x\(height)")
        }
    }

    @Test(
        "A thumbnail of bytes that arrive is that of the whole file, and previews are there on request",
        arguments: [false, true], [false, true])
    func arriving(showsPreviews: Bool, progressive: Bool) throws {
        let data = try Files.file(Files.picture(700, 500, noise: 40), quality: 0.9, progressive: progressive)
        let decoder = try JPEGCoder().progressiveDecoder(options: box(60), context: ProcessingContext())
        var previews = 0
        for start in stride(from: 0, to: data.count, by: 20_000) {
            try decoder.append(data[start..<min(data.count, start + 20_000)])
            if showsPreviews, try decoder.preview() != nil { previews += 1 }
        }
        let image = try decoder.finish()
        let whole = try JPEGCoder().decode(data, options: box(60), context: ProcessingContext())
        #expect(whole.pixels == (try direct(data, box(60))?.pixels))
        #expect(image.properties == whole.properties)
        #expect(image.pixels == whole.pixels)
        #expect(previews > 2 || !showsPreviews)
    }

    @Test("All versions of the kernels make the same pixels", arguments: [60, 110, 260])
    func versions(side: Int) throws {
        let data = Array(try Files.file(Files.picture(801, 603, noise: 30), quality: 0.9, .full))
        let frame = try ThumbnailFrame(data.span)
        let target = PixelSize(width: side, height: side * 3 / 4)
        let last = try #require(JPEGThumbnail.last(frame, target: target))
        var pictures: [PixelBuffer] = []
        for kernels in CoefficientResampler.kernels {
            let coding = try ScanCoding(frame, last: last)
            var reader = try ScanReader(frame, coding, byteCount: data.count, context: ProcessingContext())
            var resampler = try CoefficientResampler(
                frame, last: last, target: target, pool: .shared, kernels: kernels)
            while !reader.isAtEnd {
                try reader.next(data.span)
                for lane in reader.window.lanes { try resampler.add(lane, reader.records) }
            }
            pictures.append(resampler.finish())
        }
        #expect(pictures.allSatisfy { $0 == pictures[0] })
    }
}
