internal import Glibc

/// Conversion of premultiplied components between sRGB (IEC 61966-2-1) and linear light.
///
/// Components from 0 to 1 are read from tables, with an error below 1/100,000. Beyond, the curve continues, symmetrically below
/// 0, as in ``ColorSpace/extendedSRGB``.
enum LinearLight {
    private static let steps = 4_096

    /// The light of encoded values in equal steps, and a further step.
    private static let light: [Float] = (0...steps + 1).map { Float(decoded(Double($0) / Double(steps))) }
    /// The encoded values of light whose root grows in equal steps, because the curve is steep near black.
    private static let encodedRoots: [Float] = (0...steps + 1).map {
        let root = Double($0) / Double(steps)
        return Float(encoded(root * root))
    }

    private static func decoded(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// Returns the light of an encoded component.
    static func decode(_ value: Float) -> Float { light.withUnsafeBufferPointer { decode(value, $0) } }

    /// Returns the encoded component of light.
    static func encode(_ light: Float) -> Float { encodedRoots.withUnsafeBufferPointer { encode(light, $0) } }

    private static func decode(_ value: Float, _ table: UnsafeBufferPointer<Float>) -> Float {
        let magnitude = abs(value)
        guard magnitude < 1 else { return value.isNaN ? 0 : Float(copysign(decoded(Double(magnitude)), Double(value))) }
        return copysign(interpolated(magnitude * Float(steps), table), value)
    }

    private static func encode(_ value: Float, _ table: UnsafeBufferPointer<Float>) -> Float {
        let magnitude = abs(value)
        guard magnitude < 1 else { return value.isNaN ? 0 : Float(copysign(encoded(Double(magnitude)), Double(value))) }
        return copysign(interpolated(magnitude.squareRoot() * Float(steps), table), value)
    }

    @inline(__always)
    private static func interpolated(_ position: Float, _ table: UnsafeBufferPointer<Float>) -> Float {
        let index = Int(position)
        return table[index] + (table[index + 1] - table[index]) * (position - Float(index))
    }

    /// Converts premultiplied pixels to premultiplied light.
    static func decode(_ row: UnsafeMutableBufferPointer<SIMD4<Float>>) {
        light.withUnsafeBufferPointer { table in convert(row) { decode($0, table) } }
    }

    /// Converts premultiplied light to premultiplied pixels.
    static func encode(_ row: UnsafeMutableBufferPointer<SIMD4<Float>>) {
        encodedRoots.withUnsafeBufferPointer { table in convert(row) { encode($0, table) } }
    }

    @inline(__always)
    private static func convert(_ row: UnsafeMutableBufferPointer<SIMD4<Float>>, _ curve: (Float) -> Float) {
        for x in row.indices {
            let pixel = row[x].straight
            row[x] = SIMD4(curve(pixel.x), curve(pixel.y), curve(pixel.z), pixel.w).premultiplied
        }
    }

    // MARK: Buffers

    /// Returns a part of pixels at another size, resampled in linear light.
    ///
    /// Light has 16 bits, or half precision for half-precision pixels.
    static func resized(
        _ pixels: PixelBuffer, to size: PixelSize, part: ResampledPart, _ context: ProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let format: PixelFormat = pixels.format == .rgbaFloat16 ? .rgbaFloat16 : .rgba16
        var resampler = try DeepRowResampler(
            from: pixels.size, to: size, part: part, format: format, pool: context.pool)
        let scratch = try context.scratch(floats: pixels.width * 6)
        let floats = scratch.base.bindMemory(to: Float.self, capacity: pixels.width * 6)
        let row = ComponentRow.pixels(floats, pixels.width)
        let packed = UnsafeMutableRawPointer(floats + pixels.width * 4)
        for y in 0..<pixels.height {
            try context.checkCancellation(row: y)
            pixels.unpackRow(y, to: floats)
            decode(row)
            ComponentRow.pack(floats, to: packed, pixels: pixels.width, format: format)
            resampler.push(packed)
        }
        let light = resampler.finish()
        let target = try context.buffer(light.size, format: pixels.format)
        let narrow = try context.scratch(floats: light.width * 4)
        let targetFloats = narrow.base.bindMemory(to: Float.self, capacity: light.width * 4)
        let targetRow = ComponentRow.pixels(targetFloats, light.width)
        for y in 0..<light.height {
            light.unpackRow(y, to: targetFloats)
            encode(targetRow)
            ComponentRow.pack(targetFloats, to: target.row(y), pixels: light.width, format: pixels.format)
        }
        return target.freeze()
    }
}
