#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

/// Pictures whose numbers are known, encoded without loss.
enum KnownPictures {
    static let size = PixelSize(width: 64, height: 48)

    /// Stripes of luma that move; the chroma of each frame is one.
    static func number(_ frame: Int, _ plane: Int, _ x: Int, _ y: Int, bits: Int = 8) -> Int {
        let step = 1 << (bits - 8)
        return switch plane {
        case 0: (20 + (x * 3 + y * 2 + frame * 11) % 200) * step + (bits > 8 ? x % step : 0)
        case 1: (100 + frame * 7 % 60) * step
        default: (150 - frame * 9 % 50) * step
        }
    }

    static func encode(
        _ frames: Int, layout: HEVCTestEncoder.Layout = .half, bits: Int = 8, _ settings: [String: String] = [:]
    ) throws -> HEVCTestEncoder.Output {
        try HEVCTestEncoder(width: size.width, height: size.height, layout: layout, bits: bits, settings: settings)
            .encode(frames: frames) { number($0, $1, $2, $3, bits: bits) }
    }

    /// The largest distance of a decoded frame to what it has to be.
    static func distance(
        _ pixels: PixelBuffer, frame: Int, layout: HEVCTestEncoder.Layout = .half, bits: Int = 8, matrix: Int = 2,
        isFullRange: Bool = false
    ) -> Double {
        let reference = YCbCrReference(matrix: matrix, isFullRange: isFullRange, bits: bits)
        let gray = Double(1 << (bits - 1))
        var worst = 0.0
        for y in stride(from: 0, to: pixels.height, by: 5) {
            for x in stride(from: 0, to: pixels.width, by: 3) {
                func plane(_ plane: Int) -> Double {
                    layout == .gray && plane > 0 ? gray : Double(number(frame, plane, x, y, bits: bits))
                }
                let color = reference.color(plane(0), plane(1), plane(2)).map { $0 * 255 / reference.maximum }
                for component in 0..<3 { worst = max(worst, abs(Double(pixels[x, y][component]) - color[component])) }
            }
        }
        return worst
    }
}

@Suite("HEIF sequences", .timeLimited)
struct HEIFSequenceTests {
    let coder = HEIFCoder()

    private func file(
        _ pictures: HEVCTestEncoder.Output, _ change: (inout TestMovie.Track) -> Void = { _ in }
    ) -> Data {
        TestMovie(tracks: [HEIFTestSequence.track(pictures, change)]).data
    }

    @Test("Every frame of a sequence comes, with its duration, and plays for ever", .capability("COD-07", "COD-42"))
    func frames() throws {
        let pictures = try KnownPictures.encode(10)
        let data = file(pictures) {
            $0.delays = [40, 80, 5, 40, 40, 40, 40, 40, 40, 500]
        }
        let info = try coder.info(data)
        #expect(info.size == KnownPictures.size && info.frameCount == 10 && info.loopCount == 0)
        #expect(info.format == .heic && !info.hasAlpha && info.isComplete && info.bitsPerComponent == 8)
        let durations = [40, 80, 100, 40, 40, 40, 40, 40, 40, 500].map { Duration.milliseconds($0) }
        #expect(info.frameDurations == durations)
        let image = try coder.decode(data)
        #expect(image.frames.map(\.duration) == durations && image.loopCount == 0 && !image.isPartial)
        for (index, frame) in image.frames.enumerated() {
            #expect(KnownPictures.distance(frame.pixels, frame: index) <= 1, "frame \(index)")
        }
        let first = try coder.decode(data) { $0.firstFrameOnly = true }
        #expect(first.frames == [ImageFrame(pixels: image.pixels)])
    }

    @Test("Frames that are decoded in another order than shown come as they are shown")
    func reordered() throws {
        let pictures = try KnownPictures.encode(
            12, ["bframes": "3", "b-adapt": "0", "keyint": "6", "min-keyint": "6", "b-pyramid": "1"])
        #expect(pictures.samples.map(\.rank) != Array(0..<12), "the encoder did not change the order")
        let data = file(pictures)
        #expect(try coder.info(data).frameDurations == Array(repeating: .milliseconds(40), count: 12))
        let image = try coder.decode(data)
        for (index, frame) in image.frames.enumerated() {
            #expect(KnownPictures.distance(frame.pixels, frame: index) <= 1, "frame \(index)")
        }
        try expectSeeking(data, image)
    }

    @Test("Frames that lead a sync sample are decoded from the one before")
    func openGroups() throws {
        let pictures = try KnownPictures.encode(
            14, ["bframes": "2", "b-adapt": "0", "keyint": "5", "min-keyint": "5", "open-gop": "1"])
        let data = file(pictures)
        try expectSeeking(data, try coder.decode(data))
    }

    @Test(
        "A table that lists frames at regular distances, which need others, makes no frame unreachable",
        .capability("COD-03", "COD-07"), arguments: [[:], ["bframes": "2", "b-adapt": "0"]] as [[String: String]],
        [[1, 4, 8, 12], nil] as [[Int]?])
    func untrueTable(settings: [String: String], listed: [Int]?) throws {
        // Only the first picture stands alone.
        let all = ["keyint": "100", "min-keyint": "50"].merging(settings) { $1 }
        let pictures = try KnownPictures.encode(14, all)
        try #require(pictures.samples.map(\.isSync) == [true] + Array(repeating: false, count: 13))
        let data = file(pictures) { $0.syncSamples = listed }
        let image = try coder.decode(data)
        for (index, frame) in image.frames.enumerated() {
            #expect(KnownPictures.distance(frame.pixels, frame: index) <= 1, "frame \(index)")
        }
        try expectSeeking(data, image)
        for index in image.frames.indices {
            let decoder = try coder.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext())
            #expect(try decoder.frame(at: index) == image.frames[index], "frame \(index)")
        }
    }

    /// Any frame is the same whatever was decoded before it.
    private func expectSeeking(_ data: Data, _ image: Image) throws {
        let decoder = try #require(
            try coder.frameDecoder(for: data, options: DecodeOptions(), context: ProcessingContext())
                as? HEIFFrameDecoder)
        var generator = SeededRandom(seed: 3)
        for _ in 0..<30 {
            let index = Int.random(in: image.frames.indices, using: &generator)
            decoder.seek(to: index)
            for frame in image.frames[index...].prefix(Int.random(in: 1...3, using: &generator)) {
                #expect(try decoder.nextFrame() == frame, "frame \(index)")
            }
        }
        decoder.seek(to: image.frames.count)
        #expect(try decoder.nextFrame() == nil)
        decoder.rewind()
        for frame in image.frames { #expect(try decoder.nextFrame() == frame) }
        #expect(try decoder.nextFrame() == nil)
    }

    @Test(
        "All layouts of chroma, of 8 to 12 bits", arguments: [HEVCTestEncoder.Layout.gray, .half, .halfWidth, .full],
        [8, 10, 12])
    func layouts(layout: HEVCTestEncoder.Layout, bits: Int) throws {
        let data = file(try KnownPictures.encode(2, layout: layout, bits: bits))
        let image = try coder.decode(data)
        #expect(try coder.info(data).bitsPerComponent == bits && image.properties.bitsPerComponent == bits)
        for (index, frame) in image.frames.enumerated() {
            #expect(KnownPictures.distance(frame.pixels, frame: index, layout: layout, bits: bits) <= 1)
        }
    }

    @Test("Parameter sets may stand before the first frame instead of in the header")
    func parameterSetsInBand() throws {
        let pictures = try KnownPictures.encode(3)
        let sets = pictures.sets.reduce(into: Data()) { $0 += TestMovie.number($1.count) + $1 }
        let data = file(pictures) {
            $0.coding = "hev1"
            $0.codingBoxes = HEIFTestSequence.configuration([])
            $0.samples[0] = sets + $0.samples[0]
        }
        #expect(try coder.info(data).size == KnownPictures.size)
        #expect(try coder.decode(data).frames == coder.decode(file(pictures)).frames)
        let without = file(pictures) { $0.codingBoxes = HEIFTestSequence.configuration([]) }
        expectCode(.corruptImage) { try coder.info(without) }
    }

    @Test("The file says what the colors are, else the pictures do")
    func coding() throws {
        let stated = try KnownPictures.encode(2, ["colormatrix": "bt709", "range": "full", "colorprim": "bt709"])
        let own = try coder.decode(file(stated))
        #expect(KnownPictures.distance(own.pixels, frame: 0, matrix: 1, isFullRange: true) <= 1)
        let color = HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: 9, isFullRange: false)
        let overruled = try coder.decode(file(stated) { $0.codingBoxes += color })
        #expect(KnownPictures.distance(overruled.pixels, frame: 0, matrix: 9) <= 1)
        let wide = HEIFTestSequence.color(primaries: 12, transfer: 13, matrix: 6, isFullRange: false)
        let file = file(stated) { $0.codingBoxes += wide }
        #expect(try coder.info(file).colorProfile == "Display P3")
        let kept = try coder.decode(file) { $0.keepsColorSpace = true }
        #expect(kept.colorSpace.name == "Display P3")
        #expect(KnownPictures.distance(kept.pixels, frame: 0, matrix: 6) <= 1)
        #expect(KnownPictures.distance(try coder.decode(file).pixels, frame: 0, matrix: 6) > 2)
    }

    @Test("PQ is tone-mapped")
    func highDynamicRange() throws {
        let color = HEIFTestSequence.color(primaries: 9, transfer: 16, matrix: 9, isFullRange: false)
        let data = file(try KnownPictures.encode(2, bits: 10)) { $0.codingBoxes += color }
        #expect(try coder.info(data).colorProfile == "BT.2020 PQ")
        let image = try coder.decode(data)
        #expect(image.colorSpace == .sRGB)
        #expect(KnownPictures.distance(image.pixels, frame: 0, bits: 10, matrix: 9) > 5)
        // Frames have 8 bits, also where more is asked for, and say so.
        let deep = try coder.decode(data) { $0.decodeToHDR = true }
        #expect(try coder.info(data).isHighDynamicRange)
        #expect(deep.frames == image.frames && deep.pixels.format == .rgba8 && !deep.isHighDynamicRange)
    }

    @Test("The matrix of the track turns the frames")
    func orientation() throws {
        let pictures = try KnownPictures.encode(2)
        let upright = try coder.decode(file(pictures)).frames[1].pixels
        let matrices: [(Orientation, [Int])] = [
            (.up, [1, 0, 0, 1]), (.upMirrored, [-1, 0, 0, 1]), (.down, [-1, 0, 0, -1]), (.downMirrored, [1, 0, 0, -1]),
            (.leftMirrored, [0, 1, 1, 0]), (.right, [0, 1, -1, 0]), (.rightMirrored, [0, -1, -1, 0]),
            (.left, [0, -1, 1, 0]),
        ]
        for (orientation, matrix) in matrices {
            let data = file(pictures) { $0.matrix = matrix }
            let info = try coder.info(data)
            #expect(info.orientation == orientation && info.displaySize == orientation.display(KnownPictures.size))
            let pixels = try coder.decode(data).frames[1].pixels
            #expect(try pixels == upright.oriented(orientation))
        }
        // What is left is read as the standard has it: x' = a x + c y, y' = b x + d y.
        let right = try coder.decode(file(pictures) { $0.matrix = [0, 1, -1, 0] }).frames[1].pixels
        #expect(right[0, 0] == upright[0, upright.height - 1] && right[right.width - 1, 0] == upright[0, 0])
    }

    @Test("An edit list says how often the sequence plays", .capability("COD-42"))
    func loops() throws {
        let pictures = try KnownPictures.encode(3)
        func loopCount(_ flags: Int, _ durations: [Int], of duration: Int?) throws -> Int? {
            try coder.info(
                file(pictures) {
                    $0.edits = (flags, durations)
                    $0.duration = duration
                }
            ).loopCount
        }
        #expect(try loopCount(1, [120], of: nil) == 0)
        #expect(try loopCount(1, [120], of: 360) == 3)
        #expect(try loopCount(1, [60, 60], of: 300) == 3)
        #expect(try loopCount(0, [120], of: 120) == 1)
        #expect(try loopCount(1, [0], of: 120) == 0)
        #expect(try coder.decode(file(pictures) { $0.edits = (0, [120]) }).loopCount == 1)
    }

    @Test("Transparency comes from the track beside, straight or multiplied")
    func transparency() throws {
        let pictures = try KnownPictures.encode(4)
        let alpha = try HEVCTestEncoder(
            width: 64, height: 48, layout: .gray, settings: ["bframes": "2", "b-adapt": "0"]
        )
        .encode(frames: 4) { frame, _, x, _ in (x * 4 + frame * 30) % 256 }
        func movie(_ references: [String: [Int]]) -> Data {
            let image = HEIFTestSequence.track(pictures) { $0.references = references }
            let other = HEIFTestSequence.track(alpha) {
                $0.id = 2
                $0.handler = "auxv"
                $0.references = ["auxl": [1]]
                $0.codingBoxes += HEIFTestSequence.alphaType
            }
            return TestMovie(tracks: [other, image]).data
        }
        let opaque = try coder.decode(file(pictures))
        let straight = try coder.decode(movie([:]))
        #expect(straight.hasAlpha && straight.frames.count == 4)
        #expect(try coder.info(movie([:])).hasAlpha)
        let multiplied = try coder.decode(movie(["prem": [2]]))
        for index in 0..<4 {
            for x in 0..<64 {
                let value = (x * 4 + index * 30) % 256
                let color = opaque.frames[index].pixels[x, 7]
                let pixel = straight.frames[index].pixels[x, 7]
                let other = multiplied.frames[index].pixels[x, 7]
                #expect(Int(pixel.w) == value && Int(other.w) == value)
                for component in 0..<3 {
                    let product = Double(color[component]) * Double(value) / 255
                    #expect(abs(Double(pixel[component]) - product) <= 0.51)
                    // Colors that are multiplied already stay, as far as alpha lets them.
                    #expect(abs(Int(other[component]) - min(Int(color[component]), value)) <= 1)
                }
            }
        }
        let damaged = HEIFTestSequence.track(alpha) {
            $0.id = 2
            $0.handler = "auxv"
            $0.references = ["auxl": [1]]
            $0.codingBoxes += HEIFTestSequence.alphaType
            $0.samples.removeLast()
            $0.delays.removeLast()
        }
        let data = TestMovie(tracks: [HEIFTestSequence.track(pictures), damaged]).data
        expectCode(.corruptImage) { try coder.decode(data) }
    }

    @Test("A clean aperture is cut out")
    func aperture() throws {
        let pictures = try KnownPictures.encode(2)
        // 31 by 21 pixels, whose middle is (-3.5, 2.5) off: from column 13, row 16 on.
        let fields = [31, 1, 21, 1, -7, 2, 5, 2]
        let data = file(pictures) { $0.codingBoxes += TestMovie.box("clap", TestMovie.numbers(fields)) }
        let whole = try coder.decode(file(pictures)).frames[1].pixels
        let cut = try coder.decode(data).frames[1].pixels
        #expect(cut.size == PixelSize(width: 31, height: 21))
        for (x, y) in [(0, 0), (30, 20), (17, 3)] { #expect(cut[x, y] == whole[13 + x, 16 + y]) }
        let outside = [31, 1, 21, 1, 400, 1, 0, 1]
        let odd = file(pictures) { $0.codingBoxes += TestMovie.box("clap", TestMovie.numbers(outside)) }
        #expect(try coder.info(odd).size == KnownPictures.size)
    }

    @Test("Thumbnails fit the box")
    func thumbnails() throws {
        let data = file(try KnownPictures.encode(3))
        try TraitCoderChecks.expectThumbnails(coder, data)
        let small = try coder.decode(data) { $0.thumbnailSize = PixelSize(width: 20, height: 20) }
        #expect(small.frames.count == 3 && small.frames.allSatisfy { $0.pixels.size == small.size })
    }
}
#endif
