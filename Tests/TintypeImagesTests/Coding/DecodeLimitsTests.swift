import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Limits of decoding", .timeLimited)
struct DecodeLimitsTests {
    private func code(_ limits: DecodeLimits, _ width: Int, _ height: Int, frames: Int = 1) -> ImageError.Code? {
        do throws(ImageError) {
            let size = PixelSize(width: width, height: height)
            try limits.check(size: size, output: PixelSize(width: 1, height: 1), frameCount: frames)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Long sides, many frames, and frames of a large canvas are refused", .capability("COD-60"))
    func bounds() {
        let limits = DecodeLimits()
        #expect(code(limits, 1 << 20, 1) == nil && code(limits, 1, 1 + 1 << 20) == .limitExceeded)
        #expect(code(limits, 1 << 27, 1) == .limitExceeded)
        #expect(code(limits, 10, 10, frames: 10_000) == nil && code(limits, 10, 10, frames: 10_001) == .limitExceeded)
        #expect(code(limits, 1 << 14, 1 << 14, frames: 8) == nil)
        #expect(code(limits, 1 << 14, 1 << 14, frames: 9) == .limitExceeded)
        var open = limits
        open.maximumAnimationPixels = .max
        open.maximumSide = .max
        open.maximumPixels = .max
        open.maximumFrames = .max
        #expect(code(open, 1 << 14, 1 << 14, frames: 9) == nil)
        #expect(code(open, 10, 10, frames: 1 << 20) == nil && code(open, 10, 10, frames: 1 + 1 << 20) == .limitExceeded)
        #expect(code(open, .max, .max, frames: .max) == .limitExceeded)
    }
}
