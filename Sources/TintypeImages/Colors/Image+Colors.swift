extension Image {
    /// Returns the color of a pixel, without premultiplication; `nil` outside of the image.
    ///
    /// Pixels of every format are supported. Components of ``PixelFormat/rgbaFloat16`` can be brighter than 1.
    /// - Parameters:
    ///   - x: the column, from the left.
    ///   - y: the row, from the top.
    public func color(x: Int, y: Int) -> PixelColor? {
        guard x >= 0, x < size.width, y >= 0, y < size.height else { return nil }
        return PixelColor(premultiplied: pixels.component(x: x, y: y))
    }

    /// Returns the colors of a part, row by row; `nil` unless the part is inside the image.
    /// - Parameter rect: the part.
    public func colors(in rect: PixelRect) -> [PixelColor]? {
        guard rect.clipped(to: size) == rect else { return nil }
        var colors: [PixelColor] = []
        colors.reserveCapacity(rect.size.pixelCount)
        for y in rect.y..<rect.y + rect.height {
            for x in rect.x..<rect.x + rect.width {
                colors.append(PixelColor(premultiplied: pixels.component(x: x, y: y)))
            }
        }
        return colors
    }

    /// Returns the average color of the image, or of its first frame.
    ///
    /// Averages encoded components, weighted by opacity, as a single-pixel thumbnail does.
    /// - Complexity: O(pixels)
    /// - Throws: ``ImageError/Code/outOfMemory``, and ``ImageError/Code/cancelled``.
    public func averageColor() throws(ImageError) -> PixelColor {
        let context = ProcessingContext.current
        let scratch = try context.scratch(floats: size.width * 4)
        let row = scratch.base.bindMemory(to: SIMD4<Float>.self, capacity: size.width)
        let floats = scratch.base.assumingMemoryBound(to: Float.self)
        var sum = SIMD4<Double>.zero
        for y in 0..<size.height {
            try context.checkCancellation(row: y)
            pixels.unpackRow(y, to: floats)
            // A row is summed in single precision, the rows in double precision.
            var rowSum = SIMD4<Float>.zero
            for x in 0..<size.width { rowSum += row[x] }
            sum += SIMD4<Double>(rowSum)
        }
        return PixelColor(premultiplied: SIMD4<Float>(sum / Double(size.pixelCount)))
    }
}

extension PixelColor {
    /// Creates a color from premultiplied components.
    init(premultiplied pixel: SIMD4<Float>) {
        let straight = pixel.straight
        self.init(red: straight.x, green: straight.y, blue: straight.z, alpha: straight.w)
    }
}
