import FoundationEssentials
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

extension GIFCoderTests {
    @Test(
        "A damaged frame loses no other frame where a part is allowed: the picture before it stays",
        .capability("COD-44"))
    func damagedFrame() throws {
        var gif = twoFrames()
        gif.frame((0, 0, 2, 2), [], codes: TestGIF.pack([256, 0, 300]))
        gif.frame((0, 0, 2, 2), [0, 0, 0, 0])
        expectCode(.corruptImage) { try coder.decode(gif.data).decodingAllFrames() }
        let image = try coder.decode(gif.data) { $0.allowsPartialImage = true }
        let whole = try coder.decode(twoFrames().data).frames
        #expect(image.frames.count == 4 && Array(image.frames.prefix(2)) == whole)
        #expect(image.frames[2].pixels == whole[1].pixels)
        let last = rows(image.frames[3].pixels)
        #expect(last[0][0] == rows(whole[0].pixels)[0][0])
    }

    @Test("A frame without width or height changes nothing, and loses no other frame")
    func emptyFrame() throws {
        var gif = twoFrames()
        gif.frame((0, 0, 0, 2), [], delay: 7)
        gif.frame((1, 1, 1, 0), [])
        gif.frame((0, 0, 2, 2), [0, 0, 0, 0])
        let image = try coder.decode(gif.data).decodingAllFrames()
        let whole = try coder.decode(twoFrames().data).frames
        #expect(!image.isPartial && image.frames.count == 5 && Array(image.frames.prefix(2)) == whole)
        #expect(image.frames[2].pixels == whole[1].pixels && image.frames[3].pixels == whole[1].pixels)
        #expect(image.frames[2].duration == .milliseconds(70))
        #expect(rows(image.frames[4].pixels)[1][1] == red)

        var still = TestGIF(2, 2)
        still.frame((0, 0, 0, 2), [])
        expectCode(.corruptImage) { try coder.decode(still.data) }
    }

    @Test("A still image has the rows before its damage where a part is allowed", .capability("3.8"))
    func damagedStill() throws {
        var gif = TestGIF(2, 2)
        gif.frame((0, 0, 2, 2), [], codes: TestGIF.pack([256, 1, 1, 1, 300]))
        expectCode(.corruptImage) { try coder.decode(gif.data) }
        let image = try coder.decode(gif.data) { $0.allowsPartialImage = true }
        #expect(image.isPartial && !image.isAnimated)
        #expect(rows(image.pixels)[0] == [green, green] && rows(image.pixels)[1][0].w == 0)
    }

    @Test(
        "A damaged first frame is transparent, and if all are damaged, the animation is", .capability("COD-44"))
    func damagedFirstFrame() throws {
        let damaged = TestGIF.pack([256, 0, 300])
        var gif = TestGIF(2, 2)
        gif.frame((0, 0, 2, 2), [], codes: damaged)
        gif.frame((0, 0, 2, 2), [1, 1, 1, 1])
        let image = try coder.decode(gif.data) { $0.allowsPartialImage = true }
        #expect(image.isPartial && image.hasAlpha && image.frames.count == 2)
        #expect(rows(image.frames[0].pixels).joined().allSatisfy { $0.w == 0 })
        #expect(rows(image.frames[1].pixels).joined().allSatisfy { $0 == green })
        expectCode(.corruptImage) {
            try coder.decode(gif.data) {
                $0.allowsPartialImage = true
                $0.firstFrameOnly = true
            }
        }
        var worse = TestGIF(2, 2)
        for _ in 0..<2 { worse.frame((0, 0, 2, 2), [], codes: damaged) }
        expectCode(.corruptImage) { try coder.decode(worse.data) { $0.allowsPartialImage = true }.decodingAllFrames() }

        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        for byte in gif.data {
            try decoder.append(Data([byte]))
            _ = try? decoder.preview()
        }
        expectCode(.corruptImage) { try decoder.finish() }
    }
}
