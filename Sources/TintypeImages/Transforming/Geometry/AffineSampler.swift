/// Samples rotated pixels with a cubic filter (Catmull and Rom, "A class of local interpolating splines", 1974).
///
/// Outside of the source everything is transparent, so the edges of the result are smooth.
struct AffineSampler {
    private let source: PixelBuffer
    private let size: PixelSize
    private let sine: Double
    private let cosine: Double

    init(_ source: PixelBuffer, size: PixelSize, sine: Double, cosine: Double) {
        self.source = source
        self.size = size
        self.sine = sine
        self.cosine = cosine
    }

    /// Returns the rotated pixels over a background.
    ///
    /// - Complexity: O(pixels of the result), with 16 samples each; memory for a row.
    func pixels(background: PixelColor, _ context: ProcessingContext) throws(ImageError) -> PixelBuffer {
        let format = source.format
        let target = try context.buffer(size, format: format)
        let scratch = try context.scratch(floats: size.width * 4)
        let row = scratch.base.bindMemory(to: SIMD4<Float>.self, capacity: size.width)
        let floats = scratch.base.assumingMemoryBound(to: Float.self)
        let color = background.premultiplied(for: format)
        for y in 0..<size.height {
            try context.checkCancellation(row: y)
            fill(row, y: y, over: color)
            ComponentRow.pack(floats, to: target.row(y), pixels: size.width, format: format)
        }
        return target.freeze()
    }

    private func fill(_ row: UnsafeMutablePointer<SIMD4<Float>>, y: Int, over color: SIMD4<Float>) {
        let down = Double(y) + 0.5 - Double(size.height) / 2
        source.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for x in 0..<size.width {
                let across = Double(x) + 0.5 - Double(size.width) / 2
                let sourceX = across * cosine + down * sine + Double(source.width) / 2 - 0.5
                let sourceY = down * cosine - across * sine + Double(source.height) / 2 - 0.5
                let sample = sample(base, sourceX, sourceY)
                row[x] = sample + color * (1 - sample.w)
            }
        }
    }

    private func sample(_ base: UnsafeRawPointer, _ x: Double, _ y: Double) -> SIMD4<Float> {
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (column, line) = (Int(left) - 1, Int(top) - 1)
        guard column > -4, line > -4, column < source.width, line < source.height else { return .zero }
        let horizontal = Self.weights(Float(x - left))
        let vertical = Self.weights(Float(y - top))
        var sum = SIMD4<Float>.zero
        for dy in max(0, -line)..<max(max(0, -line), min(4, source.height - line)) {
            let row = base + (line + dy) * source.bytesPerRow
            var part = SIMD4<Float>.zero
            for dx in max(0, -column)..<max(max(0, -column), min(4, source.width - column)) {
                part += pixel(row, column + dx) * horizontal[dx]
            }
            sum += part * vertical[dy]
        }
        // The filter overshoots at edges.
        sum.w = min(max(sum.w, 0), 1)
        return source.format == .rgbaFloat16
            ? sum : sum.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: sum.w))
    }

    @inline(__always)
    private func pixel(_ row: UnsafeRawPointer, _ x: Int) -> SIMD4<Float> {
        switch source.format {
        case .rgba8:
            return SIMD4<Float>(row.loadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self)) * (1 / 255)
        case .rgba16:
            return SIMD4<Float>(row.loadUnaligned(fromByteOffset: x * 8, as: SIMD4<UInt16>.self)) * (1 / 65_535)
        case .rgbaFloat16:
            return source.halfPixel(row + x * 8)
        }
    }

    /// Returns the weights of the four samples around a point that lies `t` after the second sample.
    private static func weights(_ t: Float) -> SIMD4<Float> {
        let (t2, t3) = (t * t, t * t * t)
        return SIMD4(
            -0.5 * t3 + t2 - 0.5 * t, 1.5 * t3 - 2.5 * t2 + 1, -1.5 * t3 + 2 * t2 + 0.5 * t, 0.5 * t3 - 0.5 * t2)
    }
}

extension PixelBuffer {
    fileprivate func halfPixel(_ address: UnsafeRawPointer) -> SIMD4<Float> {
        var pixel = SIMD4<Float>.zero
        withUnsafeMutableBytes(of: &pixel) { target in
            guard let target = target.baseAddress else { return }
            HalfFloat.unpack(address, to: target.assumingMemoryBound(to: Float.self), count: 4)
        }
        return pixel
    }
}
