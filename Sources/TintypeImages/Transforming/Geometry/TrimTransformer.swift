/// Removes borders of a uniform color.
struct TrimTransformer: ImageTransformer {
    var tolerance: Double

    var key: String { TransformKey("trim").with("tolerance", tolerance).description }

    func transform(_ image: Image) throws -> Image {
        try ParameterCheck("trim").check("tolerance", tolerance, in: 0...1)
        let context = ProcessingContext.current
        let pixels = image.pixels
        let (width, height) = (pixels.width, pixels.height)
        let limit = Float(tolerance)
        let scratch = try context.scratch(floats: width * 4)
        let row = scratch.base.bindMemory(to: SIMD4<Float>.self, capacity: width)
        let floats = scratch.base.assumingMemoryBound(to: Float.self)
        // Unpacked like all rows, because another conversion differs in the last bit.
        pixels.unpackRow(0, to: floats)
        let border = row[0]
        var (left, right) = (width, -1)
        var (top, bottom) = (height, -1)
        func differs(_ x: Int) -> Bool {
            let difference = row[x] - border
            return (difference * difference).max() > limit * limit
        }
        for y in 0..<height {
            try context.checkCancellation(row: y)
            pixels.unpackRow(y, to: floats)
            guard let first = (0..<width).first(where: differs), let last = (0..<width).last(where: differs) else {
                continue
            }
            (left, right) = (min(left, first), max(right, last))
            (top, bottom) = (min(top, y), y)
        }
        guard right >= left else { return image }
        let part = PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
        return image.replacing(try pixels.cropped(to: part, context))
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that removes the rows and columns at the edges that have the color of the upper left pixel.
    ///
    /// An image with a uniform color remains unchanged. Don't apply it to the frames of animations, because their sizes would differ.
    /// - Parameter tolerance: the largest difference of a premultiplied component, from 0 to 1, that counts as the same color.
    public static func trim(tolerance: Double = 0.04) -> ImageTransformers {
        ImageTransformers([TrimTransformer(tolerance: tolerance)])
    }
}

extension ImageTransformer {
    /// Returns a sequence that then removes the rows and columns at the edges that have the color of the upper left pixel.
    /// - Parameter tolerance: the largest difference of a component, from 0 to 1, that counts as the same color.
    public func trim(tolerance: Double = 0.04) -> ImageTransformers { then(.trim(tolerance: tolerance)) }
}
