import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

@Suite("Drawing", .timeLimited)
struct DrawingSurfaceTests {
    private let size = PixelSize(width: 10, height: 6)

    private func isClose(_ pixel: SIMD4<Float>, _ expected: SIMD4<Float>) -> Bool {
        let difference = pixel - expected
        return (difference * difference).sum() < 0.004 * 0.004 * 4
    }

    @Test(
        "An image has the size, the scale and the format that were asked for; without drawing it is clear, or black",
        .capability("MET-25")
    )
    func formats() throws {
        for pixelFormat in PixelFormat.allCases {
            let clear = try Image(size: size, scale: 2, pixelFormat: pixelFormat) { _ in }
            #expect(clear.size == size && clear.scale == 2 && clear.hasAlpha && clear.pixels.format == pixelFormat)
            #expect(clear.isHighDynamicRange == (pixelFormat == .rgbaFloat16))
            let black = try Image(size: size, isOpaque: true, pixelFormat: pixelFormat) { _ in }
            #expect(!black.hasAlpha)
            for (x, y) in [(0, 0), (9, 5), (4, 3)] {
                #expect(clear.pixels.component(x: x, y: y) == .zero)
                #expect(black.pixels.component(x: x, y: y) == SIMD4(0, 0, 0, 1))
            }
        }
        #expect(throws: ImageError.self) { try Image(size: .zero) { _ in } }
        #expect(try Image(size: size, scale: 0.5) { _ in }.scale == 1)
    }

    @Test("Colors are laid over each other, in all formats", .capability("MET-25"), arguments: PixelFormat.allCases)
    func fills(pixelFormat: PixelFormat) throws {
        let image = try Image(size: size, pixelFormat: pixelFormat) { surface in
            surface.fill(PixelColor(red: 1, green: 0.5, blue: 0))
            surface.fill(
                PixelColor(red: 0, green: 0, blue: 1, alpha: 0.5), x: 2, y: 1, size: PixelSize(width: 3, height: 2))
            surface.replace(with: PixelColor.white.withAlpha(0.25), x: 8)
            surface.replace(x: 9, y: 5)
        }
        #expect(isClose(image.pixels.component(x: 0, y: 0), SIMD4(1, 0.5, 0, 1)))
        #expect(isClose(image.pixels.component(x: 2, y: 1), SIMD4(0.5, 0.25, 0.5, 1)))
        #expect(isClose(image.pixels.component(x: 4, y: 2), SIMD4(0.5, 0.25, 0.5, 1)))
        #expect(isClose(image.pixels.component(x: 5, y: 2), SIMD4(1, 0.5, 0, 1)))
        #expect(isClose(image.pixels.component(x: 4, y: 3), SIMD4(1, 0.5, 0, 1)))
        #expect(isClose(image.pixels.component(x: 8, y: 0), SIMD4(repeating: 0.25)))
        #expect(image.pixels.component(x: 9, y: 5) == .zero)
    }

    @Test(
        "Images are drawn at any place and size; what lies outside is left out", .capability("MET-25"),
        arguments: PixelFormat.allCases
    )
    func images(pixelFormat: PixelFormat) throws {
        let stamp = try Image(size: PixelSize(width: 4, height: 4)) { surface in
            surface.fill(PixelColor(red: 1, green: 0, blue: 0, alpha: 0.5))
            surface.replace(with: .white, size: PixelSize(width: 1, height: 1))
        }
        let plain = try Image(size: PixelSize(width: 4, height: 4)) { surface in
            surface.fill(PixelColor(red: 1, green: 0, blue: 0, alpha: 0.5))
        }
        let image = try Image(size: size, pixelFormat: pixelFormat) { surface in
            surface.fill(.black)
            try surface.draw(stamp, x: -1, y: -1)
            try surface.draw(stamp, x: 8, y: 4)
            try surface.draw(plain, x: 4, y: 2, size: PixelSize(width: 2, height: 2))
            for (x, y) in [(10, 0), (0, 6), (-4, 0), (0, -4), (.max, .max), (.min, .min)] {
                try surface.draw(stamp, x: x, y: y)
                surface.fill(.white, x: x, y: y, size: PixelSize(width: 4, height: 4))
            }
        }
        let (red, black) = (SIMD4<Float>(0.5, 0, 0, 1), SIMD4<Float>(0, 0, 0, 1))
        #expect(isClose(image.pixels.component(x: 0, y: 0), red), "the white corner is outside")
        #expect(isClose(image.pixels.component(x: 2, y: 2), red) && isClose(image.pixels.component(x: 3, y: 2), black))
        #expect(isClose(image.pixels.component(x: 8, y: 4), SIMD4(repeating: 1)))
        #expect(isClose(image.pixels.component(x: 9, y: 5), red))
        #expect(isClose(image.pixels.component(x: 5, y: 3), red) && isClose(image.pixels.component(x: 6, y: 3), black))
    }

    @Test(
        "Of an image that is drawn larger than the surface, only the visible part is made, and it is the same",
        arguments: PixelFormat.allCases)
    func clipping(pixelFormat: PixelFormat) throws {
        var generator = SeededRandom(seed: 12)
        let noise = try Image(size: PixelSize(width: 12, height: 9), pixelFormat: pixelFormat) {
            for y in 0..<9 {
                for x in 0..<12 {
                    let color = PixelColor(
                        red: .random(in: 0...1, using: &generator), green: .random(in: 0...1, using: &generator),
                        blue: .random(in: 0...1, using: &generator), alpha: .random(in: 0...1, using: &generator))
                    $0.replace(with: color, x: x, y: y, size: PixelSize(width: 1, height: 1))
                }
            }
        }
        for area in [
            PixelSize(width: 40, height: 30), PixelSize(width: 11, height: 40), PixelSize(width: 30, height: 7),
        ] {
            let whole = try Image(size: area, pixelFormat: pixelFormat) {
                try $0.draw(noise, size: area)
            }
            for (x, y) in [(-17, -11), (-3, -1), (4, -2), (-2, 3)] {
                let part = try Image(size: size, pixelFormat: pixelFormat) {
                    try $0.draw(noise, x: x, y: y, size: area)
                }
                for row in 0..<size.height {
                    for column in 0..<size.width {
                        let isCovered = 0..<area.width ~= column - x && 0..<area.height ~= row - y
                        let expected = isCovered ? whole.pixels.component(x: column - x, y: row - y) : .zero
                        #expect(part.pixels.component(x: column, y: row) == expected)
                    }
                }
            }
        }
        // Memory for the whole area is not to be had.
        let huge = PixelSize(width: 1 << 40, height: 1 << 40)
        let part = try Image(size: size, pixelFormat: pixelFormat) {
            try $0.draw(noise, x: -(1 << 39), y: -(1 << 39), size: huge)
        }
        #expect(part.pixels.component(x: 0, y: 0) == part.pixels.component(x: 9, y: 5))
    }

    @Test("Rows and pixels are written by hand", .capability("MET-25"))
    func rows() throws {
        let image = try Image(size: size) { surface in
            for y in 0..<surface.size.height {
                surface.withRow(y) { row in
                    #expect(row.count == 40)
                    for x in 0..<10 {
                        row.storeBytes(
                            of: SIMD4(UInt8(x), UInt8(y), 0, 255), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
                    }
                }
            }
            surface[3, 2] = SIMD4(9, 9, 9, 9)
            let (changed, next) = (surface[3, 2], surface[4, 2])
            #expect(changed == SIMD4(9, 9, 9, 9) && next == SIMD4(4, 2, 0, 255))
        }
        #expect(image.pixels[9, 5] == SIMD4(9, 5, 0, 255) && image.pixels[3, 2] == SIMD4(9, 9, 9, 9))
        #expect(image.format == nil && !image.isAnimated)
        // Half the way to clear, and then on black.
        let opaque = try Image(size: size, isOpaque: true) { surface in
            surface.replace(with: PixelColor.white.withAlpha(0.5))
        }
        #expect(opaque.pixels[1, 1] == SIMD4(128, 128, 128, 255))
    }

    @Test(
        "Laying over is exact to half a step, whatever the pixels", .capability("MET-25"),
        arguments: [PixelFormat.rgba8, .rgba16])
    func exact(pixelFormat: PixelFormat) throws {
        var generator = SeededRandom(seed: 3)
        func noise() throws -> Image {
            try Image(size: size, pixelFormat: pixelFormat) { surface in
                for y in 0..<6 {
                    for x in 0..<10 {
                        let random = (0..<4).map { _ in Float.random(in: 0...1, using: &generator) }
                        let color = PixelColor(red: random[0], green: random[1], blue: random[2], alpha: random[3])
                        surface.replace(with: color, x: x, y: y, size: PixelSize(width: 1, height: 1))
                    }
                }
            }
        }
        let (under, over) = (try noise(), try noise())
        let image = try Image(size: size, pixelFormat: pixelFormat) { surface in
            try surface.draw(under)
            try surface.draw(over)
        }
        let half = 0.51 / Float(pixelFormat == .rgba8 ? 255 : 65_535)
        for y in 0..<6 {
            for x in 0..<10 {
                let top = over.pixels.component(x: x, y: y)
                let expected = top + under.pixels.component(x: x, y: y) * (1 - top.w)
                let difference = image.pixels.component(x: x, y: y) - expected
                #expect((0..<4).allSatisfy { abs(difference[$0]) <= half })
            }
        }
    }

    @Test("Floating point holds what is brighter than white, and other formats hold white", .capability("MET-25"))
    func bright() throws {
        let color = PixelColor(red: 3, green: -0.5, blue: .nan)
        for pixelFormat in PixelFormat.allCases {
            let pixel = try Image(size: size, pixelFormat: pixelFormat) { $0.fill(color) }
                .pixels.component(x: 0, y: 0)
            #expect(pixel == (pixelFormat == .rgbaFloat16 ? SIMD4(3, -0.5, 0, 1) : SIMD4(1, 0, 0, 1)))
        }
    }

    @Test("A color whose alpha is not a number is clear", arguments: PixelFormat.allCases)
    func noAlpha(pixelFormat: PixelFormat) throws {
        let color = PixelColor(red: 0.25, green: 0.5, blue: 1)
        let plain = try Image(size: size, pixelFormat: pixelFormat) { $0.fill(color) }
        let image = try Image(size: size, pixelFormat: pixelFormat) { surface in
            surface.fill(color)
            surface.fill(PixelColor.white.withAlpha(.nan))
        }
        #expect(image.pixels == plain.pixels)
    }

    @Test("What the drawing throws is thrown", .capability("MET-25"))
    func errors() {
        struct Tired: Error {}
        #expect(throws: Tired.self) { try Image(size: size) { _ in throw Tired() } }
    }
}
