import Foundation
import Testing
import TintypeImages
import TintypeTesting

/// Pictures of more than 8 bits that tests draw for themselves.
enum DeepSamples {
    static func pixels(
        _ width: Int, _ height: Int, _ format: PixelFormat = .rgba16, _ color: (_ x: Int, _ y: Int) -> SIMD4<UInt16>
    ) throws -> PixelBuffer {
        let buffer = try MutablePixelBuffer(size: PixelSize(width: width, height: height), format: format)
        for y in 0..<height {
            let row = buffer.row(y)
            for x in 0..<width { row.storeBytes(of: color(x, y), toByteOffset: x * 8, as: SIMD4<UInt16>.self) }
        }
        return buffer.freeze()
    }

    /// Numbers of so many bits as they are in 16, in any order.
    static func noise(_ width: Int, _ height: Int, bits: Int = 16, hasAlpha: Bool, seed: UInt64) throws -> Image {
        var generator = SeededRandom(seed: seed)
        let most = (1 << bits) - 1
        func number() -> UInt64 {
            UInt64((Int.random(in: 0...most, using: &generator) * 65_535 + most / 2) / most)
        }
        let pixels = try pixels(width, height) { _, _ in
            let alpha = hasAlpha ? number() : 65_535
            func component() -> UInt16 { UInt16((number() * alpha + 32_767) / 65_535) }
            return SIMD4(component(), component(), component(), UInt16(alpha))
        }
        return image(pixels, hasAlpha: hasAlpha, bits: bits)
    }

    /// Smooth colors that need more than 8 bits.
    static func gradient(_ width: Int, _ height: Int, bits: Int = 16) throws -> Image {
        let pixels = try pixels(width, height) { x, y in
            SIMD4(
                UInt16(x * 65_535 / width), UInt16(y * 65_535 / height), UInt16((x + y) * 65_535 / (width + height)),
                65_535)
        }
        return image(pixels, hasAlpha: false, bits: bits)
    }

    static func image(_ pixels: PixelBuffer, hasAlpha: Bool, bits: Int = 16) -> Image {
        Image(pixels: pixels).with {
            $0.hasAlpha = hasAlpha
            $0.bitsPerComponent = bits
        }
    }

    static func half(_ color: SIMD4<Float>) -> SIMD4<UInt16> {
        SIMD4(
            Float16(color.x).bitPattern, Float16(color.y).bitPattern, Float16(color.z).bitPattern,
            Float16(color.w).bitPattern)
    }

    /// Half-precision pixels in extended sRGB.
    static func bright(
        _ width: Int, _ height: Int, bits: Int = 10, _ color: (_ x: Int, _ y: Int) -> SIMD4<Float>
    ) throws -> Image {
        image(try pixels(width, height, .rgbaFloat16) { half(color($0, $1)) }, hasAlpha: false, bits: bits).with {
            $0.colorSpace = .extendedSRGB
            $0.isHighDynamicRange = true
        }
    }

    /// Grays from black to twice white's number, which is 1,010 nits.
    static func ramp(_ width: Int, _ height: Int) throws -> Image {
        try bright(width, height) { x, y in
            let level = Float(x + y) / Float(width + height) * 2
            return SIMD4(level, level, level, 1)
        }
    }

    static func words(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> SIMD4<UInt16> {
        pixels.withRow(y) { $0.loadUnaligned(fromByteOffset: x * 8, as: SIMD4<UInt16>.self) }
    }

    /// The largest difference of any component, in units of the integers' range.
    static func difference(_ a: PixelBuffer, _ b: PixelBuffer) -> Float {
        var largest: Float = 0
        for y in 0..<a.height {
            for x in 0..<a.width {
                let difference = a.component(x: x, y: y) - b.component(x: x, y: y)
                largest = max(largest, difference.max(), -difference.min())
            }
        }
        return largest
    }
}
