import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Images at other sizes", .timeLimited)
struct ImageScalingTests {
    private func image(frames: Int) throws -> Image {
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 40, height: 20), cleared: true).freeze()
        var properties = Image.Properties()
        properties.loopCount = 3
        properties.format = .gif
        properties.scale = 2
        properties.isPartial = true
        let all = (0..<frames).map { ImageFrame(pixels: pixels, duration: .milliseconds(10 * ($0 + 1))) }
        let image = Image(frames: all, properties: properties)
        return try #require(image)
    }

    @Test("What is known of an image stays when it gets other pixels", .capability("MET-20"))
    func properties() throws {
        let source = try image(frames: 3)
        let small = try source.resized(to: PixelSize(width: 10, height: 5))
        #expect(small.size == PixelSize(width: 10, height: 5))
        #expect(small.loopCount == 3 && small.format == .gif && small.scale == 2 && small.isPartial)
        #expect(small.frames.map(\.duration) == source.frames.map(\.duration))
        #expect(try source.resized(to: source.size).isIdentical(to: source))
        #expect(throws: ImageError.self) { try source.resized(to: .zero) }
    }

    @Test(
        "Scaled down until all frames fit into a number of bytes, and not at all if they do",
        .capability("MET-23", "COD-35"))
    func bytes() throws {
        let source = try image(frames: 2)
        let small = try source.scaledDown(toBytes: 40 * 20 * 4 * 2 / 4)
        #expect(small.size == PixelSize(width: 20, height: 10))
        #expect(try source.scaledDown(toBytes: 40 * 20 * 4 * 2).isIdentical(to: source))
        #expect(try source.scaledDown(toBytes: 0).size == PixelSize(width: 1, height: 1))
    }

    @Test("An orientation is its number in Exif, both ways", .capability("MET-26"))
    func exif() {
        for number in 1...8 { #expect(Orientation(rawValue: number)?.rawValue == number) }
        #expect(Orientation(rawValue: 0) == nil && Orientation(rawValue: 9) == nil)
    }
}
