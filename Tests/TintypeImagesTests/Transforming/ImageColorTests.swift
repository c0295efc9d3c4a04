import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Colors of images", .timeLimited)
struct ImageColorTests {
    @Test(
        "The color of a pixel isn't premultiplied, in every format", .capability("TRF-12"),
        arguments: PixelFormat.allCases)
    func point(format: PixelFormat) throws {
        let image = try Image.of(
            Grid(width: 3, height: 2) { x, y in
                let alpha = x == 2 ? 0 : 0.5
                return SIMD4(0.8 * alpha, 0.4 * alpha, Double(y) * alpha, alpha)
            }, format)
        let color = try #require(image.color(x: 1, y: 1))
        #expect(abs(color.red - 0.8) < 0.005 && abs(color.green - 0.4) < 0.005)
        #expect(abs(color.blue - 1) < 0.001 && abs(color.alpha - 0.5) < 0.005)
        #expect(image.color(x: 2, y: 0) == .clear)
        for (x, y) in [(-1, 0), (0, -1), (3, 0), (0, 2), (.max, .min)] { #expect(image.color(x: x, y: y) == nil) }
    }

    @Test("The colors of a part come row by row; a part that isn't inside has none", .capability("TRF-12"))
    func part() throws {
        let image = try Image.sample(7, 5)
        let colors = try #require(image.colors(in: PixelRect(x: 2, y: 1, width: 3, height: 2)))
        #expect(colors.count == 6)
        #expect(colors[0] == image.color(x: 2, y: 1) && colors[1] == image.color(x: 3, y: 1))
        #expect(colors[5] == image.color(x: 4, y: 2))
        for rect in [
            PixelRect(x: 5, y: 0, width: 3, height: 1), PixelRect(x: 0, y: 0, width: 0, height: 1),
            PixelRect(x: -1, y: 0, width: 2, height: 1), PixelRect(x: 0, y: 0, width: .max, height: .max),
        ] { #expect(image.colors(in: rect) == nil) }
    }

    @Test("The average counts each pixel by its opacity", .capability("TRF-12"), arguments: PixelFormat.allCases)
    func average(format: PixelFormat) throws {
        let image = try Image.of(
            Grid(width: 4, height: 4) { x, _ in x == 0 ? SIMD4(1, 0, 0, 1) : x == 1 ? SIMD4(0, 0, 1, 1) : .zero },
            format)
        let color = try image.averageColor()
        #expect(abs(color.red - 0.5) < 0.001 && color.green == 0 && abs(color.blue - 0.5) < 0.001)
        #expect(abs(color.alpha - 0.5) < 0.001)
        #expect(try Image.of(Grid(width: 2, height: 2) { _, _ in .zero }, format).averageColor() == .clear)
    }

    @Test(
        "Dominant colors are those of the areas, largest first, and the same each time", arguments: PixelFormat.allCases
    )
    func dominant(format: PixelFormat) throws {
        let areas: [(Int, SIMD4<Double>)] = [
            (50, SIMD4(0.9, 0.1, 0.1, 1)), (80, SIMD4(0.1, 0.6, 0.2, 1)), (96, SIMD4(0.1, 0.2, 0.8, 1)),
        ]
        let grid = Grid(width: 96, height: 90) { x, y in y < 30 ? .zero : areas.first { x < $0.0 }?.1 ?? .zero }
        let image = try Image.of(grid, format)
        let colors = try image.dominantColorShares()
        #expect(colors.count == 3)
        for (found, area) in zip(colors, areas.map(\.1)) {
            #expect(abs(Double(found.color.red) - area.x) < 0.03 && abs(Double(found.color.green) - area.y) < 0.03)
            #expect(abs(Double(found.color.blue) - area.z) < 0.03)
        }
        #expect(abs(colors.reduce(0) { $0 + $1.share } - 1) < 1e-9 && abs(colors[0].share - 50.0 / 96) < 0.02)
        #expect(try image.dominantColorShares() == colors)
        #expect(try image.dominantColors(count: 2).count == 2)
        #expect(try Image.of(Grid(width: 5, height: 5) { _, _ in .zero }, format).dominantColors().isEmpty)
    }

    @Test("Colors become hexadecimal strings, and come back", .capability("TRF-13"))
    func hex() throws {
        let orange = PixelColor(red: 1, green: 0.6, blue: 0.2)
        #expect(orange.hex == "#ff9933" && orange.argbHex == "#ffff9933")
        #expect(orange.withAlpha(0).hex == "#ff993300" && PixelColor.clear.argbHex == "#00000000")
        #expect(try PixelColor(hex: "#f93").hex == "#ff9933")
        #expect(try PixelColor(hex: "F938").hex == "#ff993388")
        #expect(try PixelColor(hex: "#Ff9933").hex == "#ff9933")
        #expect(try PixelColor(argbHex: "#80ff9933").hex == "#ff993380")
        #expect(PixelColor(red: .nan, green: .infinity, blue: -.infinity, alpha: 9).hex == "#00ff00")
        for value in 0...255 {
            let color = PixelColor(red: Float(value) / 255, green: 0, blue: 0, alpha: Float(255 - value) / 255)
            #expect(try PixelColor(hex: color.hex).hex == color.hex)
            #expect(try PixelColor(argbHex: color.argbHex) == color)
        }
        for text in [
            "", "#", "#12", "#12345", "#1234567", "#123456789", "ggg", "#٣٣٣", "##fff", "#fff\n",
            String(repeating: "f", count: 1_000),
        ] {
            #expect(throws: ImageError.self) { try PixelColor(hex: text) }
            #expect(throws: ImageError.self) { try PixelColor(argbHex: text) }
        }
    }
}
