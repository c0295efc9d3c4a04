import FoundationEssentials
import TestSupport
import Testing
import TintypeCodecs
import TintypeImages
import TintypeTesting

@Suite("GIF: decoding", .timeLimited)
struct GIFCoderTests {
    let coder = GIFCoder()

    /// Two frames: all red, then one green pixel at (1, 0).
    func twoFrames(
        disposal: Int = 0, second: Int = 0, loop: Int? = nil, delay: Int? = nil, third: Bool = false
    ) -> TestGIF {
        var gif = TestGIF(2, 2)
        if let loop { gif.loop(loop) }
        gif.frame((0, 0, 2, 2), [0, 0, 0, 0], delay: delay, disposal: disposal)
        gif.frame((1, 0, 1, 1), [1], delay: delay, disposal: second)
        if third { gif.frame((0, 1, 1, 1), [2], delay: delay) }
        return gif
    }

    func rows(_ pixels: PixelBuffer) -> [[SIMD4<UInt8>]] {
        (0..<pixels.height).map { y in (0..<pixels.width).map { pixels[$0, y] } }
    }

    @Test("A still picture has its colors, one frame and no loop count")
    func still() throws {
        var gif = TestGIF(2, 2)
        gif.frame((0, 0, 2, 2), [0, 1, 2, 0])
        let image = try coder.decode(gif.data)
        #expect(rows(image.pixels) == [[red, green], [blue, red]])
        #expect(image.frames.count == 1 && image.loopCount == 0 && image.frames[0].duration == .zero)
        #expect(image.format == .gif && !image.hasAlpha && !image.isPartial)
        #expect(image.properties.sourceSize == PixelSize(width: 2, height: 2))
        let info = try coder.info(gif.data)
        #expect(info.loopCount == nil && info.frameDurations.isEmpty && info.isComplete && !info.hasAlpha)
    }

    @Test(
        "Disposal 0 and 1 leave the frame, 2 makes its area transparent, 3 brings back what was before",
        .capability("COD-44"))
    func disposal() throws {
        for keep in [0, 1] {
            let image = try coder.decode(twoFrames(second: keep, third: true).data)
            #expect(rows(image.frames[1].pixels) == [[red, green], [red, red]])
            #expect(rows(image.frames[2].pixels) == [[red, green], [blue, red]])
        }
        let cleared = try coder.decode(twoFrames(second: 2, third: true).data)
        #expect(rows(cleared.frames[2].pixels) == [[red, clear], [blue, red]])
        #expect(cleared.hasAlpha)
        let restored = try coder.decode(twoFrames(second: 3, third: true).data)
        #expect(rows(restored.frames[2].pixels) == [[red, red], [blue, red]])
        #expect(!restored.hasAlpha)
    }

    @Test("Disposal of the first frame to what was before leaves an empty canvas")
    func restoreToNothing() throws {
        let image = try coder.decode(twoFrames(disposal: 3).data)
        #expect(rows(image.frames[1].pixels) == [[clear, green], [clear, clear]])
        #expect(image.hasAlpha)
    }

    @Test("Alpha is stated where an area that was cleared shows in a later frame than the next")
    func clearedBehindAnother() throws {
        // A part is cleared; a frame over all of it goes back to what was before; the gap is then seen.
        var gif = TestGIF(2, 1)
        gif.frame((0, 0, 2, 1), [0, 0])
        gif.frame((0, 0, 1, 1), [1], disposal: 2)
        gif.frame((0, 0, 2, 1), [2, 2], disposal: 3)
        gif.frame((1, 0, 1, 1), [1])
        let image = try coder.decode(gif.data)
        #expect(rows(image.frames[3].pixels) == [[clear, green]])
        #expect(try image.hasAlpha && coder.info(gif.data).hasAlpha)
        // An area that is cleared and drawn over again is never seen through.
        var closed = TestGIF(2, 1)
        closed.frame((0, 0, 2, 1), [0, 0])
        closed.frame((0, 0, 1, 1), [1], disposal: 2)
        closed.frame((0, 0, 1, 1), [2], disposal: 2)
        #expect(try !coder.decode(closed.data).hasAlpha)
    }

    @Test("The transparent index shows what is below")
    func transparency() throws {
        var gif = TestGIF(2, 1)
        gif.frame((0, 0, 2, 1), [0, 3], transparent: 3)
        gif.frame((0, 0, 2, 1), [3, 2], transparent: 3)
        let image = try coder.decode(gif.data)
        #expect(rows(image.frames[0].pixels) == [[red, clear]])
        #expect(rows(image.frames[1].pixels) == [[red, blue]])
        #expect(image.hasAlpha)
    }

    @Test("Interlaced rows stand in their places", arguments: [1, 2, 3, 4, 5, 8, 9, 17])
    func interlace(height: Int) throws {
        let order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: height, by: $1)) }
        var gif = TestGIF(1, height)
        gif.frame((0, 0, 1, height), order.map { UInt8($0 % 3) }, interlaced: true)
        let pixels = try coder.decode(gif.data).pixels
        #expect((0..<height).map { pixels[0, $0] } == (0..<height).map { [red, green, blue][$0 % 3] })
    }

    @Test("A frame's own palette goes before the global one; without any, all is black")
    func palettes() throws {
        var own = TestGIF(1, 1)
        own.frame((0, 0, 1, 1), [0], palette: [0, 255, 0, 0, 0, 0])
        #expect(try coder.decode(own.data).pixels[0, 0] == green)
        var none = TestGIF(1, 1, palette: nil)
        none.frame((0, 0, 1, 1), [7])
        #expect(try coder.decode(none.data).pixels[0, 0] == [0, 0, 0, 255])
    }

    @Test("What lies beyond the logical screen is cut off after the first frame")
    func offScreen() throws {
        var gif = TestGIF(2, 2)
        gif.frame((1, 1, 1, 1), [0])
        gif.frame((9, 9, 1, 1), [1])
        let frames = try coder.decode(gif.data).frames
        #expect(rows(frames[0].pixels) == [[clear, clear], [clear, red]])
        #expect(frames[1].pixels === frames[0].pixels)
    }

    @Test("A logical screen that is smaller than the first frame is enlarged", arguments: [0, 1])
    func smallScreen(side: Int) throws {
        var gif = TestGIF(side, side)
        gif.frame((0, 0, 2, 1), [0, 1])
        #expect(rows(try coder.decode(gif.data).pixels) == [[red, green]])
        #expect(try coder.info(gif.data).size == PixelSize(width: 2, height: 1))
        var moved = TestGIF(side, side)
        moved.frame((1, 0, 1, 2), [0, 1])
        #expect(rows(try coder.decode(moved.data).pixels) == [[clear, red], [clear, green]])
    }

    @Test(
        "A GIF without a loop extension plays once, 0 is for ever, n repeats it n times",
        .capability("COD-41", "MET-01"))
    func loops() throws {
        #expect(try coder.decode(twoFrames().data).loopCount == 1)
        for count in [0, 1, 2, 65_535] {
            let data = twoFrames(loop: count).data
            let plays = count == 0 ? 0 : count + 1
            #expect(try coder.decode(data).loopCount == plays)
            #expect(try coder.info(data).loopCount == plays)
        }
        var other = TestGIF(1, 1)
        other.loop(5, name: "ANIMEXTS1.0")
        other.frame((0, 0, 1, 1), [0])
        other.frame((0, 0, 1, 1), [1])
        #expect(try coder.decode(other.data).loopCount == 6)
    }

    @Test("Delays under 11 ms are shown for 100 ms", .capability("COD-43"))
    func delays() throws {
        for (stated, played) in [(nil, 100), (0, 100), (1, 100), (2, 20), (10, 100), (65_535, 655_350)] as [(Int?, Int)]
        {
            let data = twoFrames(delay: stated).data
            #expect(try coder.decode(data).frames.map(\.duration) == [.milliseconds(played), .milliseconds(played)])
            #expect(try coder.info(data).frameDurations == [.milliseconds(played), .milliseconds(played)])
        }
    }

    @Test("Frames that show the same share a buffer", .capability("3.5"))
    func sharing() throws {
        var gif = TestGIF(2, 2)
        for _ in 0..<3 { gif.frame((0, 0, 2, 2), [0, 1, 2, 0]) }
        let frames = try coder.decode(gif.data).frames
        #expect(frames.count == 3 && frames.allSatisfy { $0.pixels === frames[0].pixels })
    }

    @Test("All frames of a thumbnail have the size that was asked for", .capability("COD-12", "COD-13", "CTX-11"))
    func thumbnails() throws {
        var gif = TestGIF(40, 20)
        gif.frame((0, 0, 40, 20), [UInt8](repeating: 0, count: 800))
        gif.frame((0, 0, 3, 3), [UInt8](repeating: 1, count: 9))
        let image = try coder.decode(gif.data) { $0.thumbnailSize = PixelSize(width: 10, height: 10) }
        #expect(image.frames.map(\.pixels.size) == [PixelSize](repeating: PixelSize(width: 10, height: 5), count: 2))
        #expect(image.isThumbnail && image.properties.sourceSize == PixelSize(width: 40, height: 20))
        let stretched = try coder.decode(gif.data) {
            $0.thumbnailSize = PixelSize(width: 10, height: 10)
            $0.preservesAspectRatio = false
        }
        #expect(stretched.size == PixelSize(width: 10, height: 10))
    }

    @Test("Only the first frame is decoded if no more is wanted", .capability("COD-10"))
    func firstFrame() throws {
        let image = try coder.decode(twoFrames(loop: 3).data) { $0.firstFrameOnly = true }
        #expect(image.frames.count == 1 && image.loopCount == 0 && image.pixels[1, 0] == red)
    }

    @Test(
        "Frames on demand are those of the whole decode, and again after going back",
        .capability("COD-03", "COD-04", "3.5"))
    func onDemand() throws {
        let data = twoFrames(second: 2, loop: 0, third: true).data
        let all = try coder.decode(data)
        let decoder = try coder.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext())
        #expect(decoder.info.frameCount == 3 && decoder.outputSize == all.size)
        for _ in 0..<2 {
            var frames: [ImageFrame] = []
            while let frame = try decoder.nextFrame() { frames.append(frame) }
            #expect(frames == all.frames)
            try decoder.rewind()
        }
    }

    @Test("A file cut anywhere is truncated, or a partial image where that is allowed", .capability("3.8"))
    func truncation() throws {
        let gif = twoFrames(loop: 0, third: true)
        let whole = gif.unfinished
        let frames = try coder.decode(gif.data).frames
        // The places of the bytes that say that a frame begins.
        let starts = whole.indices.filter { whole[$0] == 0x2C && $0 > 40 }
        #expect(starts.count == 3)
        for count in 13..<whole.count {
            let cut = whole.prefix(count)
            let ends = [0] + Array(starts.dropFirst()) + [whole.count]
            // Behind the last pixel of a frame there are an end code and a terminator, and nothing says that more is to come.
            if let last = ends.firstIndex(where: { count <= $0 && count >= $0 - 2 }) {
                let image = try coder.decode(cut)
                #expect(
                    !image.isPartial && image.frames.map(\.pixels) == frames.prefix(last).map(\.pixels),
                    "\(count) bytes")
                continue
            }
            #expect { try coder.decode(cut) } throws: { ($0 as? ImageError)?.code == .truncatedImage }
            guard let image = try? coder.decode(cut, { $0.allowsPartialImage = true }) else {
                #expect(count < starts[0] + 12, "\(count) bytes")
                continue
            }
            // Whole frames, or of the first one as many rows as there are.
            #expect(image.isPartial && image.hasAlpha, "\(count) bytes")
            #expect(image.frames.count == (count < ends[2] ? 1 : 2), "\(count) bytes")
            if count > ends[1] {
                #expect(image.frames.map(\.pixels) == frames.prefix(image.frames.count).map(\.pixels))
            }
        }
        let info = try coder.info(whole.prefix(whole.count - 4))
        #expect(!info.isComplete && info.frameCount == 3)
    }

    @Test("Rows of a first frame without end are shown as a partial image")
    func partialRows() throws {
        var gif = TestGIF(100, 100)
        gif.frame((0, 0, 100, 100), [UInt8](repeating: 1, count: 10_000))
        let image = try coder.decode(gif.unfinished.prefix(gif.unfinished.count / 2)) { $0.allowsPartialImage = true }
        #expect(image.isPartial && image.pixels[0, 0] == green && image.pixels[0, 99] == clear)
    }

    @Test("A frame whose last terminator is missing is whole if all of its pixels are there, also while it arrives")
    func missingTerminator() throws {
        var gif = TestGIF(30, 20)
        gif.frame((0, 0, 30, 20), (0..<600).map { UInt8($0 % 3) })
        let whole = try coder.decode(gif.data)
        for missing in 1...2 {
            let data = gif.unfinished.dropLast(missing)
            let image = try coder.decode(data)
            #expect(image.pixels == whole.pixels && !image.isPartial && !image.hasAlpha)
            let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
            try decoder.append(data)
            #expect(try decoder.finish().pixels == whole.pixels)
        }
        #expect { try coder.decode(gif.unfinished.dropLast(6)) } throws: {
            ($0 as? ImageError)?.code == .truncatedImage
        }
    }

    @Test("A missing trailer, and bytes behind it, do no harm")
    func trailer() throws {
        let gif = twoFrames()
        #expect(try coder.decode(gif.unfinished).frames.count == 2)
        #expect(try !coder.decode(gif.unfinished).isPartial)
        #expect(try coder.decode(gif.data + Data([1, 2, 3, 0x2C])).frames.count == 2)
    }

    @Test("Codes that mean nothing and missing pixels are corrupt")
    func corrupt() throws {
        let bad: [[Int]] = [[256, 0, 300], [300], [256, 258], [256, 0, 257], [256, 0, 1]]
        for codes in bad {
            var gif = TestGIF(2, 2)
            gif.frame((0, 0, 2, 2), [], codes: TestGIF.pack(codes))
            #expect { try coder.decode(gif.data) } throws: { ($0 as? ImageError)?.code == .corruptImage }
        }
        #expect { try coder.decode(TestGIF(2, 2).data) } throws: { ($0 as? ImageError)?.code == .corruptImage }
    }

    @Test("A code may stand for the string that it begins itself")
    func selfReference() throws {
        // 0, then 258 = "0 0", then 259 = "0 0 0": six pixels.
        var gif = TestGIF(6, 1)
        gif.frame((0, 0, 6, 1), [], codes: TestGIF.pack([256, 1, 258, 259, 257]))
        #expect(rows(try coder.decode(gif.data).pixels) == [[green, green, green, green, green, green]])
    }

    @Test(
        "Neither a screen nor a first frame with a size is refused by the header too",
        arguments: [(0, 32), (32, 0), (0, 0)])
    func emptyScreen(width: Int, height: Int) throws {
        var file = TestGIF(width, height)
        file.frame((0, 0, 0, 1), [])
        expectCode(.corruptImage) { try coder.info(file.data) }
        expectCode(.corruptImage) { try coder.decode(file.data) }
    }

    @Test("A header of 65535x65535 is refused before memory is taken", .capability("3.1"))
    func bomb() throws {
        var screen = TestGIF(65_535, 65_535)
        screen.frame((0, 0, 1, 1), [0])
        var frame = TestGIF(2, 2)
        frame.frame((0, 0, 65_535, 65_535), [0, 0, 0, 0], interlaced: true)
        let pool = PixelBufferPool(limit: 0)
        for data in [screen.data, frame.data] {
            #expect {
                try coder.decode(data, options: DecodeOptions(), context: ProcessingContext(pool: pool))
            } throws: {
                ($0 as? ImageError)?.code == .limitExceeded
            }
        }
        #expect(pool.statistics.allocated <= 1)
    }

    @Test("A frame that is larger than the picture counts in the limits and the budget", .capability("3.1"))
    func largeFrame() throws {
        var gif = TestGIF(1, 1)
        gif.frame((0, 0, 1, 1), [0])
        gif.frame((0, 0, 2_000, 2_000), [0, 1], interlaced: true)
        for data in [gif.data, Data(gif.unfinished.dropLast(4))] {
            var context = ProcessingContext(budget: DecodeBudget(limit: .megabytes(50)))
            var options = DecodeOptions()
            options.allowsPartialImage = true
            _ = try? coder.decode(data, options: options, context: context)
            #expect(context.budget.statistics.peakBytes >= 4_000_000)
            context.limits.maximumBytes = .megabytes(1)
            expectCode(.limitExceeded) { try coder.decode(data, options: options, context: context) }
        }
    }

    @Test("More frames than the limits allow are refused, and more bytes of frames where all are to be kept")
    func frameLimits() async throws {
        var gif = TestGIF(1, 1)
        for _ in 0..<5 { gif.frame((0, 0, 1, 1), [0]) }
        var context = ProcessingContext()
        context.limits.maximumFrames = 4
        #expect(throws: ImageError.self) { try coder.decode(gif.data, options: DecodeOptions(), context: context) }
        #expect(throws: ImageError.self) {
            try coder.frameDecoder(for: gif.data, options: DecodeOptions(), context: context)
        }
        context.limits.maximumFrames = 5
        context.limits.maximumBytes = 19
        // One frame at a time fits.
        let image = try coder.decode(gif.data, options: DecodeOptions(), context: context)
        #expect(image.frames.count == 5)
        await #expect(throws: ImageError.self) { try await image.animation?.preload() }
    }

    @Test("A file without an end is compared with the limits before its pixels are looked for", .capability("3.1"))
    func limitsBeforePixels() {
        var gif = TestGIF(100, 100)
        gif.frame((0, 0, 100, 100), [UInt8](repeating: 0, count: 10_000))
        var context = ProcessingContext()
        context.limits.maximumBytes = 100
        expectCode(.limitExceeded) {
            try coder.decode(Data(gif.unfinished.dropLast(4)), options: DecodeOptions(), context: context)
        }
    }

    @Test("Cancelling ends the work")
    func cancellation() throws {
        let context = ProcessingContext(isCancelled: { true })
        #expect {
            try coder.decode(twoFrames().data, options: DecodeOptions(), context: context)
        } throws: {
            ($0 as? ImageError)?.isCancellation == true
        }
    }

    @Test("Damaged files never crash", .capability("3.8"))
    func fuzz() throws {
        var gif = twoFrames(second: 2, loop: 0, delay: 5, third: true)
        gif.frame((0, 0, 2, 2), [0, 3, 2, 3], disposal: 3, transparent: 3, interlaced: true)
        try coder.survives(damageTo: gif.data, cases: 400, seed: 1)
        var generator = SeededRandom(seed: 3)
        let noisy = try RasterSamples.pixels(40, 40) { _, _ in
            [UInt8.random(in: 0...255, using: &generator), 0, 0, 255]
        }
        let encoded = try coder.encode(makeImage(noisy), as: .gif, options: EncodeOptions())
        try coder.survives(damageTo: encoded, cases: 400, seed: 2)
    }
}
