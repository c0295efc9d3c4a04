import Foundation
import Testing
import TintypeImages
import TintypeTesting

/// Small pictures that tests draw for themselves.
enum RasterSamples {
    static func pixels(
        _ width: Int, _ height: Int, _ color: (_ x: Int, _ y: Int) -> SIMD4<UInt8>
    ) throws -> PixelBuffer {
        let buffer = try MutablePixelBuffer(size: PixelSize(width: width, height: height))
        for y in 0..<height {
            let row = buffer.row(y)
            for x in 0..<width { row.storeBytes(of: color(x, y), toByteOffset: x * 4, as: SIMD4<UInt8>.self) }
        }
        return buffer.freeze()
    }

    static func image(
        _ width: Int, _ height: Int, hasAlpha: Bool = false, _ color: (_ x: Int, _ y: Int) -> SIMD4<UInt8>
    ) throws -> Image {
        var properties = Image.Properties()
        properties.hasAlpha = hasAlpha
        return Image(pixels: try pixels(width, height, color), properties: properties)
    }

    /// Smooth colors, as a photograph has.
    static func gradient(_ width: Int, _ height: Int) throws -> Image {
        try image(width, height) { x, y in
            SIMD4(UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8((x + y) * 255 / (width + height)), 255)
        }
    }

    /// Every alpha from 0 on, premultiplied.
    static func translucent(_ width: Int, _ height: Int) throws -> Image {
        try image(width, height, hasAlpha: true) { x, y in
            let alpha = (x * 7 + y * 13) % 256
            return SIMD4(UInt8(alpha), UInt8(alpha * x / width), UInt8(alpha / 2), UInt8(alpha))
        }
    }

    /// Pixels with every alpha, premultiplied as a decoder would: color times alpha, rounded.
    static func translucentNoise(_ width: Int, _ height: Int, seed: UInt64) throws -> PixelBuffer {
        var generator = SeededRandom(seed: seed)
        return try pixels(width, height) { _, _ in
            let alpha = UInt8.random(in: 0...255, using: &generator)
            func component() -> UInt8 { UInt8((Int.random(in: 0...255, using: &generator) * Int(alpha) + 127) / 255) }
            return SIMD4(component(), component(), component(), alpha)
        }
    }

    static let red = SIMD4<UInt8>(255, 0, 0, 255)
    static let green = SIMD4<UInt8>(0, 255, 0, 255)
    static let blue = SIMD4<UInt8>(0, 0, 255, 255)
    static let white = SIMD4<UInt8>(255, 255, 255, 255)
    static let clear = SIMD4<UInt8>.zero

    /// Four quarters: red and green above blue and white.
    static func quarters(_ width: Int, _ height: Int) throws -> Image {
        try image(width, height) { x, y in
            switch (x < width / 2, y < height / 2) {
            case (true, true): red
            case (false, true): green
            case (true, false): blue
            case (false, false): white
            }
        }
    }

    /// The nearest of the colors of ``quarters(_:_:)`` in the middle of each quarter, in the order of reading: `RGBW`.
    static func corners(_ pixels: PixelBuffer) -> String {
        [(1, 1), (3, 1), (1, 3), (3, 3)].map { x, y in
            let color = pixels[pixels.width * x / 4, pixels.height * y / 4]
            let named = [("R", red), ("G", green), ("B", blue), ("W", white)]
            return named.min { distance($0.1, color) < distance($1.1, color) }?.0 ?? "?"
        }.joined()
    }

    /// What ``corners(_:)`` is for a stored `RGBW` under each orientation.
    static let upright: [Orientation: String] = [
        .up: "RGBW", .upMirrored: "GRWB", .down: "WBGR", .downMirrored: "BWRG", .leftMirrored: "RBGW", .right: "BRWG",
        .rightMirrored: "WGBR", .left: "GWRB",
    ]

    static func distance(_ a: SIMD4<UInt8>, _ b: SIMD4<UInt8>) -> Int {
        (0..<4).map { abs(Int(a[$0]) - Int(b[$0])) }.max() ?? 0
    }

    /// Peak signal-to-noise ratio over the three colors, in decibels.
    static func psnr(_ a: PixelBuffer, _ b: PixelBuffer) -> Double {
        var sum = 0.0
        for y in 0..<a.height {
            for x in 0..<a.width {
                for component in 0..<3 {
                    let difference = Double(a[x, y][component]) - Double(b[x, y][component])
                    sum += difference * difference
                }
            }
        }
        let mean = sum / Double(a.size.pixelCount * 3)
        return mean == 0 ? .infinity : 10 * log10(255 * 255 / mean)
    }

    /// An Exif block that states an orientation and nothing else.
    static func exif(_ orientation: Int, littleEndian: Bool) -> [UInt8] {
        let value = UInt8(orientation)
        return littleEndian
            ? [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0]
            : [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }
}

extension Data {
    /// A copy with some bytes changed.
    func damaged(_ count: Int, from start: Int = 0, using generator: inout SeededRandom) -> Data {
        var copy = Data(self)
        for _ in 0..<count {
            let index = Int.random(in: start..<copy.count, using: &generator)
            copy[index] ^= UInt8.random(in: 1...255, using: &generator)
        }
        return copy
    }
}

/// Expects an ``ImageError`` with a code.
func expectCode(
    _ code: ImageError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) {
    #expect(
        sourceLocation: sourceLocation, performing: { _ = try body() }, throws: { ($0 as? ImageError)?.code == code })
}

func makeImage(_ pixels: PixelBuffer, hasAlpha: Bool = true) -> Image {
    Image(pixels: pixels).with { $0.hasAlpha = hasAlpha }
}

let red = RasterSamples.red
let green = RasterSamples.green
let blue = RasterSamples.blue
let white = RasterSamples.white
let clear = RasterSamples.clear
