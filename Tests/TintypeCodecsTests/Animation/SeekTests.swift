#if AVIF
import CAVIF
#endif
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Any frame at any time", .timeLimited)
struct SeekTests {
    private func decoder(_ data: Data, _ options: DecodeOptions = DecodeOptions()) throws -> any FrameDecoder {
        try #require(try FormatSample.coders.frameDecoder(for: data, options: options, context: ProcessingContext()))
    }

    private func all(_ decoder: any FrameDecoder) throws -> [ImageFrame] {
        var frames: [ImageFrame] = []
        while let frame = try decoder.nextFrame() { frames.append(frame) }
        return frames
    }

    static let boxes: [PixelSize?] = [nil, PixelSize(width: 31, height: 31)]

    @Test("In any order frames are what they are in theirs, at any size", arguments: FormatSample.animated, boxes)
    func random(sample: FormatSample, box: PixelSize?) throws {
        let data = try sample.data()
        let options = DecodeOptions(thumbnailSize: box)
        let frames = try all(try decoder(data, options))
        #expect(frames.count == FormatSample.frameCount)
        #expect(
            frames.allSatisfy { $0.pixels.size == (box == nil ? FormatSample.size : PixelSize(width: 31, height: 23)) })
        let seeking = try decoder(data, options)
        #expect(seeking.outputSize == frames[0].pixels.size)
        var generator = SeededRandom(seed: 9)
        for _ in 0..<24 {
            let index = Int.random(in: 0..<frames.count, using: &generator)
            #expect(try seeking.frame(at: index) == frames[index], "frame \(index)")
            // And on from there.
            if index % 3 == 0, index + 1 < frames.count { #expect(try seeking.nextFrame() == frames[index + 1]) }
        }
        #expect(try seeking.frame(at: frames.count) == nil)
        #expect(try seeking.frame(at: -1) == nil)
        try seeking.seek(to: .max)
        #expect(try seeking.nextFrame() == nil)
        try seeking.rewind()
        #expect(try all(seeking) == frames)
    }

    @Test("Every way of disposing and covering is sought through rightly", arguments: 0..<6)
    func disposals(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var gif = TestGIF(8, 8)
        for _ in 0..<30 {
            let isWhole = Int.random(in: 0..<3, using: &generator) == 0
            let (x, y) =
                isWhole ? (0, 0) : (Int.random(in: 0..<6, using: &generator), Int.random(in: 0..<6, using: &generator))
            let side = isWhole ? 8 : 3
            gif.frame(
                (x, y, side, side), (0..<side * side).map { _ in UInt8.random(in: 0...3, using: &generator) }, delay: 5,
                disposal: Int.random(in: 0...3, using: &generator),
                transparent: Bool.random(using: &generator) ? 3 : nil)
        }
        let frames = try all(try decoder(gif.data))
        let seeking = try decoder(gif.data)
        for _ in 0..<200 {
            let index = Int.random(in: 0..<30, using: &generator)
            #expect(try seeking.frame(at: index) == frames[index])
        }
    }

    /// Frames of which only the first stands for itself.
    private func dependent(_ count: Int) -> Data {
        var gif = TestGIF(20, 20)
        gif.frame((0, 0, 20, 20), [UInt8](repeating: 1, count: 400), delay: 5)
        for index in 1..<count { gif.frame((index % 18, index % 17, 2, 2), [0, 2, 0, 2], delay: 5) }
        return gif.data
    }

    @Test("Once frames have been decoded, a seek decodes no more than lie between two copies of the canvas")
    func bounded() throws {
        let count = 90
        let decoder = try GIFFrameDecoder(
            dependent(count), for: .streaming, options: DecodeOptions(), context: ProcessingContext())
        #expect(try all(decoder).count == count)
        #expect(decoder.state.seekPoints.decodedFrames == count)
        // The first way back is along all frames, and leaves copies.
        _ = try decoder.frame(at: count - 1)
        #expect(decoder.state.seekPoints.decodedFrames == 2 * count)
        var generator = SeededRandom(seed: 2)
        for _ in 0..<100 {
            let before = decoder.state.seekPoints.decodedFrames
            _ = try decoder.frame(at: Int.random(in: 0..<count, using: &generator))
            #expect(decoder.state.seekPoints.decodedFrames - before <= count / 9 + 1)
        }
    }

    @Test("Skipping frames, and playing again, keep no copies of the canvas", .capability("FPL-04"))
    func noCopies() throws {
        let decoder = try GIFFrameDecoder(
            dependent(90), for: .streaming, options: DecodeOptions(), context: ProcessingContext())
        try decoder.seek(to: 1)
        for _ in 0..<2 {
            while try decoder.nextFrame() != nil {}
            decoder.rewind()
        }
        #expect(decoder.state.seekPoints.copyCount == 0)
        _ = try decoder.frame(at: 80)
        _ = try decoder.frame(at: 40)
        _ = try decoder.frame(at: 80)
        #expect(decoder.state.seekPoints.copyCount > 0)
    }

    @Test("Copies of the canvas lie where a program wants them, as many as that takes", .capability("3.5"))
    func chosenCopies() throws {
        let decoder = try GIFFrameDecoder(
            dependent(100), for: .streaming, options: DecodeOptions(), context: ProcessingContext())
        decoder.keepSeekPoints(every: 5)
        #expect(try all(decoder).count == 100)
        #expect(decoder.state.seekPoints.copyCount == 19)
        for index in stride(from: 95, through: 0, by: -5) {
            let before = decoder.state.seekPoints.decodedFrames
            _ = try decoder.frame(at: index)
            #expect(decoder.state.seekPoints.decodedFrames - before == 1)
        }
    }

    @Test(
        "A player shows the frames of every format, in every direction", .capability("PLY-04", "ANI-03"),
        arguments: FormatSample.animated, PlaybackMode.allCases)
    func playback(sample: FormatSample, mode: PlaybackMode) async throws {
        let data = try sample.data()
        let frames = try all(try decoder(data))
        let image = try #require(try FormatSample.coders.decode(data).animation)
        #expect(image.frameCount == frames.count && image.frameDurations == frames.map(\.duration))
        let bytes = ByteCount(9 * frames[0].pixels.byteCount)
        let player = AnimatedImagePlayer(image, mode: mode, maximumBufferSize: bytes)
        player.loopCount = 2
        var time = Duration.zero
        var update = player.advance(to: time)
        var shown = 0
        while !update.isFinished {
            if update.isNew, let frame = update.frame {
                #expect(frame.pixels == frames[frame.index].pixels)
                shown += 1
            }
            if let delay = update.delay { time += delay } else { await Task.yield() }
            update = player.advance(to: time)
        }
        #expect(shown >= 2 * frames.count - 1)
    }

    @Test("A frame that covers everything is where a seek begins, without copies and without decoding what is before")
    func keyframes() throws {
        var gif = TestGIF(20, 20)
        for index in 0..<60 {
            let isKey = index % 10 == 0
            gif.frame(
                isKey ? (0, 0, 20, 20) : (3, 3, 2, 2), [UInt8](repeating: UInt8(index % 3), count: isKey ? 400 : 4),
                delay: 5)
        }
        let frames = try all(try decoder(gif.data))
        let seeking = try GIFFrameDecoder(
            gif.data, for: .streaming, options: DecodeOptions(), context: ProcessingContext())
        for (index, cost) in [(55, 6), (41, 2), (40, 1), (19, 10), (20, 1)] {
            let before = seeking.state.seekPoints.decodedFrames
            #expect(try seeking.frame(at: index) == frames[index])
            #expect(seeking.state.seekPoints.decodedFrames - before <= cost, "frame \(index)")
        }
    }

    @Test("APNG and WebP keep copies too", arguments: [FormatSample.animatedPNG, .animatedWebP])
    func others(sample: FormatSample) throws {
        let seeking = try #require(try decoder(sample.data()) as? any SeekableFrames)
        _ = try all(seeking)
        try seeking.seek(to: 0)
        _ = try all(seeking)
        for index in [19, 5, 11, 2, 17] {
            let before = seeking.state.seekPoints.decodedFrames
            _ = try seeking.frame(at: index)
            #expect(seeking.state.seekPoints.decodedFrames - before <= 3)
        }
    }

    @Test("Who plays in order keeps no copies, and copies keep within their limits")
    func memory() throws {
        let data = dependent(60)
        let pool = PixelBufferPool(limit: 0)
        let playing = try GIFCoder().frameDecoder(
            for: data, options: DecodeOptions(), context: ProcessingContext(pool: pool))
        while try playing.nextFrame() != nil {}
        let canvas = PixelBufferPool.footprint(of: PixelSize(width: 20, height: 20))
        // The canvas, and the frame that is shown.
        #expect(pool.statistics.usedBytes <= 2 * canvas)
        try playing.seek(to: 59)
        try playing.seek(to: 1)
        try playing.seek(to: 59)
        #expect(pool.statistics.usedBytes <= (2 + SeekPoints.maximumCopies) * canvas)
        #expect(pool.statistics.usedBytes >= 6 * canvas)
        // A canvas that is too large for even one copy is sought through from the last frame that stands for itself.
        var points = SeekPoints(ProcessingContext())
        let start = points.start(
            for: 3, next: 9, frameCount: 10, canvas: PixelSize(width: 8_000, height: 8_000), isKey: { $0 == 2 })
        guard case .blank(2) = start else {
            Issue.record("begins at \(start)")
            return
        }
        try points.pass(5) { () throws(ImageError) in
            Issue.record("a copy is made")
            return nil
        }
    }

    @Test(
        "When memory is scarce the copies of the canvas go, and seeking goes on", .capability("COD-55"),
        // The decoders of other formats keep no copies.
        arguments: [FormatSample.animatedPNG, .animatedGIF, .animatedWebP])
    func pressure(sample: FormatSample) throws {
        let playing = try #require(try decoder(sample.data()) as? any SeekableFrames)
        let frames = try all(playing)
        let pool = PixelBufferPool(limit: .megabytes(64))
        var context = ProcessingContext(pool: pool)
        context.memoryPressure = MemoryPressure()
        let decoder = try #require(
            try FormatSample.coders.frameDecoder(for: sample.data(), options: DecodeOptions(), context: context)
                as? any SeekableFrames)
        #expect(try all(decoder).count == frames.count)
        // Back along all frames, which leaves copies.
        try decoder.seek(to: 0)
        #expect(try all(decoder) == frames)
        let kept = decoder.state.seekPoints.copyCount
        #expect(kept > 2)
        let used = pool.statistics.usedBytes
        context.memoryPressure?.report(.warning)
        #expect(decoder.state.seekPoints.copyCount == 0)
        let canvas = PixelBufferPool.footprint(of: FormatSample.size)
        #expect(pool.statistics.usedBytes <= used - kept * canvas)
        #expect(pool.statistics.freeBytes == 0, "it went back to the system, not only to the pool")
        for index in [3, 17, 0, 12, 19] { #expect(try decoder.frame(at: index) == frames[index]) }
        #expect(decoder.state.seekPoints.copyCount > 0, "copies are made again on the way")
    }

    @Test(
        "A decoder that is gone has given up its copies, and no longer empties the pool when memory is scarce",
        .capability("COD-55"))
    func released() throws {
        let pressure = MemoryPressure()
        let pool = PixelBufferPool(limit: .megabytes(1))
        var context = ProcessingContext(pool: pool)
        context.memoryPressure = pressure
        let size = PixelSize(width: 2, height: 2)
        var points: SeekPoints? = SeekPoints(context)
        _ = points?.start(for: 0, next: 9, frameCount: 10, canvas: size, isKey: { _ in false })
        weak var copy: PixelBuffer?
        try points?.pass(2) { () throws(ImageError) in
            let picture = try MutablePixelBuffer(size: size, cleared: true, pool: pool).freeze()
            copy = picture
            return picture
        }
        #expect(points?.copyCount == 1 && copy != nil)
        points = nil
        #expect(copy == nil && pool.statistics.freeBytes > 0)
        pressure.report(.critical)
        #expect(pool.statistics.freeBytes > 0)
    }

    @Test("A still image is a frame that can be sought", arguments: [FormatSample.png, .gif, .webp])
    func stills(sample: FormatSample) throws {
        let decoder = try decoder(sample.data())
        let frame = try #require(try decoder.frame(at: 0))
        #expect(try decoder.frame(at: 1) == nil)
        #expect(try decoder.frame(at: 0) == frame)
    }

    /// Knows no better way than the next frame.
    private final class Plain: FrameDecoder {
        let frames: [ImageFrame]
        var next = 0
        let info = ImageInfo(format: .gif, size: FormatSample.size, hasAlpha: false)
        let outputSize = FormatSample.size
        init(_ frames: [ImageFrame]) { self.frames = frames }
        func rewind() { next = 0 }
        func nextFrame() -> ImageFrame? {
            guard next < frames.count else { return nil }
            next += 1
            return frames[next - 1]
        }
    }

    @Test("A decoder of somebody else's can be sought without doing anything for it")
    func plain() throws {
        let frames = try all(try decoder(FormatSample.animatedGIF.data()))
        let decoder = Plain(frames)
        for index in [7, 3, 19, 0] { #expect(try decoder.frame(at: index) == frames[index]) }
        #expect(try decoder.frame(at: 20) == nil)
    }

    #if AVIF
    @Test("AVIF begins at the nearest keyframe")
    func keyframesOfAVIF() throws {
        let reader = try AVIFReader(
            try sequenceOfAVIF(frames: 12, keyframeInterval: 5), limits: DecodeLimits(), decoder: .automatic)
        #expect(reader.info.frameCount == 12)
        #expect((0..<12).map(reader.cost(of:)) == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2])
    }

    @Test("An AVIF that lists a frame as a keyframe which needs others is sought through all the same")
    func untrueKeyframesOfAVIF() throws {
        var data = try sequenceOfAVIF(frames: 12, keyframeInterval: 5)
        let frames = try all(try decoder(data))
        // The second of the frames that are listed, counted from 1.
        let list = try #require(data.range(of: Data("stss".utf8))).upperBound + 8
        try #require(data[list..<list + 12] == Data([0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 11]))
        data[list + 7] = 9
        let reader = try AVIFReader(data, limits: DecodeLimits(), decoder: .automatic)
        #expect((0..<12).map(reader.cost(of:)) == [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 1, 2])
        for index in frames.indices { #expect(try decoder(data).frame(at: index) == frames[index], "frame \(index)") }
        let seeking = try decoder(data)
        for index in [9, 0, 8, 11, 9, 10, 8, 7] { #expect(try seeking.frame(at: index) == frames[index]) }
    }

    @Test("A seek in an AVIF sequence ends between its frames once nobody needs it", .capability("3.5"))
    func cancelledSeek() throws {
        let data = try sequenceOfAVIF(frames: 12, keyframeInterval: 8)
        let checks = Lock(0)
        let reader = try AVIFReader(data, limits: DecodeLimits(), decoder: .automatic)
        let context = ProcessingContext(isCancelled: {
            checks.withLock { count in
                count += 1
                return count > 5
            }
        })
        expectCode(.cancelled) { try reader.image(at: 7, context) }
        #expect(checks.withLock { $0 } == 6)
        // The next seek goes on behind the five frames that were decoded.
        checks.withLock { $0 = -100 }
        #expect(try reader.image(at: 7, context) != nil)
        #expect(checks.withLock { $0 } == -97)
    }

    private func sequenceOfAVIF(frames: Int, keyframeInterval: Int32) throws -> Data {
        let encoder = try #require(avifEncoderCreate())
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.keyframeInterval = keyframeInterval
        encoder.pointee.speed = 10
        encoder.pointee.maxThreads = 1
        for frame in 0..<frames {
            let image = try #require(avifImageCreate(64, 64, 8, AVIF_PIXEL_FORMAT_YUV400))
            defer { avifImageDestroy(image) }
            try #require(avifImageAllocatePlanes(image, avifPlanesFlags(AVIF_PLANES_YUV.rawValue)) == AVIF_RESULT_OK)
            let plane = try #require(image.pointee.yuvPlanes.0)
            for y in 0..<64 {
                (plane + y * Int(image.pointee.yuvRowBytes.0)).update(repeating: UInt8(60 + 10 * frame), count: 64)
            }
            let flags = avifAddImageFlags(AVIF_ADD_IMAGE_FLAG_NONE.rawValue)
            try #require(avifEncoderAddImage(encoder, image, 1, flags) == AVIF_RESULT_OK)
        }
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try #require(avifEncoderFinish(encoder, &output) == AVIF_RESULT_OK)
        return Data(bytes: try #require(output.data), count: output.size)
    }
    #endif
}
