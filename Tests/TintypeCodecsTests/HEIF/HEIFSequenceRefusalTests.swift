#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("HEIF sequences that are cut, damaged, or arrive slowly", .timeLimited)
struct HEIFSequenceRefusalTests {
    let coder = HEIFCoder()

    private func movie(_ frames: Int = 8, _ change: (inout TestMovie.Track) -> Void = { _ in }) throws -> TestMovie {
        TestMovie(tracks: [HEIFTestSequence.track(try KnownPictures.encode(frames), change)])
    }

    @Test("Limits and cancellation are kept, and a file that is cut says so")
    func refusals() throws {
        let movie = try movie()
        TraitCoderChecks.expectLimits(coder, movie.data)
        TraitCoderChecks.expectTruncation(coder, movie.data)
        var last = movie
        last.movieIsLast = true
        TraitCoderChecks.expectTruncation(coder, last.data)
        var context = ProcessingContext()
        context.limits.maximumFrames = 7
        expectCode(.limitExceeded) { try coder.decode(movie.data, options: DecodeOptions(), context: context) }
        expectCode(.limitExceeded) { try coder.info(of: movie.data, context: context) }
    }

    @Test("Of a file that is cut the whole frames come on request, and its header is known")
    func partial() throws {
        for settings in [[:], ["bframes": "3", "b-adapt": "0", "keyint": "9"]] {
            let pictures = try KnownPictures.encode(8, settings)
            let data = TestMovie(tracks: [HEIFTestSequence.track(pictures)]).data
            let whole = try coder.decode(data)
            let cut = Data(data.prefix(data.count - pictures.samples.suffix(3).reduce(0) { $0 + $1.data.count } - 1))
            let info = try coder.info(cut)
            #expect(info.frameCount == 8 && !info.isComplete)
            expectCode(.truncatedImage) { try coder.decode(cut) }
            let part = try coder.decode(cut) { $0.allowsPartialImage = true }
            // Frames are given up to the first that is missing in the order of showing.
            let missing = pictures.samples.suffix(4).map(\.rank).min() ?? 0
            #expect(part.isPartial && part.frames.count == missing && missing > 0)
            #expect(part.frames.map(\.pixels) == whole.frames.prefix(missing).map(\.pixels))
            let first = try coder.decode(cut) { $0.firstFrameOnly = true }
            #expect(first.pixels == whole.pixels && !first.isPartial)
        }
    }

    @Test("Frames come while the file arrives, and the end is what the whole file gives", arguments: [true, false])
    func progressive(movesForward: Bool) throws {
        let pictures = try KnownPictures.encode(8, movesForward ? [:] : ["bframes": "2", "b-adapt": "0"])
        let data = TestMovie(tracks: [HEIFTestSequence.track(pictures)]).data
        let whole = try coder.decode(data)
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        var previews = 0
        for start in stride(from: 0, to: data.count, by: 200) {
            try decoder.append(Data(data[start..<min(data.count, start + 200)]))
            guard let preview = try decoder.preview() else { continue }
            #expect(preview.isPartial)
            #expect(preview.pixels == whole.pixels)
            previews += 1
        }
        #expect(previews == 1)
        let image = try decoder.finish()
        #expect(image.frames == whole.frames && image.properties == whole.properties)
    }

    @Test(
        "Frames that have arrived are decoded before the others are there", .capability("AIV-05"),
        arguments: [true, false])
    func arriving(movesForward: Bool) throws {
        let pictures = try KnownPictures.encode(8, movesForward ? [:] : ["bframes": "2", "b-adapt": "0"])
        let data = TestMovie(tracks: [HEIFTestSequence.track(pictures)]).data
        let whole = try coder.decode(data)
        var decoder: (any ArrivingFrameDecoder)?
        var (shown, steps) = (0, 0)
        for count in stride(from: 0, through: data.count, by: 50) + [data.count] {
            let part = Data(data.prefix(count))
            guard let info = try? coder.arrivedInfo(of: part, context: ProcessingContext()), info.isAnimated else {
                continue
            }
            let old = decoder
            decoder =
                try old
                ?? coder.arrivingFrameDecoder(for: part, options: DecodeOptions(), context: ProcessingContext())
            try old?.extend(part)
            if shown < info.frameCount { steps += 1 }
            while shown < info.frameCount {
                #expect(try decoder?.nextFrame()?.pixels == whole.frames[shown].pixels)
                shown += 1
            }
        }
        #expect(shown == 8 && steps > 2)
    }

    @Test("Damage ends in an image or an error")
    func damage() throws {
        try coder.survives(damageTo: try movie(4).data, cases: 400, seed: 31)
    }

    @Test("A frame that is missing or cannot be decoded is an error, not another frame in its place")
    func missingFrame() throws {
        let empty = try movie { $0.samples[2] = Data() }
        expectCode(.corruptImage) { try coder.decode(empty.data).decodingAllFrames() }
        let overlong = try movie { $0.samples[2][0] = 0x7F }
        expectCode(.corruptImage) { try coder.decode(overlong.data).decodingAllFrames() }
        // A picture that refers to one that is not there.
        let orphan = try movie {
            $0.samples.removeFirst()
            $0.delays.removeFirst()
            $0.syncSamples = [1]
        }
        expectCode(.corruptImage) { try coder.decode(orphan.data).decodingAllFrames() }
    }

    @Test("What the parameter sets say of the size is compared with the limits before it is believed")
    func parameterSets() throws {
        let pictures = try KnownPictures.encode(2)
        let index = try #require(pictures.sets.firstIndex { ($0.first ?? 0) >> 1 & 63 == 33 })
        func file(_ set: Data) -> Data {
            var changed = pictures
            changed.sets[index] = set
            return TestMovie(tracks: [HEIFTestSequence.track(changed)]).data
        }
        expectCode(.limitExceeded) { try coder.decode(file(ParameterSetWriter(width: 65_528, height: 65_528).set)) }
        // Not over the limit of pixels, but a small file could make the decoder keep 17 of these.
        expectCode(.limitExceeded) { try coder.info(file(ParameterSetWriter(width: 16_000, height: 16_000).set)) }
        #expect(try coder.info(file(ParameterSetWriter(width: 8_192, height: 4_352).set)).frameCount == 2)
        expectCode(.corruptImage) { try coder.decode(file(ParameterSetWriter(width: 70_000, height: 64).set)) }
        expectCode(.corruptImage) { try coder.decode(file(ParameterSetWriter(width: 64, height: 64, cut: 40).set)) }
        expectCode(.corruptImage) { try coder.decode(file(Data([0x42, 1, 1]))) }
        expectCode(.corruptImage) { try coder.decode(file(ParameterSetWriter(width: 64, height: 64, chroma: 4).set)) }
        expectCode(.formatNotEnabled) {
            try coder.decode(file(ParameterSetWriter(width: 64, height: 64, bits: 14).set))
        }
        #expect(
            try coder.info(file(ParameterSetWriter(width: 64, height: 64, cut: 2).set)).size
                == PixelSize(width: 60, height: 60))
        // A set within a sample may not change what the header said.
        var inBand = HEIFTestSequence.track(pictures)
        let other = ParameterSetWriter(width: 4_096, height: 4_096).set
        inBand.samples[1] = TestMovie.number(other.count) + other + inBand.samples[1]
        expectCode(.corruptImage) { try coder.decode(TestMovie(tracks: [inBand]).data).decodingAllFrames() }
    }

    @Test("Fragments, other codings and files without images are named, and a still image beside them is read")
    func unreadable() throws {
        let still = try coder.encode(try RasterSamples.gradient(32, 16), as: .heic, options: EncodeOptions())
        var fragments = try movie { ($0.samples, $0.delays, $0.syncSamples) = ([], [], nil) }
        fragments.movieBoxes = TestMovie.box("mvex", Data())
        let other = try movie { $0.coding = "vvc1" }
        let noImages = try movie { $0.handler = "soun" }
        for movie in [fragments, other, noImages] {
            expectCode(.formatNotEnabled) { try coder.decode(movie.data) }
            var behind = movie
            behind.beginning = still
            let both = behind.data
            #expect(try coder.decode(both).size == PixelSize(width: 32, height: 16))
            #expect(
                try coder.frameDecoder(for: both, options: DecodeOptions(), context: ProcessingContext()).info
                    .frameCount
                    == 1)
        }
    }

    @Test("A file with a still image and a sequence moves; one frame is no sequence beside a still image")
    func besideStill() throws {
        let still = try coder.encode(try RasterSamples.gradient(32, 16), as: .heic, options: EncodeOptions())
        func image(_ frames: Int) throws -> Image {
            var movie = try movie(frames)
            movie.beginning = still
            return try coder.decode(movie.data)
        }
        let moving = try image(2)
        #expect(moving.frames.count == 2 && moving.size == KnownPictures.size)
        #expect(KnownPictures.distance(moving.frames[1].pixels, frame: 1) <= 1)
        #expect(try image(1).size == PixelSize(width: 32, height: 16))
        let alone = try coder.decode(try movie(1).data)
        #expect(alone.size == KnownPictures.size && !alone.isAnimated)
    }

    @Test("The frame decoder of a still image gives it once, and again after going back")
    func stillFrames() throws {
        let still = try coder.encode(try RasterSamples.gradient(32, 16), as: .heic, options: EncodeOptions())
        let image = try coder.decode(still)
        let decoder = try coder.frameDecoder(for: still, options: DecodeOptions(), context: ProcessingContext())
        for _ in 0..<2 {
            #expect(try decoder.nextFrame() == ImageFrame(pixels: image.pixels))
            #expect(try decoder.nextFrame() == nil)
            try decoder.rewind()
        }
    }
}

/// Writes the beginning of a sequence parameter set (ITU-T H.265, section 7.3.2.2).
struct ParameterSetWriter {
    var width: Int
    var height: Int
    var chroma = 1
    /// What the conformance window leaves out on the right and at the bottom, in numbers of chroma.
    var cut = 0
    var bits = 8

    var set: Data {
        var digits = String(repeating: "0", count: 4) + "000" + "1"
        digits += String(repeating: "0", count: 96)
        for value in [0, chroma, width, height] { digits += exponential(value) }
        digits += "1"
        for value in [0, cut, 0, cut, bits - 8, bits - 8] { digits += exponential(value) }
        digits += "1"
        var bytes: [UInt8] = [0x42, 1]
        var rest = Substring(digits)
        while !rest.isEmpty {
            let byte = String(rest.prefix(8))
            bytes.append(UInt8(byte + String(repeating: "0", count: 8 - byte.count), radix: 2) ?? 0)
            // Three bytes that could be taken for a start code are kept apart.
            let tail = bytes.suffix(3)
            if tail.count == 3, tail.dropLast().allSatisfy({ $0 == 0 }), (tail.last ?? 0) <= 3 {
                bytes.insert(3, at: bytes.count - 1)
            }
            rest = rest.dropFirst(8)
        }
        return Data(bytes)
    }

    private func exponential(_ value: Int) -> String {
        let digits = String(value + 1, radix: 2)
        return String(repeating: "0", count: digits.count - 1) + digits
    }
}
#endif
