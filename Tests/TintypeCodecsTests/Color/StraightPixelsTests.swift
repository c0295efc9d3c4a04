import TestSupport
import Testing
@testable import TintypeCodecs
import TintypeImages

@Suite("Straight pixels", .timeLimited)
struct StraightPixelsTests {
    @Test("Straight pixels have no gaps, colors that alpha doesn't dim, and 8 bits in every format")
    func straightRGBA() throws {
        // Rows of three pixels don't fill their memory.
        let pixels = try RasterSamples.pixels(3, 2) { x, y in
            x == 0 ? [100, 50, 0, 128] : x == 1 ? [0, 0, 0, 0] : [UInt8(y), 20, 30, 255]
        }
        let row: [UInt8] = [199, 100, 0, 128, 0, 0, 0, 0]
        let expected = row + [0, 20, 30, 255] + row + [1, 20, 30, 255]
        #expect(try pixels.straightRGBA() == expected)
        #expect(try pixels.converted(to: .rgba16).straightRGBA() == expected)
    }
}
