import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Sizes", .timeLimited)
struct PixelSizeTests {
    private func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    @Test("Fitting into a box, with and without growing and keeping the shape", .capability("COD-32"))
    func scaled() {
        let image = size(100, 200)
        #expect(image.scaled(into: size(150, 150)) == size(75, 150))
        #expect(size(1500, 1000).scaled(into: size(500, 500)) == size(500, 333), "the nearest, not the next")
        #expect(size(1500, 1001).scaled(into: size(500, 500)) == size(500, 334))
        #expect(size(301, 100).scaled(into: size(100, 100)) == size(100, 33))
        #expect(size(301, 1).scaled(into: size(100, 100)) == size(100, 1), "at least 1")
        #expect(image.scaled(into: size(300, 300)) == image)
        #expect(image.scaled(into: size(300, 300), upscaling: true) == size(150, 300))
        #expect(image.scaled(into: size(150, 150), preservingAspectRatio: false) == size(100, 150))
        #expect(image.scaled(into: size(150, 150), preservingAspectRatio: false, upscaling: true) == size(150, 150))
        #expect(image.scaled(into: size(0, 0)) == image)
        #expect(image.scaled(into: size(0, 150)) == image)
        #expect(size(0, 200).scaled(into: size(150, 150)) == size(0, 200))
    }

    @Test("A large photograph in a small box", .capability("COD-30"))
    func thumbnails() {
        #expect(size(5_250, 3_450).scaled(into: size(400, 300)) == size(400, 263))
        #expect(size(5_250, 3_450).scaled(into: size(4_000, 4_000)) == size(4_000, 2_629))
        #expect(size(10_000, 1).scaled(into: size(100, 100)) == size(100, 1))
        #expect(size(.max, .max).scaled(into: size(100, 100)).width <= 100)
        #expect(size(100, 200).scaled(into: size(.max, .max)) == size(100, 200))
        #expect(size(100, 200).scaled(into: size(.max, .max), upscaling: true) == size(.max / 2 + 1, .max))
    }

    @Test("A size in a box never exceeds it, and one side fills it", arguments: 0..<20)
    func property(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<500 {
            let image = size(Int.random(in: 1...9_000, using: &random), Int.random(in: 1...9_000, using: &random))
            let box = size(Int.random(in: 1...2_000, using: &random), Int.random(in: 1...2_000, using: &random))
            let result = image.scaled(into: box)
            #expect(result.width <= box.width && result.height <= box.height || result == image, "\(image) in \(box)")
            #expect(
                result == image && image.width <= box.width && image.height <= box.height || result.width == box.width
                    || result.height == box.height, "\(image) in \(box)")
            #expect(!result.isEmpty)
        }
    }

    @Test("A size by bytes", .capability("COD-33"))
    func bytes() {
        #expect(size(1_000, 1_000).scaled(toBytes: 4_000_000) == size(1_000, 1_000))
        #expect(size(2_000, 2_000).scaled(toBytes: 4_000_000) == size(1_000, 1_000))
        #expect(size(2_000, 2_000).scaled(toBytes: 4_000_000, frames: 4) == size(500, 500))
        #expect(size(2_000, 1_000).scaled(toBytes: 1) == size(1, 1))
        #expect(size(0, 0).scaled(toBytes: 100) == size(1, 1))
        let wide = size(4_000, 1_000).scaled(toBytes: 1_000_000)
        #expect(wide.pixelCount <= 250_000 && wide == size(1_000, 250))
    }

    @Test("A size by bytes keeps the limit for any shape, however long", .capability("COD-33", "COD-17", "D12"))
    func bytesOfLongShapes() {
        #expect(size(1, 100_000).scaled(toBytes: 400) == size(1, 100))
        #expect(size(100_000, 1).scaled(toBytes: 400) == size(100, 1))
        #expect(size(10, 100_000).scaled(toBytes: 4_000) == size(1, 1_000))
        #expect(size(.max, .max).scaled(toBytes: 4) == size(1, 1))
        var random = SeededRandom(seed: 33)
        for _ in 0..<2_000 {
            func side() -> Int { 1 << Int.random(in: 0...20, using: &random) + Int.random(in: 0...9, using: &random) }
            let (image, pixels) = (size(side(), side()), Int.random(in: 1...100_000, using: &random))
            let result = image.scaled(toBytes: pixels * 4)
            #expect(!result.isEmpty && result.pixelCount <= pixels, "\(image) in \(pixels)")
            #expect(result.width <= image.width && result.height <= image.height, "\(image) in \(pixels)")
        }
    }

    @Test("The product of sides that does not fit is the largest number")
    func overflow() { #expect(size(.max, 2).pixelCount == .max) }
}
