import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("Animations with a wrong hint", .timeLimited)
struct WrongHintTests {
    @Test(
        "A wrong hint costs no frame", .capability("COD-15"), arguments: FormatSample.animated,
        [ImageFormat.png, .gif, .webp, .jpeg])
    func frames(sample: FormatSample, hint: ImageFormat) async throws {
        var options = DecodeOptions()
        options.formatHint = hint
        let animation = try #require(try WritableFormats.coders.decode(sample.data(), options: options).animation)
        #expect(animation.frameCount == FormatSample.frameCount)
        for index in 0..<animation.frameCount { #expect(try await animation.frame(at: index) != nil) }
    }
}
