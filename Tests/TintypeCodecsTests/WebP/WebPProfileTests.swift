import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("WebP profiles", .timeLimited)
struct WebPProfileTests {
    let coder = WebPCoder()

    @Test("A profile behind the pixels changes their colors, in one piece and as they arrive")
    func lateProfile() throws {
        let wide = try ProfileSamples.wide()
        let image = try RasterSamples.gradient(40, 30).with { $0.colorSpace = ColorSpace(name: "x", profile: wide) }
        let data = try coder.encode(image, as: .webp, options: EncodeOptions(lossless: true))
        let profile = try #require(data.firstRange(of: Array("ICCP".utf8)))
        let pixels = try #require(data.firstRange(of: Array("VP8L".utf8)))
        let late =
            data[..<profile.lowerBound] + data[pixels.lowerBound...] + data[profile.lowerBound..<pixels.lowerBound]
        let whole = try coder.decode(data)
        #expect(try coder.decode(Data(late)).pixels == whole.pixels)
        let decoder = try coder.progressiveDecoder(options: DecodeOptions(), context: ProcessingContext())
        for byte in late {
            try decoder.append(Data([byte]))
            _ = try decoder.preview()
        }
        #expect(try decoder.finish().pixels == whole.pixels)
    }
}
