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
        let deep = try MutablePixelBuffer(size: one.size, format: .rgba16, cleared: true).freeze()
        #expect(Image(frames: [ImageFrame(pixels: one), ImageFrame(pixels: deep)]) == nil)
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
        let box = PixelSize(width: 4, height: 4)
        let image = Image(pixels: try pixels(4, 4)).with {
            $0.decodeOptions = DecodeOptions(thumbnailSize: box, preservesAspectRatio: false)
        }
        #expect(!image.isThumbnail)
        #expect(!image.with { $0.sourceSize = PixelSize(width: 4, height: 4) }.isThumbnail)
        #expect(image.with { $0.sourceSize = PixelSize(width: 40, height: 40) }.isThumbnail)
        #expect(image.with { $0.sourceSize = PixelSize(width: 4, height: 40) }.isThumbnail, "smaller in one side")
        #expect(!image.with { $0.sourceSize = PixelSize(width: 2, height: 2) }.isThumbnail, "larger than its source")
        #expect(!image.with { $0.sourceSize = PixelSize(width: 2, height: 40) }.isThumbnail, "larger in one side")
        #expect(
            image.with {
                $0.sourceSize = PixelSize(width: 40, height: 40)
                $0.decodeOptions = DecodeOptions(maximumBytes: 64)
            }.isThumbnail)
    }

    @Test("A part of a full image, or a smaller copy, is no thumbnail; a part of a thumbnail is", .capability("MET-08"))
    func partOfThumbnail() throws {
        func image(_ size: PixelSize, box: PixelSize?) throws -> Image {
            Image(pixels: try pixels(size.width, size.height)).with {
                $0.sourceSize = PixelSize(width: 40, height: 20)
                $0.decodeOptions.thumbnailSize = box
            }
        }
        let crop: any ImageTransformer = .resize(width: 4, height: 4, mode: .aspectFill)
        for box in [nil, .zero, PixelSize(width: 100, height: 100)] as [PixelSize?] {
            let full = try image(PixelSize(width: 40, height: 20), box: box)
            let part = try full.transformed(crop)
            #expect(part.isTransformed && part.sourceSize == full.sourceSize)
            #expect(try !part.isThumbnail && !full.resized(to: PixelSize(width: 10, height: 5)).isThumbnail)
        }
        // A limit that the image is within makes no thumbnail of it.
        let limited = try image(PixelSize(width: 40, height: 20), box: nil)
            .with { $0.decodeOptions.maximumBytes = .megabytes(60) }
        #expect(try !limited.transformed(crop).isThumbnail)
        let small = try image(PixelSize(width: 10, height: 5), box: PixelSize(width: 10, height: 10))
        #expect(try small.isThumbnail && small.transformed(crop).isThumbnail)
    }

    @Test("Delays under 11 ms are played as 100 ms", .capability("COD-43"))
    func timing() {
        #expect(FrameTiming.played(.zero) == .milliseconds(100))
        #expect(FrameTiming.played(.milliseconds(10)) == .milliseconds(100))
        #expect(FrameTiming.played(.milliseconds(11)) == .milliseconds(11))
        #expect(FrameTiming.played(.seconds(60)) == .seconds(60))
    }
}
