import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Pixels per point", .timeLimited)
struct ImageScaleTests {
    @Test(
        "Names tell the scale by their last part", .capability("MET-24"),
        arguments: [
            ("photo@2x.png", 2), ("/a/b/photo@3x.jpg", 3), ("https://a.org/photo@2x.png?w=1#x", 2),
            ("https://a.org/photo%402x.png", 2), ("photo%403x.webp", 3), ("photo.png", 1), ("photo@2x", 1),
            ("@2x.png", 1), ("photo@4x.png", 1), ("photo@2x.d/photo.png", 1), ("https://a.org/p.png?n=photo@2x.png", 1),
            ("photo2x.png", 1), ("", 1), ("photo@2x.", 1), ("a@2x.b@3x.png", 3),
        ] as [(String, Double)])
    func names(name: String, scale: Double) {
        #expect(Image.scale(ofName: name) == scale)
    }

    private static let scales: [(Double, Double)] = [
        (2, 2), (0.5, 1), (0, 1), (-3, 1), (.nan, 1), (.infinity, 1), (-.infinity, 1), (1e300, 1e300),
    ]

    @Test("A scale that no image can have counts as 1, however it is set")
    func invalidScales() throws {
        let size = PixelSize(width: 2, height: 2)
        let info = ImageInfo(format: .png, size: size, hasAlpha: false)
        for (scale, expected) in Self.scales {
            #expect(info.properties(DecodeOptions(scale: scale)).scale == expected)
            #expect(try Image(size: size, scale: scale) { _ in }.scale == expected)
        }
    }

    @Test("An image gets the scale of a name, with all its frames and all that is known of it", .capability("MET-24"))
    func images() throws {
        let frames = try (1...3).map { index in
            ImageFrame(
                pixels: try MutablePixelBuffer(size: PixelSize(width: 2, height: 2), cleared: true).freeze(),
                duration: .milliseconds(index * 20))
        }
        var properties = Image.Properties()
        properties.loopCount = 4
        properties.format = .gif
        properties.metadata.exif = .init([1])
        let image = try #require(Image(frames: frames, properties: properties))
        let scaled = image.scaled(forName: "a@3x.gif")
        #expect(scaled.scale == 3 && scaled.frames == frames && scaled.size == image.size)
        #expect(scaled.with { $0.scale = 1 }.properties == properties)
        #expect(zip(scaled.frames, frames).allSatisfy { $0.pixels === $1.pixels })
        #expect(image.scaled(forName: "a.gif").isIdentical(to: image))
        var changed = scaled
        for (scale, expected) in Self.scales {
            changed.scale = scale
            #expect(changed.scale == expected && changed.frames == frames)
            #expect(changed.animation?.poster.scale == expected && changed.loopCount == 4)
            #expect(changed.animation?.poster.pixels === changed.pixels && changed.animation?.loopCount == 4)
        }
        #expect(scaled.scale == 3, "a copy keeps its own")
        let small = try [image, scaled].map { try $0.transformed(.resize(width: 1, height: 1, mode: .fill)) }
        #expect(small.map { $0.animation?.poster.scale } == [1, 3])
    }
}
