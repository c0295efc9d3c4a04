import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Images", .timeLimited)
struct ImageTests {
    private func pixels(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try MutablePixelBuffer(size: PixelSize(width: width, height: height), cleared: true).freeze()
    }

    @Test(
        "An image weighs what its rows take, and frames that share pixels weigh once", .capability("MET-13", "AFC-03"))
    func cost() throws {
        let one = try pixels(10, 3)
        #expect(Image(pixels: one).memoryCost == 64 * 3)
        let described = Image(pixels: one).with {
            $0.metadata = ImageMetadata(exif: Data(count: 10), xmp: Data(count: 1_000))
            $0.colorSpace = ColorSpace(name: "own", profile: Data(count: 100))
        }
        #expect(described.memoryCost == 64 * 3 + 1_110)
        let other = try pixels(10, 3)
        let frames = [one, other, one, one].map { ImageFrame(pixels: $0, duration: .milliseconds(20)) }
        let animation = try #require(Image(frames: frames))
        #expect(animation.memoryCost == 2 * 64 * 3)
        #expect(animation.duration == .milliseconds(80))
    }

    @Test(
        "One frame is a still image, more are an animation, and none is no image",
        .capability("MET-02", "MET-03", "COD-45"))
    func frames() throws {
        let one = try pixels(2, 2)
        #expect(!Image(pixels: one).isAnimated)
        #expect(Image(frames: []) == nil)
        #expect(Image(frames: [ImageFrame(pixels: one), ImageFrame(pixels: try pixels(2, 3))]) == nil)
        let two = try #require(Image(frames: [ImageFrame(pixels: one), ImageFrame(pixels: one)]))
        #expect(two.isAnimated)
        #expect(two.firstFrame.frames.count == 1)
        #expect(two.firstFrame.pixels == one)
    }

    @Test("Frames last from no time to a day, and in an animation 100 ms in place of no time", .capability("COD-43"))
    func durations() throws {
        let one = try pixels(2, 2)
        let stated: [Duration] = [.seconds(-1), .zero, .days(1), .seconds(Int64.max)]
        let frames = stated.map { ImageFrame(pixels: one, duration: $0) }
        let expected: [Duration] = [.zero, .zero, .days(1), .days(1)]
        #expect(frames.map(\.duration) == expected)
        let animation = try #require(Image(frames: frames)?.animation)
        let shown: [Duration] = [.milliseconds(100), .milliseconds(100), .days(1), .days(1)]
        #expect(animation.frameDurations == shown && animation.info.frameDurations == shown)
        #expect(Image(animation).frames.map(\.duration) == shown)
    }

    @Test("A thumbnail is one only if it is smaller than its source", .capability("MET-08", "D24"))
    func thumbnail() throws {
        let image = Image(pixels: try pixels(4, 4))
        #expect(!image.isThumbnail)
        #expect(!image.with { $0.sourceSize = PixelSize(width: 4, height: 4) }.isThumbnail)
        #expect(image.with { $0.sourceSize = PixelSize(width: 40, height: 40) }.isThumbnail)
        #expect(image.with { $0.sourceSize = PixelSize(width: 4, height: 40) }.isThumbnail, "smaller in one side")
        #expect(!image.with { $0.sourceSize = PixelSize(width: 2, height: 2) }.isThumbnail, "larger than its source")
        #expect(!image.with { $0.sourceSize = PixelSize(width: 2, height: 40) }.isThumbnail, "larger in one side")
    }

    @Test("Delays under 11 ms are played as 100 ms", .capability("COD-43"))
    func timing() {
        #expect(FrameTiming.played(.zero) == .milliseconds(100))
        #expect(FrameTiming.played(.milliseconds(10)) == .milliseconds(100))
        #expect(FrameTiming.played(.milliseconds(11)) == .milliseconds(11))
        #expect(FrameTiming.played(.seconds(60)) == .seconds(60))
    }
}
