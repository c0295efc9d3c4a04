extension PixelBuffer {
    /// Returns the pixels in another format; the buffer itself if it already has that format.
    ///
    /// Components are rounded to the nearest: 16 bits to 8 with `round(v × 255 / 65535)`, and 8 bits to 16 with `v × 257`, so a
    /// conversion from 8 bits and back changes nothing. Floating-point components are limited to 0 to 1, and color to alpha. So
    /// an image of high dynamic range loses its highlights; encoders tone-map it instead.
    /// - Parameters:
    ///   - target: the new format.
    ///   - pool: the memory for the pixels.
    /// - Returns: the converted pixels.
    /// - Throws: ``ImageError/Code/outOfMemory`` and ``ImageError/Code/cancelled``.
    public func converted(
        to target: PixelFormat, pool: PixelBufferPool = .shared
    ) throws(ImageError) -> PixelBuffer {
        guard target != format else { return self }
        let result = try MutablePixelBuffer(size: size, format: target, cleared: false, pool: pool)
        for y in 0..<height {
            withRow(y) { row in
                guard let source = row.baseAddress else { return }
                convertRow(source, to: result.row(y), target)
            }
        }
        return result.freeze()
    }

    /// Returns the four premultiplied components of a pixel of any format. 1 is the maximum of the integer formats.
    ///
    /// They are exact quotients, rounded, as in colors of hexadecimal strings. Kernels multiply the components of rows by the inverse of the
    /// maximum, so these may differ in the last bit.
    /// - Parameters:
    ///   - x: the column, counted from 0 on the left.
    ///   - y: the row, counted from 0 at the top.
    package func component(x: Int, y: Int) -> SIMD4<Float> {
        precondition(x >= 0 && x < width, "column \(x) of \(width)")
        return withRow(y) { row in
            let offset = x * format.bytesPerPixel
            switch format {
            case .rgba8: return SIMD4<Float>(row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)) / 255
            case .rgba16:
                return SIMD4<Float>(row.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt16>.self)) / 65_535
            case .rgbaFloat16:
                var pixel = SIMD4<Float>.zero
                withUnsafeMutableBytes(of: &pixel) { pixel in
                    guard let base = row.baseAddress, let target = pixel.baseAddress else { return }
                    HalfFloat.unpack(base + offset, to: target.assumingMemoryBound(to: Float.self), count: 4)
                }
                return pixel
            }
        }
    }

    private func convertRow(_ source: UnsafeRawPointer, to row: UnsafeMutableRawPointer, _ target: PixelFormat) {
        let count = width * 4
        let bytes = source.assumingMemoryBound(to: UInt8.self)
        let words = source.assumingMemoryBound(to: UInt16.self)
        switch (format, target) {
        case (.rgba8, .rgba16):
            let result = row.assumingMemoryBound(to: UInt16.self)
            for index in 0..<count { result[index] = UInt16(bytes[index]) &* 257 }
        case (.rgba16, .rgba8):
            let result = row.assumingMemoryBound(to: UInt8.self)
            // round(v × 255 / 65535) equals round(v / 257).
            for index in 0..<count {
                result[index] = UInt8(truncatingIfNeeded: (UInt32(words[index]) &+ 128) / 257)
            }
        case (.rgba8, .rgbaFloat16):
            withFloats { floats in
                for index in 0..<count { floats[index] = Float(bytes[index]) / 255 }
                HalfFloat.pack(floats, to: row, pixels: width)
            }
        case (.rgba16, .rgbaFloat16):
            withFloats { floats in
                for index in 0..<count { floats[index] = Float(words[index]) / 65_535 }
                HalfFloat.pack(floats, to: row, pixels: width)
            }
        case (.rgbaFloat16, .rgba8):
            withFloats { floats in
                HalfFloat.unpack(source, to: floats, count: count)
                let result = row.assumingMemoryBound(to: UInt8.self)
                for x in 0..<width {
                    let pixel = Self.limited(floats, x) * 255 + 0.5
                    for component in 0..<4 { result[x * 4 + component] = UInt8(pixel[component]) }
                }
            }
        case (.rgbaFloat16, .rgba16):
            withFloats { floats in
                HalfFloat.unpack(source, to: floats, count: count)
                let result = row.assumingMemoryBound(to: UInt16.self)
                for x in 0..<width {
                    let pixel = Self.limited(floats, x) * 65_535 + 0.5
                    for component in 0..<4 { result[x * 4 + component] = UInt16(pixel[component]) }
                }
            }
        default: row.copyMemory(from: source, byteCount: width * format.bytesPerPixel)
        }
    }

    private func withFloats(_ body: (UnsafeMutablePointer<Float>) -> Void) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width * 4) { floats in
            if let base = floats.baseAddress { body(base) }
        }
    }

    /// Returns a pixel with alpha limited to 0 to 1, and color limited to 0 to alpha; NaN becomes 0.
    private static func limited(_ floats: UnsafePointer<Float>, _ x: Int) -> SIMD4<Float> {
        let pixel = SIMD4<Float>(floats[x * 4], floats[x * 4 + 1], floats[x * 4 + 2], floats[x * 4 + 3])
        let numbers = pixel.replacing(with: 0, where: pixel .!= pixel)
        let alpha = min(max(numbers.w, 0), 1)
        return numbers.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: alpha))
    }
}
