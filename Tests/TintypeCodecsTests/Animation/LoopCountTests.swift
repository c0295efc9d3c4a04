import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Loop counts of all formats", .timeLimited)
struct LoopCountTests {
    private func animation(_ plays: Int) throws -> Image {
        let pixels = try RasterSamples.gradient(8, 8).pixels
        let other = try RasterSamples.pixels(8, 8) { x, y in [UInt8(y * 30), 0, UInt8(x * 30), 255] }
        var properties = Image.Properties()
        properties.loopCount = plays
        return try #require(
            Image(
                frames: [pixels, other].map { ImageFrame(pixels: $0, duration: .milliseconds(100)) },
                properties: properties))
    }

    @Test(
        "An animation is played as often after each conversion", .capability("COD-41", "COD-42"),
        arguments: WritableFormats.animated, WritableFormats.animated)
    func conversions(from: ImageFormat, to: ImageFormat) throws {
        for plays in [0, 1, 2, 3, 7] {
            let first = try WritableFormats.decode(WritableFormats.encode(animation(plays), as: from))
            #expect(first.loopCount == plays)
            let second = try WritableFormats.encode(first, as: to)
            #expect(try WritableFormats.decode(second).loopCount == plays)
        }
    }

    @Test(
        "Files state what their formats say: repetitions in GIF, plays in WebP and PNG", .capability("COD-41", "COD-42")
    )
    func statements() throws {
        for plays in [2, 4] {
            let gif = [UInt8](try WritableFormats.encode(animation(plays), as: .gif))
            let name = try #require(gif.firstRange(of: Array("NETSCAPE2.0".utf8)))
            #expect(Array(gif[name.upperBound..<name.upperBound + 4]) == [3, 1, UInt8(plays - 1), 0])
            let webp = [UInt8](try WritableFormats.encode(animation(plays), as: .webp))
            let control = try #require(webp.firstRange(of: Array("ANIM".utf8)))
            #expect(webp[control.upperBound + 8] == UInt8(plays))
            let png = [UInt8](try WritableFormats.encode(animation(plays), as: .png))
            let chunk = try #require(png.firstRange(of: Array("acTL".utf8)))
            #expect(png[chunk.upperBound + 7] == UInt8(plays))
        }
        #expect(
            [UInt8](try WritableFormats.encode(animation(1), as: .gif)).firstRange(of: Array("NETSCAPE2.0".utf8)) == nil
        )
    }
}
