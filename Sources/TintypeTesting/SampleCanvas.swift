internal import Glibc
internal import TintypeLoading

/// A color in sRGB, not premultiplied; each component from 0 to 1.
typealias SampleColor = SIMD4<Float>

/// Draws sample pictures from a function that returns the color of each pixel.
enum SampleCanvas {
    /// Draws a picture with a function that returns the color at a column and a row.
    static func draw(_ size: PixelSize, _ color: (_ x: Int, _ y: Int) -> SampleColor) throws(ImageError) -> PixelBuffer
    {
        let buffer = try MutablePixelBuffer(size: size)
        for y in 0..<size.height {
            let row = buffer.row(y)
            for x in 0..<size.width {
                row.storeBytes(of: premultiplied(color(x, y)), toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        return buffer.freeze()
    }

    /// Draws a picture in relative coordinates, so that its features have the same size at any resolution: from 0 to 1
    /// downward, and proportionally to the right.
    static func paint(
        _ size: PixelSize, _ color: (_ x: Float, _ y: Float) -> SampleColor
    ) throws(ImageError) -> PixelBuffer {
        let unit = 1 / Float(size.height)
        return try draw(size) { x, y in color((Float(x) + 0.5) * unit, (Float(y) + 0.5) * unit) }
    }

    private static func premultiplied(_ color: SampleColor) -> SIMD4<UInt8> {
        let limited = color.clamped(lowerBound: .zero, upperBound: .one)
        var scaled = limited * limited.w
        scaled.w = limited.w
        return SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(scaled * 255 + 0.5))
    }
}

// MARK: Components of pictures

func rgb(_ red: Float, _ green: Float, _ blue: Float, _ alpha: Float = 1) -> SampleColor {
    SampleColor(red, green, blue, alpha)
}

func mix(_ a: SampleColor, _ b: SampleColor, _ amount: Float) -> SampleColor {
    a + (b - a) * max(0, min(1, amount))
}

/// Returns 0 below `from`, 1 above `to`, and a smooth transition between them. The direction is reversed if `from` is larger.
func smoothstep(_ from: Float, _ to: Float, _ value: Float) -> Float {
    let t = max(0, min(1, (value - from) / (to - from)))
    return t * t * (3 - 2 * t)
}

/// Noise that is the same on every machine, and smooth between the points of a grid.
enum SampleNoise {
    /// Returns a pseudorandom number from 0 to 1.
    static func hash(_ x: Int, _ y: Int = 0) -> Float {
        var value = UInt32(truncatingIfNeeded: x) &* 0x9E37_79B1 ^ UInt32(truncatingIfNeeded: y) &* 0x85EB_CA6B
        value = (value ^ value >> 15) &* 0x2C1B_3C6D
        value = (value ^ value >> 12) &* 0x297A_2D39
        value ^= value >> 15
        return Float(value >> 8) / Float(1 << 24)
    }

    /// Returns smooth noise from 0 to 1.
    static func value(_ x: Float, _ y: Float) -> Float {
        let left = x.rounded(.down)
        let top = y.rounded(.down)
        let column = Int(left)
        let row = Int(top)
        let u = (x - left) * (x - left) * (3 - 2 * (x - left))
        let v = (y - top) * (y - top) * (3 - 2 * (y - top))
        let upper = hash(column, row) + (hash(column + 1, row) - hash(column, row)) * u
        let lower = hash(column, row + 1) + (hash(column + 1, row + 1) - hash(column, row + 1)) * u
        return upper + (lower - upper) * v
    }

    /// Returns several octaves of noise, from 0 to 1.
    static func fractal(_ x: Float, _ y: Float, octaves: Int) -> Float {
        var sum: Float = 0
        var weight: Float = 0.5
        var scale: Float = 1
        for octave in 0..<octaves {
            sum += weight * value(x * scale + Float(octave) * 17.3, y * scale + Float(octave) * 9.1)
            weight *= 0.5
            scale *= 2.03
        }
        return sum
    }
}
